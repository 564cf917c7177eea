// SPDX-License-Identifier: GPL-3.0-or-later

/* A file to be written that nobody shall miss afterwards: what was there stays until what is new is
 * worth more, and what cannot be used is not left behind.
 *
 *   open     finds out whether it can be written; nothing old is touched
 *   commit   from now on the new content is kept: takes the place of an old file
 *   close    the last bytes; errors of a compressor appear here
 *   clear    what was never committed disappears
 *
 * Devices, pipes and FIFOs are written as they are. *Owned* by the main thread. */

#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct Compressor Compressor;

typedef struct
{
  char *path;      /* as given; NULL for standard output */
  char *temporary; /* what is written until it is committed; NULL: `path` itself */
  int fd;          /* write here; -1 once it was taken */
  int file_fd;     /* a regular file's, which is locked against other recorders; -1: none */
  int old_fd;      /* likewise of the file that it will replace */
  bool is_created; /* by us; removed again unless it is committed */
  Compressor *compressor;
} Output;

#define OUTPUT_INIT                       \
  {                                       \
    .fd = -1, .file_fd = -1, .old_fd = -1 \
  }

typedef enum
{
  OUTPUT_AT_ONCE,   /* the file has its name from the beginning, if nothing is in its place */
  OUTPUT_WHEN_DONE, /* it gets its name when it is committed */
} OutputWhen;

/* A file that another recorder writes is refused, also with `force`. `path` "-" is standard output; from then on descriptor 1 is standard error, so that nothing else
 * reaches it. A regular file that exists is refused without `force`; a terminal always. A name that
 * ends in .syscap.gz, .zst, .xz or .bz2 is compressed. */
bool sysprof_cli_output_open (Output *self,
                              const char *path,
                              bool force,
                              OutputWhen when,
                              GError **error);
/* Whether a capture may be written there: not to a terminal, nor behind what a file holds already. */
bool sysprof_cli_check_standard_output (GError **error);
bool sysprof_cli_output_commit (Output *self, GError **error);
/* Once all is written; who took `fd` need not have closed it. FALSE also where the file was removed, replaced, renamed or
 * truncated meanwhile. */
bool sysprof_cli_output_close (Output *self, GError **error);
/* Whether what is written has no name any more, and will be lost. */
bool sysprof_cli_output_is_removed (const Output *self);
void sysprof_cli_output_clear (Output *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Output, sysprof_cli_output_clear)
