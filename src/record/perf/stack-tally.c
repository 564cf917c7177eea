// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/perf/stack-tally.h"

#include "capture/capture.h"

#include <glib.h>
#include <stdlib.h>

typedef struct
{
  int32_t pid;
  uint64_t n[N_FOUND];
} ProcessTally;

#define MOST_NOTES 262144

struct StackTally
{
  GHashTable *by_pid;
  ProcessTally *last; /* most samples are of whom the one before was */
  GByteArray *notes;
};

const char *
sysprof_stack_found_to_string (StackFound found)
{
  static const char *const names[] = {
    [FOUND_BY_TABLES] = "tables",
    [FOUND_BY_BOTH] = "tables+frame-pointer",
    [FOUND_BY_FRAME_POINTERS] = "frame-pointer",
    [FOUND_IN_A_COPY] = "copy",
    [FOUND_NONE] = "none",
  };
  G_STATIC_ASSERT (G_N_ELEMENTS (names) == N_FOUND);

  return names[found];
}

StackTally *
sysprof_stack_tally_new (void)
{
  StackTally *self = g_new0 (StackTally, 1);

  self->by_pid = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->notes = g_byte_array_new ();
  return self;
}

void
sysprof_stack_tally_free (StackTally *self)
{
  if (self == NULL)
    return;

  g_hash_table_unref (self->by_pid);
  g_byte_array_unref (self->notes);
  g_free (self);
}

void
sysprof_stack_tally_count (StackTally *self, int32_t pid, StackFound found)
{
  if (self->last == NULL || self->last->pid != pid)
    {
      self->last = g_hash_table_lookup (self->by_pid, GINT_TO_POINTER (pid));
      if (self->last == NULL)
        {
          self->last = g_new0 (ProcessTally, 1);
          self->last->pid = pid;
          g_hash_table_insert (self->by_pid, GINT_TO_POINTER (pid), self->last);
        }
    }
  self->last->n[found]++;
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
  guint n = g_hash_table_size (self->by_pid);
  g_autofree ProcessTally **sorted = g_new (ProcessTally *, MAX (n, 1));
  GHashTableIter iter;
  void *value;

  n = 0;
  g_hash_table_iter_init (&iter, self->by_pid);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    sorted[n++] = value;
  qsort (sorted, n, sizeof *sorted, compare_pids);

  for (guint i = 0; i < n; i++)
    {
      g_string_append_printf (text, "%d", sorted[i]->pid);
      for (unsigned found = 0; found < N_FOUND; found++)
        if (sorted[i]->n[found] > 0)
          g_string_append_printf (text, " %s=%" G_GUINT64_FORMAT,
                                  sysprof_stack_found_to_string (found), sorted[i]->n[found]);
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}
