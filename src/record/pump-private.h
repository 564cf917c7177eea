// SPDX-License-Identifier: GPL-3.0-or-later

/* The inside of the pump, shared by pump.c and pump-sources.c. */

#pragma once

#include "record/late-frames.h"
#include "record/output.h"
#include "record/pump.h"

#include <pthread.h>
#include <stdatomic.h>

#define NSEC_PER_SEC  INT64_C (1000000000)
#define NSEC_PER_MSEC INT64_C (1000000)

typedef struct PumpWatch PumpWatch;

struct Pump
{
  /* Frozen once the thread runs. */
  GThread *thread;
  SysprofCaptureWriter *writer; /* what it points to is the pump thread's */
  PumpOptions options;
  GPtrArray *instruments;
  PumpEvents events;
  void *events_data;
  Privilege *privilege;
  Output *output;
  sigset_t inherited_signals; /* blocked where the recording was started */
  int epoll_fd;
  int wake_fd; /* eventfd: another thread has something */

  /* Owned by the pump thread. */
  GPtrArray *is_left_out; /* [instruments->len] booleans as pointers */
  GPtrArray
      *watches;  /* of PumpWatch; those that were removed stay until the loop has gone round */
  GArray *ticks; /* of PumpTick */
  GArray *works; /* of PumpWork */
  ProcessLog process_log;
  KernelSymbolLog kernel_symbol_log;
  ThreadNames thread_names;
  Unwinder *unwinder;      /* borrowed; NULL = none */
  KeptFiles *kept_files;   /* NULL = none */
  LateFrames *late_frames; /* NULL until some are wanted */
  int64_t begin;           /* ns; 0 = not yet */
  int64_t end;
  int64_t cpu_begin;
  int64_t published_at;
  int program_fd; /* pidfd of the spawned program */
  bool ticks_run;
  unsigned first_counter;          /* of the recorder's own; 0 = none */
  uint64_t told[N_LOSS_KINDS + 1]; /* what the counters of losses and of throttling said last */
  bool told_once;

  /* Guarded by `lock`. (Not a GMutex: ThreadSanitizer knows nothing of those.) */
  pthread_mutex_t lock;
  GArray *invoked; /* of PumpCall; NULL once the recording has ended */
  GError *error;   /* the first that ended the recording */

  /* Atomics: written by the one that is named, read by anybody. */
  atomic_bool stop_requested;        /* anybody; release, pairs with the acquire of the loop */
  GCancellable *augment_cancellable; /* cancelled by anybody */
  struct
  {
    atomic_uint_least64_t n_samples; /* pump; numbers to look at, relaxed */
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

/* From any thread. Takes `error`; the first one is what the recording fails with. Ends the recording. */
void sysprof_pump_fail (Pump *self, GError *error);

bool sysprof_pump_open_sources (Pump *self, GError **error);
void sysprof_pump_close_sources (Pump *self);

/* Calls all ticks for the first time, and those that are added later at once. */
void sysprof_pump_start_ticks (Pump *self);

/* Waits until something is due, at most until `deadline`, and does it. */
void sysprof_pump_dispatch (Pump *self, int64_t deadline);

void sysprof_pump_wake (Pump *self); /* from any thread */

/* From any thread. FALSE when the recording has ended; `func` will not run then. */
bool sysprof_pump_try_invoke (Pump *self, PumpFunc func, void *data);
/* What other threads have asked for until now. */
void sysprof_pump_run_invoked (Pump *self);
/* The same, and the end of it: later ones are never run. */
void sysprof_pump_close_invoked (Pump *self);
