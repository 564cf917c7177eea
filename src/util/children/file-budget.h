// SPDX-License-Identifier: GPL-3.0-or-later

/* A limit on the work that files of untrusted owners may cause, for all such files of one
 * recording or report together.
 *
 * Any user can run programs with debug files that take long to read, and can run as many as
 * they like, so a limit per file does not bound the total. Files of root and of the user who
 * runs this program are trusted, and neither limited nor counted.
 *
 * A zeroed budget is unused. *Guarded*: all members are atomics, several threads may charge one
 * budget. Plain C. */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* A recording of a desktop needs less than a second and less than 1 GiB for the files of its
 * users. */
#define FILE_BUDGET_MSEC 20000
#define FILE_BUDGET_BYTES \
  (UINT64_C (64) << 30) /* twice a debug build of a web browser, for symbols and for lines */

typedef struct
{
  int64_t used_usec;
  uint64_t used_bytes;
} FileBudget;

/* Whether the file belongs to root or to the user who runs this program. */
bool sysprof_file_is_trusted (const struct stat *info);

/* Whether a file of this size may still be read. If so, its size is charged. */
bool sysprof_file_budget_admit (FileBudget *self, const struct stat *info);
/* Remaining time; 0 = none. */
int64_t sysprof_file_budget_left_msec (const FileBudget *self);
void sysprof_file_budget_charge (FileBudget *self, int64_t usec);
