// SPDX-License-Identifier: GPL-3.0-or-later

/* The destination of a report: standard output, a pager, or a file that appears complete or
 * not at all. *Owned.* */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>

typedef struct
{
  GOutputStream *stream; /* to write to */
  char *path;            /* of the file; NULL = none */
  char *unfinished;      /* name of the temporary file until it is complete; NULL = none */
  bool use_pager;
  unsigned screen_rows;
} Destination;

/* `path` NULL: standard output. A regular or new file is replaced when the destination is
 * finished. A device, pipe or FIFO is written directly. */
bool sysprof_destination_open (Destination *self, const char *path, GError **error);
/* Sends text through the pager if it is longer than the screen. Call after
 * sysprof_destination_open(). */
void sysprof_destination_use_pager (Destination *self, unsigned screen_rows);
/* Makes the file visible. */
bool sysprof_destination_finish (Destination *self, GError **error);
/* Removes a temporary file. Harmless after sysprof_destination_finish(). */
void sysprof_destination_clear (Destination *self);

/* Whether the reader of a pipe closed it, which is not a failure. */
bool sysprof_report_reader_is_gone (const GError *error);
