// SPDX-License-Identifier: GPL-3.0-or-later

/* Where a report goes: standard output, a pager, or a file that appears whole or not at all. *Owned.* */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>

typedef struct
{
  GOutputStream *stream; /* write here */
  char *path;            /* of the file, or NULL */
  char *unfinished;      /* its name until it is whole, or NULL */
  bool use_pager;
  unsigned screen_rows;
} Output;

/* `path` NULL: standard output. A regular file, or a name that is free, is replaced when the output is finished;
 * a device, pipe or FIFO is written as it is. */
bool sysprof_output_open (Output *self, const char *path, GError **error);
/* Text for a terminal: if it is longer than the screen, through the pager. Call behind sysprof_output_open(). */
void sysprof_output_use_pager (Output *self, unsigned screen_rows);
/* Makes what was written visible. */
bool sysprof_output_finish (Output *self, GError **error);
/* Removes what is unfinished. Harmless after sysprof_output_finish(). */
void sysprof_output_clear (Output *self);

/* Whether `error` says that the reader of a pipe went away, which is its right. */
bool sysprof_output_reader_is_gone (const GError *error);
