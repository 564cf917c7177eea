// SPDX-License-Identifier: GPL-3.0-or-later

/* The files whose code runs, each with its unwind table: built once by a worker without rights, shared by all processes.
 * *Owned* by the unwinder's thread. */

#pragma once

#include "record/live-files.h"
#include "record/unwinder/told.h"
#include "unwind/unwind.h"
#include "util/kept-files.h"

#include <glib.h>

#define VDSO_PATH "[vdso]"

typedef struct CodeFiles CodeFiles;
typedef struct CodeFile CodeFile;

typedef struct
{
  uint32_t n_tables;     /* built */
  uint32_t n_without;    /* files of which there is none */
  uint32_t n_failed;     /* of these, those that might have had one */
  uint32_t n_waiting;    /* for their table */
  uint64_t text_size;    /* bytes, of those with a table */
  int64_t building_nsec; /* time of the workers */
  /* A line for each file with functions whose rules are not what their code does: how many, of how many, path, in
   * which control characters and backslashes are \OOO. The files'. */
  const char *contradictions;
} CodeFilesStatus;

/* Publishes with `publisher`, opens files with `privilege`; tells `told`, which may be NULL, of them; all borrowed. `wake_fd`, an eventfd, is written when
 * sysprof_code_files_collect() has something to do. NULL with `error` where no thread can be started. */
CodeFiles *sysprof_code_files_new (UnwindPublisher *publisher,
                                   Privilege *privilege,
                                   Told *told,
                                   int wake_fd,
                                   GError **error);
/* From now on files are kept open, as many as there is room for, for who reads them when the recording ends. */
void sysprof_code_files_keep (CodeFiles *self, unsigned most);
/* Those that were kept, and no more are; the caller's. NULL: none were to be. */
KeptFiles *sysprof_code_files_steal_kept (CodeFiles *self);

/* No file may be in use any more. */
void sysprof_code_files_free (CodeFiles *self);

/* The file behind a mapping; its table is built, if nobody asked for it before, `soon` before those that wait. NULL where there
 * is no file. `inode_generation` 0 = not known; `now` in microseconds of the monotonic clock. */
CodeFile *sysprof_code_files_get (CodeFiles *self,
                                  const LiveMapping *mapping,
                                  uint64_t inode_generation,
                                  bool soon,
                                  int64_t now);
/* Whether the table of the file that the walker met is being built. */
bool sysprof_code_files_is_building (CodeFiles *self, const UnwindFileKey *file);
CodeFile *sysprof_code_file_ref (CodeFile *file);
void sysprof_code_file_unref (CodeFile *file);

/* Publishes the tables that are done. TRUE: there were some, and whoever maps the files is to be published again. */
bool sysprof_code_files_collect (CodeFiles *self);

/* Fills in the mapping whose bounds are set: of `file` (NULL: none) from `offset` on. */
void
sysprof_code_file_describe (CodeFile *file, uint64_t offset, UnwindProcessMapping *mapping);

CodeFilesStatus sysprof_code_files_get_status (const CodeFiles *self);
