// SPDX-License-Identifier: GPL-3.0-or-later

/* The duration of each mark without the marks within it.
 *
 * Marks of one process nest if one contains the other. Captures do not record the thread of a
 * mark. Marks are sorted by start, the longer first, so the marks that contain a mark precede
 * it. */

#include "analyze/analyze.h"

#define MOST_OPEN \
  64 /* marks above a mark that are looked at: those that merely overlap are passed over */

typedef struct
{
  uint32_t mark;
  int64_t end;
  int64_t covered_until; /* by those within it that were seen */
} Open;

static int64_t
end_of (const Mark *mark)
{
  int64_t end;

  return __builtin_add_overflow (mark->time, MAX (mark->duration, 0), &end) ? INT64_MAX : end;
}

/* What has ended leaves; what holds all of the mark loses what no other within it has covered. Those that it merely
 * overlaps, on another thread, lose nothing. */
static void
enter (GArray *open, int64_t begin, int64_t end, int64_t *self)
{
  guint n = 0;

  for (guint i = 0; i < open->len; i++)
    {
      Open entry = g_array_index (open, Open, i);

      if (entry.end <= begin)
        continue;
      if (entry.end >= end && end > MAX (begin, entry.covered_until))
        {
          self[entry.mark] -= end - MAX (begin, entry.covered_until);
          entry.covered_until = end;
        }
      g_array_index (open, Open, n++) = entry;
    }
  g_array_set_size (open, n);
}

int64_t *
sysprof_marks_find_self (const Store *store)
{
  g_autoptr (GHashTable) open_of_pid =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  int64_t *self = g_new0 (int64_t, MAX (store->n_marks, 1));

  for (uint32_t i = 0; i < store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &store->marks[i];
      GArray *open = g_hash_table_lookup (open_of_pid, GINT_TO_POINTER (mark->pid));
      Open entry = { i, end_of (mark), mark->time };

      self[i] = MAX (mark->duration, 0);
      if (open == NULL)
        {
          open = g_array_new (FALSE, FALSE, sizeof (Open));
          g_hash_table_insert (open_of_pid, GINT_TO_POINTER (mark->pid), open);
        }
      enter (open, mark->time, entry.end, self);
      if (self[i] > 0 && open->len < MOST_OPEN)
        g_array_append_val (open, entry);
    }

  return self;
}
