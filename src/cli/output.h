// SPDX-License-Identifier: GPL-3.0-or-later

/* The output file of a recording. An old file stays until the new one is worth more, and an
 * unusable file is removed.
 *
 *   open     checks that the file can be written; does not touch an old file
 *   commit   keeps the new content from now on; it replaces an old file
 *   close    writes the last bytes; errors of a compressor appear here
 *   clear    removes what was never committed
 *
 * Devices, pipes and FIFOs are written directly. *Owned* by the main thread. */

#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct Compressor Compressor;

typedef struct
{
  char *path;      /* as given; NULL for standard output */
  char *temporary; /* temporary name until the commit; NULL: `path` itself */
  int fd;          /* descriptor for writing; -1 once it was taken */
  int file_fd;     /* the regular file, locked against other recorders; -1: none */
  int old_fd;      /* same for the file that it will replace */
  bool keeps_old;  /* the commit renames the file that it would replace */
  bool is_created; /* by this program; removed unless it is committed */
  Compressor *compressor;
} OutputFile;

#define OUTPUT_INIT                       \
  {                                       \
    .fd = -1, .file_fd = -1, .old_fd = -1 \
  }

typedef enum
{
  OUTPUT_AT_ONCE,   /* the file has its name from the beginning, because no file existed */
  OUTPUT_WHEN_DONE, /* the file gets its name at the commit */
} OutputWhen;

typedef enum
{
  OUTPUT_REFUSE_OLD,
  OUTPUT_REPLACE_OLD,
  OUTPUT_RENAME_OLD, /* it gets the suffix .old at the commit, which replaces an older one */
} OutputOldFile;

/* Refuses a file that another recorder is writing, whatever `old` is, and always a terminal.
 * `old` is about an existing regular file. `path` "-" is standard output; descriptor 1 then
 * becomes standard error, so that nothing else reaches the capture. A name that ends in
 * .syscap.gz, .zst, .xz or .bz2 is compressed. */
bool sysprof_cli_output_open (OutputFile *self,
                              const char *path,
                              OutputOldFile old,
                              OutputWhen when,
                              GError **error);
/* Returns whether a capture may be written to `fd`: not to a terminal, and not after
 * existing content. */
bool sysprof_cli_check_standard_output (GError **error);
bool sysprof_cli_output_commit (OutputFile *self, GError **error);
/* Call after the last write; the taken `fd` may still be open. Returns FALSE also if the file
 * was removed, replaced, renamed or truncated meanwhile. */
bool sysprof_cli_output_close (OutputFile *self, GError **error);
/* Returns whether the file has no name any more, so that its content will be lost. */
bool sysprof_cli_output_is_removed (const OutputFile *self);
void sysprof_cli_output_clear (OutputFile *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (OutputFile, sysprof_cli_output_clear)

/* Makes writes to a closed pipe, or beyond a file size limit, fail with an error instead of a
 * signal. For the whole process. */
void sysprof_cli_fail_refused_writes (void);
