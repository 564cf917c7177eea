// SPDX-License-Identifier: GPL-3.0-or-later

/* Threads that build unwind tables. Each of them waits for a worker process without privileges,
 * which parses the file. *Guarded* by its queues; the functions belong to the unwinder's
 * thread. */

#pragma once

#include "unwinder/files.h"

#include <sys/stat.h>

typedef struct TableBuilders TableBuilders;

/* *Owned* by the unwinder's thread, then by a builder, then by the unwinder's thread again. */
typedef struct
{
  CodeFile *file;             /* the builder must not look into it; NULL = end the builder */
  int envelope;               /* contains the file's descriptor, see util/children/opener.h */
  int debug_envelope;         /* contains the debug file's descriptor; -1 = none */
  bool has_sought_debug_file; /* the search may have found none */
  struct stat info;
  bool is_again; /* retried after its first worker died */
  ElfStatus status;
  UnwindTable table;
  int64_t nsec;
} TableJob;

/* `wake_fd`, an eventfd, is written when a job is done. Returns NULL with `error` if no thread
 * can be started. */
TableBuilders *sysprof_table_builders_new (int wake_fd, GError **error);
/* Ends the threads. `drop` is called for each job that has not been collected. */
void sysprof_table_builders_free (TableBuilders *self, void (*drop) (TableJob *job));

/* Queues a copy of the job, which then owns its envelopes; `soon` gives it precedence. */
void sysprof_table_builders_queue (TableBuilders *self, const TableJob *job, bool soon);
/* A job that is done; free it with g_free(). NULL: there is none. */
TableJob *sysprof_table_builders_collect (TableBuilders *self);
