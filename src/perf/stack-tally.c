// SPDX-License-Identifier: GPL-3.0-or-later

/* Counts and notes of stacks. Counting runs for each sample, so it must not allocate except to
 * grow. */

#include "perf/stack-tally.h"

#include <glib.h>
#include <stdlib.h>

typedef struct
{
  int32_t pid; /* 0 = free */
  uint64_t n[N_CAPTURE_FOUND];
} ProcessTally;

#define MOST_NOTES  262144
#define FIRST_SLOTS 256

/* A hash table with open addressing. It is updated for each sample, so an update should touch
 * no more than one cache line. */
struct StackTally
{
  ProcessTally *slot; /* [n_slots], a power of two, at most half of them used */
  unsigned n_slots;
  unsigned n_taken;
  ProcessTally *last; /* most samples are of the same process as the one before */
  GByteArray *notes;
};

const char *
sysprof_stack_found_to_string (CaptureFound found)
{
  static const char *const names[] = {
    [CAPTURE_FOUND_BY_TABLES] = "tables",
    [CAPTURE_FOUND_BY_BOTH] = "tables+frame-pointer",
    [CAPTURE_FOUND_BY_FRAME_POINTERS] = "frame-pointer",
    [CAPTURE_FOUND_IN_A_COPY] = "copy",
    [CAPTURE_FOUND_NONE] = "none",
  };
  G_STATIC_ASSERT (G_N_ELEMENTS (names) == N_CAPTURE_FOUND);

  return names[found];
}

StackTally *
sysprof_stack_tally_new (void)
{
  StackTally *self = g_new0 (StackTally, 1);

  self->n_slots = FIRST_SLOTS;
  self->slot = g_new0 (ProcessTally, FIRST_SLOTS);
  self->notes = g_byte_array_new ();
  return self;
}

void
sysprof_stack_tally_free (StackTally *self)
{
  if (self == NULL)
    return;

  g_free (self->slot);
  g_byte_array_unref (self->notes);
  g_free (self);
}

/* The slot of `pid`, or the free slot for it. Pids are assigned in sequence, so they need no
 * hash function. */
static ProcessTally *
find_slot (StackTally *self, int32_t pid)
{
  unsigned at = (unsigned) pid & (self->n_slots - 1);

  while (self->slot[at].pid != 0 && self->slot[at].pid != pid)
    at = (at + 1) & (self->n_slots - 1);
  return &self->slot[at];
}

static void
grow (StackTally *self)
{
  ProcessTally *old = self->slot;
  unsigned n_old = self->n_slots;

  self->n_slots = 2 * n_old;
  self->slot = g_new0 (ProcessTally, self->n_slots);
  for (unsigned i = 0; i < n_old; i++)
    if (old[i].pid != 0)
      *find_slot (self, old[i].pid) = old[i];
  g_free (old);
}

void
sysprof_stack_tally_count (StackTally *self, int32_t pid, CaptureFound found)
{
  ProcessTally *tally =
      self->last != NULL && self->last->pid == pid ? self->last : find_slot (self, pid);

  if (tally->pid == 0)
    {
      if (pid == 0)
        return; /* the idle task has no stack of its own */
      if (2 * ++self->n_taken > self->n_slots)
        {
          grow (self);
          tally = find_slot (self, pid);
        }
      tally->pid = pid;
    }
  self->last = tally;
  tally->n[found]++;
}

void
sysprof_stack_tally_note (StackTally *self, int64_t time, int32_t tid, uint8_t note)
{
  const int64_t time_le = GINT64_TO_LE (time);
  const int32_t tid_le = GINT32_TO_LE (tid);
  const uint8_t rest[4] = { note };

  if (self->notes->len >= MOST_NOTES * CAPTURE_FOUND_SIZE)
    return;

  g_byte_array_append (self->notes, (const guint8 *) &time_le, sizeof time_le);
  g_byte_array_append (self->notes, (const guint8 *) &tid_le, sizeof tid_le);
  g_byte_array_append (self->notes, rest, sizeof rest);
}

const void *
sysprof_stack_tally_get_notes (const StackTally *self, size_t *size)
{
  *size = self->notes->len;
  return self->notes->data;
}

static int
compare_pids (const void *a, const void *b)
{
  const ProcessTally *left = *(const ProcessTally *const *) a;
  const ProcessTally *right = *(const ProcessTally *const *) b;

  return (left->pid > right->pid) - (left->pid < right->pid);
}

char *
sysprof_stack_tally_dup_text (const StackTally *self)
{
  GString *text = g_string_new (NULL);
  g_autofree const ProcessTally **sorted = g_new (const ProcessTally *, self->n_taken + 1);
  unsigned n = 0;

  for (unsigned i = 0; i < self->n_slots; i++)
    if (self->slot[i].pid != 0)
      sorted[n++] = &self->slot[i];
  qsort (sorted, n, sizeof *sorted, compare_pids);

  for (unsigned i = 0; i < n; i++)
    {
      g_string_append_printf (text, "%d", sorted[i]->pid);
      for (unsigned found = 0; found < N_CAPTURE_FOUND; found++)
        if (sorted[i]->n[found] > 0)
          g_string_append_printf (text, " %s=%" G_GUINT64_FORMAT,
                                  sysprof_stack_found_to_string (found), sorted[i]->n[found]);
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}
