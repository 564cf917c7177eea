// SPDX-License-Identifier: GPL-3.0-or-later

/* The state of the unwinder, shared by unwinder.c, which makes it, and thread.c, which runs. */

#pragma once

#include "unwinder/files.h"
#include "unwinder/loading.h"
#include "unwinder/processes.h"
#include "unwinder/unwinder.h"

#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

/* What the thread polls. The first two interrupt every wait; the rings of events are read at
 * intervals. */
enum
{
  WAIT_WAKE,
  WAIT_UNKNOWN_FILES,
  N_URGENT_WAITS,
  WAIT_EVENTS = N_URGENT_WAITS,
  N_WAITS
};

typedef struct
{
  int64_t time;
  uint32_t offset; /* in `records` */
} PendingRecord;

struct Unwinder
{
  /* Constant while the thread runs, except the program's own descriptor, which the pump's
   * thread owns. */
  WalkProgram program; /* none where copies are unwound */
  /* The program queries the kernel for mappings; this side only publishes files. */
  bool tells_files;
  Loading *loading;
  Privilege *privilege;
  UnwindIndex *index; /* mapped */
  GThread *thread;
  int wake_fd;
  /* An eventfd, written when the processes that ran at the start have their tables. */
  int ready_fd;
  atomic_bool stop_requested;
  atomic_bool relies_on_pump;
  atomic_bool is_to_widen;
  bool is_shared; /* owned by the pump's thread: sysprof_unwinder_widen() was called */
  /* The event queue, shared with the pump's thread. NULL: the program does not query the
   * kernel. */
  MappingEvents *mapping_events;
  unsigned n_only; /* wanted processes; 0 = all */

  /* Owned by the thread while it runs. */
  uint8_t *slab[UNWIND_MOST_SLABS]; /* mapped */
  UnwindPublisher *publisher;
  CodeFiles *files;
  CodeProcesses *processes;
  PendingSamples *pending; /* shared with the pump's thread */
  CopiedSamples *copies;   /* the same; NULL: the BPF program unwinds */
  PerfSession *session;    /* NULL: events come from the pump */
  /* Files without a table that the walker met; NULL: it does not report them. */
  PerfSession *unknown_files;
  /* wake_fd, then an epoll instance with the rings of each session; -1 = none. */
  struct pollfd waits[N_WAITS];
  GByteArray *records;     /* read from the rings and not applied yet */
  GArray *pending_records; /* of PendingRecord */
  GArray *to_read;         /* of int32_t */
  guint n_read;
  int64_t events_until; /* ns: all earlier events have been applied */
  bool had_events;      /* at the last poll */
  bool is_incomplete;   /* records were lost */
  bool is_to_read;      /* read all processes again */
  bool is_widened;      /* sysprof_unwinder_widen() has been applied */
  int64_t read_usec;    /* start of the last full read */
  int64_t now_usec;     /* time of the last poll */
  int64_t begin_nsec;
  UnwinderStatus status;
};

/* Wakes the thread that reads this eventfd. */
static inline void
sysprof_unwinder_notify (int fd)
{
  const uint64_t one = 1;

  (void) !write (fd, &one, sizeof one); /* full: already signaled */
}

/* Opens and enables the events of `options`, and the reports of unknown files where the walker
 * sends them. Each record wakes the thread. FALSE with `error`. */
bool
sysprof_unwinder_open_rings (Unwinder *self, const PerfSessionOptions *options, GError **error);
void sysprof_unwinder_close_rings (Unwinder *self);

/* The function of the thread; `data` is the unwinder. */
void *sysprof_unwinder_run (void *data);
