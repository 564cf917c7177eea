// SPDX-License-Identifier: GPL-3.0-or-later

/* The internals of a recording, shared by recording-thread.c, recording-context.c,
 * recording-status.c, loss-counters.c and spawned-program.c. */

#pragma once

#include "record/output.h"
#include "record/recording-context.h"
#include "record/recording-thread.h"
#include "record/tail-frames.h"

#include <pthread.h>
#include <stdatomic.h>

struct RecordingThread
{
  RecordingContext context; /* the first member: a RecordingContext is a RecordingThread */

  /* Frozen once the thread runs. */
  GThread *thread;
  RecordingOptions options;
  GPtrArray *instruments;
  RecordingEvents events;
  void *events_data;
  Output *output;
  sigset_t inherited_signals; /* signal mask of the thread that started the recording */

  /* Owned by the pump thread. */
  GPtrArray *is_left_out;  /* [instruments->len] booleans as pointers */
  TailFrames *tail_frames; /* NULL until the first such frame */
  int64_t cpu_begin;       /* ns of CPU time */
  int64_t published_at;
  int service_fd;         /* lends rights; -1 = none */
  int program_fd;         /* pidfd of the spawned program */
  unsigned first_counter; /* of the recorder's own counters; 0 = none */
  /* the last written values of the loss counters and the throttling counter */
  uint64_t written[N_LOSS_KINDS + 1];
  bool has_written;

  /* Guarded by `lock`. This is not a GMutex because ThreadSanitizer does not know those. */
  pthread_mutex_t lock;
  GError *error; /* the first error that ended the recording */

  /* Atomics: written by the pump thread, read by any thread; statistics only, relaxed. */
  struct
  {
    atomic_uint_least64_t n_samples;
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

/* From any thread. Takes ownership of `error`. The recording ends and fails with the first such
 * error. */
void sysprof_context_fail (RecordingContext *self, GError *error);

/* Bytes of the capture so far, including the frames that are appended at the end. */
uint64_t sysprof_recording_thread_get_size (RecordingThread *self);
/* Makes the current counts visible to other threads. */
void sysprof_recording_thread_publish_status (RecordingThread *self, int64_t now);
uint64_t sysprof_recording_thread_get_lost (RecordingThread *self, LossKind kind);

/* Call these at the start, once a second, and at the end. Losses during the last call do not
 * show in the capture. */
void sysprof_loss_counters_define (RecordingThread *self);
void sysprof_loss_counters_write (RecordingThread *self, int64_t now);
void sysprof_loss_counters_finish (RecordingThread *self);

/* FALSE if the program did not start; the recording has failed then. */
bool sysprof_spawned_program_start (RecordingThread *self);
