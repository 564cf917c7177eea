// SPDX-License-Identifier: GPL-3.0-or-later

/* The state of processes.h, shared by processes.c, which keeps it, and publish-processes.c. */

#pragma once

#include "unwinder/processes.h"

#include <stdbool.h>

#define LINGER_USEC (1 * G_TIME_SPAN_SECOND) /* until an exited process is forgotten */

#define N_FORMER 4 /* per process: a shell executes ccache, which executes a compiler */

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t offset; /* in the file, of `start` */
  CodeFile *file;  /* NULL = none */
} CodeMapping;

/* A program that the process executed before its current one. */
typedef struct
{
  GArray *mappings; /* NULL = unknown */
  int64_t executed_nsec;
} Former;

typedef struct
{
  int32_t pid;
  int32_t parent_pid;
  GArray *mappings;        /* of CodeMapping: ascending, without overlap */
  Former former[N_FORMER]; /* the most recent one first */
  bool is_changed;         /* since it was published, or it found no room */
  bool is_waiting;         /* for a table */
  bool is_inherited;       /* not published: the walker uses the parent's mappings */
  unsigned n_tables_came;  /* value of CodeProcesses.n_tables_came when it was published */
  int64_t retry_usec;      /* earliest time to publish; 0 = at once */
  /* When an inherited list is published, or an exited process is forgotten; 0 = none. */
  int64_t deadline_usec;
  bool has_ended;
  int64_t executed_nsec; /* when its program was executed; 0 = before the start */
  int64_t recalled_nsec; /* events until then have been applied from the history */
} CodeProcess;

struct CodeProcesses
{
  UnwindPublisher *publisher;
  CodeFiles *files;
  Privilege *privilege;
  bool on_demand; /* publish a process only when a sample needs it */
  unsigned n_tables_came;
  int64_t known_since_nsec; /* nothing before it is known; 0 = no limit */
  MappingEvents
      *mapping_events;    /* with on_demand: the events of processes that are not in by_pid */
  GHashTable *by_pid;     /* pid → CodeProcess */
  GHashTable *unheard_of; /* pids found nowhere since the last publishing */
  GPtrArray *changed;     /* of CodeProcess: to be published */
  GQueue inheriting;      /* of Deadline, sorted by time */
  GQueue lingering;       /* the same */
  GHashTable *only;       /* pids; NULL = all */
  bool wants_all_files;   /* look also at files that processes not in `only` execute */
  GArray *scratch;        /* of UnwindProcessMapping */

  /* The program that is published as FORMER_PROGRAM. */
  const GArray *former; /* NULL = none; only compared, never dereferenced */
  int32_t former_pid;
  int64_t former_executed_nsec;
  unsigned former_n_tables_came;
  bool is_former_waiting;
};

typedef struct
{
  int32_t pid;
  int64_t at_usec;
} Deadline;

static inline CodeProcess *
sysprof_code_processes_find (const CodeProcesses *self, int32_t pid)
{
  return g_hash_table_lookup (self->by_pid, GINT_TO_POINTER (pid));
}

static inline void
sysprof_code_processes_set_changed (CodeProcesses *self, CodeProcess *process)
{
  if (!process->is_changed && !self->on_demand)
    g_ptr_array_add (self->changed, process);
  process->is_changed = true;
}

/* Sets the time at which a process in `queue` is due. All deadlines of a queue have the same
 * length, so it stays sorted. */
void sysprof_code_processes_set_deadline (GQueue *queue, CodeProcess *process, int64_t in_usec);

/* Drops the process, also from the wanted ones. `now` in microseconds. */
void sysprof_code_processes_forget_one (CodeProcesses *self, CodeProcess *process, int64_t now);

/* Finds a process from its recent events and from its parent's mappings or /proc. `n_ancestors`
 * is 0 except in recursive calls. NULL: unknown. */
CodeProcess *
sysprof_code_processes_recall (CodeProcesses *self, int32_t pid, unsigned n_ancestors);
