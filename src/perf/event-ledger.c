// SPDX-License-Identifier: GPL-3.0-or-later

/* A hash table from the kernel's event IDs to events, and the chunk that is being filled. */

#include "perf/event-ledger.h"

#include "capture/capture.h"

#include <string.h>

#define CHUNK_ENTRIES 670 /* in 16080 bytes: Sysprof 3.46 reads frames up to 16384 bytes */

typedef struct
{
  uint64_t id; /* 0 = free; the kernel starts at 1 */
  uint8_t event;
} KnownId;

struct EventLedger
{
  KnownId *known; /* [n_known], a power of two, at most half of them used */
  unsigned n_known;
  unsigned n_taken;
  unsigned n_entries;
  int64_t latest; /* of all chunks written so far */
  uint8_t chunk[CHUNK_ENTRIES * CAPTURE_PERIODS_SIZE];
};

EventLedger *
sysprof_event_ledger_new (void)
{
  EventLedger *self = g_new0 (EventLedger, 1);

  self->n_known = 64;
  self->known = g_new0 (KnownId, self->n_known);
  return self;
}

void
sysprof_event_ledger_free (EventLedger *self)
{
  if (self == NULL)
    return;

  g_free (self->known);
  g_free (self);
}

/* The entry of `id`, or the free entry for it. IDs are assigned in sequence, so they need no
 * hash function. */
static KnownId *
find_id (const EventLedger *self, uint64_t id)
{
  uint64_t at = id & (self->n_known - 1);

  while (self->known[at].id != 0 && self->known[at].id != id)
    at = (at + 1) & (self->n_known - 1);
  return &self->known[at];
}

static void
grow (EventLedger *self)
{
  g_autofree KnownId *old = self->known;
  unsigned n_old = self->n_known;

  self->n_known = 2 * n_old;
  self->known = g_new0 (KnownId, self->n_known);
  for (unsigned i = 0; i < n_old; i++)
    if (old[i].id != 0)
      *find_id (self, old[i].id) = old[i];
}

void
sysprof_event_ledger_add_id (EventLedger *self, uint64_t id, unsigned event)
{
  if (id == 0)
    return;

  if (2 * ++self->n_taken > self->n_known)
    grow (self);
  *find_id (self, id) = (KnownId){ id, (uint8_t) event };
}

bool
sysprof_event_ledger_find (const EventLedger *self, uint64_t id, unsigned *event)
{
  const KnownId *known = find_id (self, id);

  if (id == 0 || known->id != id)
    return false;
  *event = known->event;
  return true;
}

static bool
write_chunk (EventLedger *self, SysprofCaptureWriter *writer, int64_t time, bool is_last)
{
  bool is_written =
      sysprof_capture_writer_add_file (writer, time, -1, -1, CAPTURE_PERIODS_FILE, is_last,
                                       self->chunk, self->n_entries * CAPTURE_PERIODS_SIZE);

  self->n_entries = 0;
  self->latest = MAX (self->latest, time);
  return is_written;
}

bool
sysprof_event_ledger_note (EventLedger *self,
                           SysprofCaptureWriter *writer,
                           uint64_t id,
                           int64_t time,
                           int32_t tid,
                           uint64_t period)
{
  const KnownId *known = find_id (self, id);
  uint8_t *at = self->chunk + self->n_entries * CAPTURE_PERIODS_SIZE;
  const int64_t time_le = GINT64_TO_LE (time);
  const uint64_t period_le = GUINT64_TO_LE (period);
  const int32_t tid_le = GINT32_TO_LE (tid);

  if (id == 0 || known->id != id)
    return false;

  memcpy (at, &time_le, sizeof time_le);
  memcpy (at + 8, &period_le, sizeof period_le);
  memcpy (at + 16, &tid_le, sizeof tid_le);
  memcpy (at + 20, (const uint8_t[4]){ known->event }, 4);
  return ++self->n_entries < CHUNK_ENTRIES || write_chunk (self, writer, time, false);
}

bool
sysprof_event_ledger_finish (EventLedger *self, SysprofCaptureWriter *writer, int64_t time)
{
  /* The events are disabled shortly after the end of the recording, `time`. Readers order
   * chunks by time, and a chunk after the last one would start a file of another recording. */
  return write_chunk (self, writer, MAX (self->latest, time), true);
}
