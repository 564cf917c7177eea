// SPDX-License-Identifier: GPL-3.0-or-later

/* The recorder's own counters in the capture: lost and throttled samples. Each growth of a loss
 * is also a log message. */

#include "record/recording-thread-private.h"

#include <string.h>

enum
{
  OWN_THROTTLED = N_LOSS_KINDS, /* after the counters for each kind of loss */
  N_OWN_COUNTERS,
};

void
sysprof_loss_counters_define (RecordingThread *self)
{
  SysprofCaptureCounter counters[N_OWN_COUNTERS] = {
    [LOST_SAMPLES] = { .category = "Sampler",
                       .name = "Lost Samples",
                       .description = "Samples that were dropped" },
    [LOST_RECORDS] = { .category = "Sampler",
                       .name = "Lost Records",
                       .description = "Dropped records of processes and mappings" },
    [LOST_OTHERS] = { .category = "Sampler",
                      .name = "Lost Others",
                      .description = "Dropped waits, messages and files" },
    [OWN_THROTTLED] = { .category = "Sampler",
                        .name = "Throttled Samples",
                        .description = "Samples that the kernel throttled" },
  };

  self->first_counter =
      sysprof_capture_writer_request_counter (self->context.writer, N_OWN_COUNTERS);
  if (self->first_counter == 0)
    return;

  for (unsigned i = 0; i < N_OWN_COUNTERS; i++)
    {
      counters[i].id = (self->first_counter + i) & 0xffffff;
      counters[i].type = SYSPROF_CAPTURE_COUNTER_INT64;
    }

  if (!sysprof_capture_writer_define_counters (self->context.writer, self->context.begin, -1,
                                               -1, counters, N_OWN_COUNTERS))
    self->first_counter = 0;
}

/* FALSE if there was no space; the next message then counts these losses, too. */
static bool
log_growth (RecordingThread *self, int64_t now, LossKind kind, uint64_t n)
{
  static const char *const nouns[] = {
    [LOST_SAMPLES] = "samples",
    [LOST_RECORDS] = "records of processes and mappings",
    [LOST_OTHERS] = "other frames",
  };
  char message[80];

  if (n == self->written[kind])
    return true;
  g_snprintf (message, sizeof message, "Lost %" G_GUINT64_FORMAT " %s", n - self->written[kind],
              nouns[kind]);
  return sysprof_capture_writer_add_log (self->context.writer, now, -1, -1,
                                         G_LOG_LEVEL_CRITICAL, "Sampler", message);
}

void
sysprof_loss_counters_write (RecordingThread *self, int64_t now)
{
  uint64_t sums[G_N_ELEMENTS (self->written)];
  unsigned ids[N_OWN_COUNTERS];
  SysprofCaptureCounterValue values[N_OWN_COUNTERS];
  unsigned n = 0;

  for (LossKind i = 0; i < N_LOSS_KINDS; i++)
    {
      sums[i] = sysprof_recording_thread_get_lost (self, i);
      if (!log_growth (self, now, i, sums[i]))
        sums[i] = self->written[i];
    }
  sums[OWN_THROTTLED] = atomic_load_explicit (&self->status.n_throttled, memory_order_relaxed);

  for (unsigned i = 0; i < G_N_ELEMENTS (sums); i++)
    if (sums[i] != self->written[i] || !self->has_written)
      {
        ids[n] = self->first_counter + i;
        values[n++].v64 = (int64_t) sums[i];
      }

  if (n > 0 && self->first_counter != 0 &&
      !sysprof_capture_writer_set_counters (self->context.writer, now, -1, -1, ids, values, n))
    return;

  memcpy (self->written, sums, sizeof sums);
  self->has_written = true;
}

static void
add_count_metadata (RecordingThread *self, const char *key, uint64_t n)
{
  char value[24];

  g_snprintf (value, sizeof value, "%" G_GUINT64_FORMAT, n);
  (void) sysprof_capture_writer_add_metadata (self->context.writer, self->context.end, -1, -1,
                                              key, value, -1);
}

void
sysprof_loss_counters_finish (RecordingThread *self)
{
  uint64_t n_samples = sysprof_recording_thread_get_lost (self, LOST_SAMPLES);
  uint64_t n_records = sysprof_recording_thread_get_lost (self, LOST_RECORDS);
  uint64_t n_others = sysprof_recording_thread_get_lost (self, LOST_OTHERS);

  sysprof_loss_counters_write (self, self->context.end);
  add_count_metadata (self, "org.gnome.sysprof.lost", n_samples + n_records + n_others);
  add_count_metadata (self, "org.gnome.sysprof.lost-samples", n_samples);
  add_count_metadata (self, "org.gnome.sysprof.lost-records", n_records);
  add_count_metadata (self, "org.gnome.sysprof.throttled",
                      atomic_load_explicit (&self->status.n_throttled, memory_order_relaxed));
}
