// SPDX-License-Identifier: GPL-3.0-or-later

/* The internals of the pump, shared by pump.c, pump-sources.c and pump-files.c. */

#pragma once

#include "record/output.h"
#include "record/pump.h"
#include "record/tail-frames.h"

#include <pthread.h>
#include <stdatomic.h>

#define NSEC_PER_SEC  INT64_C (1000000000)
#define NSEC_PER_MSEC INT64_C (1000000)

typedef struct PumpWatch PumpWatch;

struct Pump
{
  /* Frozen once the thread runs. */
  GThread *thread;
  SysprofCaptureWriter *writer; /* only the pump thread uses the object */
  PumpOptions options;
  GPtrArray *instruments;
  PumpEvents events;
  void *events_data;
  Privilege *privilege;
  Output *output;
  sigset_t inherited_signals; /* signal mask of the thread that started the recording */
  int epoll_fd;
  int wake_fd; /* eventfd: another thread has queued a call or requests the end */

  /* Owned by the pump thread. */
  GPtrArray *is_left_out; /* [instruments->len] booleans as pointers */
  GPtrArray *watches; /* [PumpWatch]; a removed watch stays until the end of the loop's round */
  GArray *ticks;      /* [PumpTick] */
  GArray *works;      /* [PumpWork] */
  ProcessLog process_log;
  KernelSymbolLog kernel_symbol_log;
  ThreadNames thread_names;
  Unwinder *unwinder;        /* borrowed; NULL = none */
  PinnedFiles *pinned_files; /* NULL = none */
  TailFrames *tail_frames;   /* NULL until the first such frame */
  int64_t begin;             /* ns; 0 = not yet */
  int64_t end;
  int64_t cpu_begin;
  int64_t published_at;
  int program_fd; /* pidfd of the spawned program */
  bool ticks_run;
  unsigned first_counter; /* of the recorder's own counters; 0 = none */
  /* the last written values of the loss counters and the throttling counter */
  uint64_t told[N_LOSS_KINDS + 1];
  bool told_once;

  /* Guarded by `lock`. This is not a GMutex because ThreadSanitizer does not know those. */
  pthread_mutex_t lock;
  GArray *invoked; /* [PumpCall]; NULL once the recording has ended */
  GError *error;   /* the first error that ended the recording */

  /* Atomics: written by the thread that is named, read by any thread. */
  atomic_bool stop_requested; /* any thread; release, pairs with the acquire of the loop */
  GCancellable *augment_cancellable; /* canceled by any thread */
  struct
  {
    atomic_uint_least64_t n_samples; /* pump thread; statistics only, relaxed */
    atomic_uint_least64_t n_frames;
    atomic_uint_least64_t n_lost[N_LOSS_KINDS];
    atomic_uint_least64_t n_throttled;
    atomic_uint_least64_t size;
    atomic_int_least64_t begin; /* release: cpu_begin is set before */
    atomic_int_least64_t end;
    atomic_int_least64_t cpu_end;
    atomic_int_least64_t counted_at;
  } status;
};

int64_t sysprof_pump_now (void);

/* From any thread. Takes ownership of `error`. The recording ends and fails with the first such
 * error. */
void sysprof_pump_fail (Pump *self, GError *error);

bool sysprof_pump_open_sources (Pump *self, GError **error);
void sysprof_pump_close_sources (Pump *self);

/* Calls all ticks for the first time. Ticks that are added later are called at once. */
void sysprof_pump_start_ticks (Pump *self);

/* Waits until something is due, at most until `deadline`, and runs it. */
void sysprof_pump_dispatch (Pump *self, int64_t deadline);

void sysprof_pump_wake (Pump *self); /* from any thread */

/* From any thread. FALSE if the recording has ended; `func` does not run then. */
bool sysprof_pump_try_invoke (Pump *self, PumpFunc func, void *data);
/* Runs the calls that other threads have queued so far. */
void sysprof_pump_run_invoked (Pump *self);
/* Runs the queued calls. Calls that are queued later never run. */
void sysprof_pump_close_invoked (Pump *self);
