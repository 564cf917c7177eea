// SPDX-License-Identifier: GPL-3.0-or-later

/* The files that contain executed code, each with its unwind table. A worker process without
 * privileges builds each table once, and all processes that map the file share it. *Owned* by
 * the unwinder's thread. */

#pragma once

#include "access/access.h"
#include "unwind/unwind.h"
#include "unwinder/mapping-events.h"
#include "util/pinned-files.h"

#include <glib.h>

#define VDSO_PATH "[vdso]"

typedef struct CodeFiles CodeFiles;
typedef struct CodeFile CodeFile;

typedef struct
{
  uint32_t n_tables;     /* built */
  uint32_t n_without;    /* files without a table */
  uint32_t n_failed;     /* of these, files that might have had a table */
  uint32_t n_waiting;    /* files whose table is being built */
  uint64_t text_size;    /* bytes, of files with a table */
  int64_t building_nsec; /* time of the workers */
  /* One line for each file with functions whose unwind rules contradict their code: the number
   * of such functions, the number of all functions, and the path, in which control characters
   * and backslashes are \OOO. Owned by CodeFiles. */
  const char *contradictions;
} CodeFilesStatus;

/* All arguments are borrowed. `publisher` publishes tables, `privilege` opens files, and the
 * event queue `mapping_events`, which may be NULL, receives the build IDs. `wake_fd`, an
 * eventfd, is written when sysprof_code_files_collect() has work. Returns NULL with `error` if
 * no thread can be started. */
CodeFiles *sysprof_code_files_new (UnwindPublisher *publisher,
                                   Privilege *privilege,
                                   MappingEvents *mapping_events,
                                   int wake_fd,
                                   GError **error);
/* From now on keeps at most `most` files open, so that they can be read when the recording
 * ends. */
void sysprof_code_files_keep (CodeFiles *self, unsigned most);
/* The files that were kept open; *(full)*. No more are kept afterwards. NULL: none were
 * requested. */
PinnedFiles *sysprof_code_files_steal_kept (CodeFiles *self);

/* No file may have references any more. */
void sysprof_code_files_free (CodeFiles *self);

/* The file behind a mapping *(full)*; NULL if there is no file. If the file is new, its table
 * is queued for building; `soon` gives it precedence. `inode_generation` 0 = unknown; `now` in
 * microseconds of the monotonic clock. */
CodeFile *sysprof_code_files_get (CodeFiles *self,
                                  const LiveMapping *mapping,
                                  uint64_t inode_generation,
                                  bool soon,
                                  int64_t now);
/* Whether the table of a file that the walker met is being built. */
bool sysprof_code_files_is_building (CodeFiles *self, const UnwindFileKey *file);
CodeFile *sysprof_code_file_ref (CodeFile *file);
void sysprof_code_file_unref (CodeFile *file);

/* Publishes the tables that are complete. TRUE: there were some, and the processes that map
 * these files must be published again. */
bool sysprof_code_files_collect (CodeFiles *self);

/* Completes a mapping whose `start` and `end` are set. It maps `file` (NULL: none) from
 * `offset` on. */
void
sysprof_code_file_describe (CodeFile *file, uint64_t offset, UnwindProcessMapping *mapping);

CodeFilesStatus sysprof_code_files_get_status (const CodeFiles *self);
