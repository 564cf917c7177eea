// SPDX-License-Identifier: GPL-3.0-or-later

/* What our recorder has to say of single samples: docs/format.md. */

#include "store/builder.h"

#include "capture/capture.h"

#include <string.h>

#define NOTES_BETWEEN 0x100 /* between two checks for cancellation */

/* Of one time: so many CPUs no machine has. */
#define MOST_AT_ONCE 0x4000

static void
note_samples (Store *store, int64_t time, int32_t tid, uint8_t note)
{
  const StackEvents *samples = &store->samples;

  uint32_t first = sysprof_stack_events_find_time (samples, time);

  for (uint32_t i = first;
       i < samples->n && samples->time[i] == time && i - first < MOST_AT_ONCE; i++)
    if (samples->tid[i] == tid)
      store->sample_notes[i] = note;
}

void
sysprof_builder_read_sample_notes (Builder *self)
{
  Store *store = self->store;
  g_autoptr (GBytes) bytes = NULL;
  const uint8_t *at;
  gsize size, n;

  if (!store->has_walks || store->samples.n == 0)
    return;
  bytes = sysprof_store_read_file_cancellable (
      store, CAPTURE_FOUND_FILE, self->progress->cancellable, NULL); /* may be absent */
  if (bytes == NULL)
    return;

  store->sample_notes = g_new0 (uint8_t, store->samples.n);
  at = g_bytes_get_data (bytes, &size);
  n = size / CAPTURE_FOUND_SIZE;
  for (size_t i = 0;
       i < n && (i % NOTES_BETWEEN != 0 || sysprof_progress_at (self->progress, i, n));
       i++, at += CAPTURE_FOUND_SIZE)
    {
      int64_t time;
      int32_t tid;

      memcpy (&time, at, sizeof time);
      memcpy (&tid, at + 8, sizeof tid);
      note_samples (store, GINT64_FROM_LE (time), GINT32_FROM_LE (tid), at[12]);
    }
}
