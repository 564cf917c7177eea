// SPDX-License-Identifier: GPL-3.0-or-later

/* The status of a recording, which any thread may read while it runs. */

#include "record/clock.h"
#include "record/recording-thread-private.h"
#include "util/util.h"

#include <time.h>

int64_t
sysprof_recording_own_cpu_time (void)
{
  struct timespec used;

  if (clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
    return 0;
  return used.tv_sec * NSEC_PER_SEC + used.tv_nsec + sysprof_confined_children_cpu_time ();
}

/* Bytes of the capture so far, including the frames that are appended at the end. */
uint64_t
sysprof_recording_thread_get_size (RecordingThread *self)
{
  uint64_t size = sysprof_capture_writer_get_size (self->context.writer);

  return self->tail_frames != NULL ? size + sysprof_tail_frames_get_size (self->tail_frames)
                                   : size;
}

static uint64_t
get_n_frames (RecordingThread *self)
{
  uint64_t n = sysprof_capture_writer_get_n_frames (self->context.writer);

  return self->tail_frames != NULL ? n + sysprof_tail_frames_get_n_frames (self->tail_frames)
                                   : n;
}

void
sysprof_recording_thread_publish_status (RecordingThread *self, int64_t now)
{
  SysprofCaptureStat stat;

  sysprof_capture_writer_stat (self->context.writer, &stat);
  atomic_store_explicit (&self->status.n_samples,
                         stat.frame_count[SYSPROF_CAPTURE_FRAME_SAMPLE], memory_order_relaxed);
  atomic_store_explicit (&self->status.n_frames, get_n_frames (self), memory_order_relaxed);
  atomic_store_explicit (&self->status.size, sysprof_recording_thread_get_size (self),
                         memory_order_relaxed);
  atomic_store_explicit (&self->status.counted_at, now, memory_order_relaxed);
  self->published_at = now;
}

uint64_t
sysprof_recording_thread_get_lost (RecordingThread *self, LossKind kind)
{
  return atomic_load_explicit (&self->status.n_lost[kind], memory_order_relaxed);
}

void
sysprof_recording_thread_get_status (RecordingThread *self, RecordingStatus *status)
{
  /* Pairs with the release in record(): cpu_begin is set before. */
  int64_t begin = atomic_load_explicit (&self->status.begin, memory_order_acquire);
  int64_t end = atomic_load_explicit (&self->status.end, memory_order_relaxed);
  int64_t cpu_end = atomic_load_explicit (&self->status.cpu_end, memory_order_relaxed);
  int64_t counted_at = atomic_load_explicit (&self->status.counted_at, memory_order_relaxed);

  *status = (RecordingStatus){
    .n_samples = atomic_load_explicit (&self->status.n_samples, memory_order_relaxed),
    .n_frames = atomic_load_explicit (&self->status.n_frames, memory_order_relaxed),
    .n_throttled = atomic_load_explicit (&self->status.n_throttled, memory_order_relaxed),
    .size = atomic_load_explicit (&self->status.size, memory_order_relaxed),
    .n_lost_samples = sysprof_recording_thread_get_lost (self, LOST_SAMPLES),
    .n_lost_records = sysprof_recording_thread_get_lost (self, LOST_RECORDS),
  };
  status->n_lost = status->n_lost_samples + status->n_lost_records +
                   sysprof_recording_thread_get_lost (self, LOST_OTHERS);

  if (begin == 0)
    return;

  status->duration = (end != 0 ? end : sysprof_clock_now ()) - begin;
  status->is_stopped = end != 0;
  status->counted = MAX (counted_at - begin, 0);
  status->cpu_nsec =
      (cpu_end != 0 ? cpu_end : sysprof_recording_own_cpu_time ()) - self->cpu_begin;
}
