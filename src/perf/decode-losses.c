// SPDX-License-Identifier: GPL-3.0-or-later

/* Counts the samples and records that the kernel lost, and the samples that it did not take
 * because it throttled sampling. */

#include "perf/decode-private.h"

bool
sysprof_perf_decode_lost (PerfDecoder *self, Cursor cursor)
{
  uint64_t event_id, n;

  if (!take_u64 (&cursor, &event_id) || !take_u64 (&cursor, &n))
    return false;

  self->n_kernel_lost += n;
  return true;
}

bool
sysprof_perf_decode_lost_samples (PerfDecoder *self, Cursor cursor)
{
  uint64_t n;

  if (!take_u64 (&cursor, &n))
    return false;

  self->n_dropped_samples += n;
  return true;
}

/* Finds the event with this kernel ID. FALSE: none of this session. */
static bool
find_event (const PerfDecoder *self, uint64_t id, unsigned *event)
{
  *event = 0;
  return self->ledger == NULL || sysprof_event_ledger_find (self->ledger, id, event);
}

/* Counts the sample that was suppressed when throttling began. The others can be estimated only
 * when it ends, and only if `throttled` has room for the event. */
static void
begin_throttled (PerfDecoder *self, uint64_t stream, int64_t time)
{
  ThrottledEvents *throttled = self->throttled;

  self->n_throttled++;
  for (unsigned i = 0; throttled != NULL && i < throttled->n; i++)
    if (throttled->event[i].stream == stream)
      return;
  if (throttled == NULL || throttled->n == G_N_ELEMENTS (throttled->event))
    return;
  throttled->event[throttled->n].stream = stream;
  throttled->event[throttled->n++].since = time;
}

/* Returns when throttling began; 0 = unknown. */
static int64_t
end_throttled (ThrottledEvents *throttled, uint64_t stream)
{
  for (unsigned i = 0; throttled != NULL && i < throttled->n; i++)
    if (throttled->event[i].stream == stream)
      {
        int64_t since = throttled->event[i].since;

        throttled->event[i] = throttled->event[--throttled->n];
        return since;
      }
  return 0;
}

bool
sysprof_perf_decode_throttle (PerfDecoder *self, Cursor cursor, bool begins)
{
  uint64_t time, id, stream;
  unsigned event;
  int64_t since;

  if (!take_u64 (&cursor, &time) || !take_u64 (&cursor, &id) || !take_u64 (&cursor, &stream))
    return false;

  if (begins)
    {
      begin_throttled (self, stream, (int64_t) time);
      return true;
    }

  since = end_throttled (self->throttled, stream);
  if (since != 0 && (int64_t) time > since && find_event (self, id, &event) &&
      self->nsec_per_sample[event] > 0)
    self->n_throttled += (uint64_t) (((int64_t) time - since) / self->nsec_per_sample[event]);
  return true;
}
