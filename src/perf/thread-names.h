// SPDX-License-Identifier: GPL-3.0-or-later

/* Names of threads, and when they changed: the embedded file `__threads__` of docs/format.md.
 *
 * Kernel events report new threads, which inherit the name of the thread that created them, and
 * changed names. Names from before the recording come from /proc. Only names that differ from
 * the name of the thread's process are kept: readers use the process's name for all other
 * threads.
 *
 * Events arrive from the rings of several CPUs, so they are out of order. They stay pending
 * until sysprof_thread_names_settle() is called with a time before which no more can arrive.
 * *Owned* by the pump thread. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_NAMES_MOST 262144 /* lines of the file; later ones are only counted */

/* All zero = empty. */
typedef struct
{
  GHashTable *threads; /* tid → NamedThread; NULL until the first */
  GStringChunk *names; /* equal names are the same pointer */
  GArray *pending;     /* [PendingEvent] */
  GArray *lines;       /* [NameLine] */
  uint64_t n_missed;
} ThreadNames;

/* A thread is `tid` in process `pid`; in the main thread both are equal. Names are [size]
 * bytes, or end at an earlier NUL. Times are ns. */
typedef struct
{
  int32_t pid;
  int32_t tid;
} ThreadId;

void sysprof_thread_names_clear (ThreadNames *self);

/* A name that was read from /proc; `time` is the start of the recording. */
void sysprof_thread_names_add_running (ThreadNames *self,
                                       int64_t time,
                                       ThreadId thread,
                                       const char *name,
                                       size_t size);
/* `is_exec`: because the process has executed another program. */
void sysprof_thread_names_add_renamed (ThreadNames *self,
                                       int64_t time,
                                       ThreadId thread,
                                       const char *name,
                                       size_t size,
                                       bool is_exec);
void sysprof_thread_names_add_forked (ThreadNames *self,
                                      int64_t time,
                                      ThreadId thread,
                                      ThreadId parent);
void sysprof_thread_names_add_ended (ThreadNames *self, int64_t time, ThreadId thread);

/* All events from before `until` have been added. */
void sysprof_thread_names_settle (ThreadNames *self, int64_t until);

/* The lines of the file, sorted by thread and time. Settles all events; NULL if there are no
 * lines. *(full)* */
GString *sysprof_thread_names_to_text (ThreadNames *self);
