// SPDX-License-Identifier: GPL-3.0-or-later

/* How long each mark lasted without the marks within it.
 *
 * Marks of one process nest where one lies within the other; which thread they are of, no capture tells. Marks are
 * sorted by begin, the longer first, so what a mark lies in was seen before it. */

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

/* The innermost one that holds all of a mark; NULL if none does. */
static Open *
find_parent (GArray *open, int64_t end)
{
  for (guint i = open->len; i > 0 && open->len - i < MOST_OPEN; i--)
    {
      Open *candidate = &g_array_index (open, Open, i - 1);

      if (candidate->end >= end)
        return candidate;
    }
  return NULL;
}

static void
take_from_parent (Open *parent, int64_t begin, int64_t end, int64_t *self)
{
  begin = MAX (begin, parent->covered_until);
  if (end <= begin)
    return;
  self[parent->mark] -= end - begin;
  parent->covered_until = end;
}

int64_t *
sysprof_marks_find_self (const Store *store)
{
  g_autoptr (GHashTable) open_of_pid =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  int64_t *self = g_new (int64_t, MAX (store->n_marks, 1));

  for (uint32_t i = 0; i < store->n_marks; i++)
    {
      const Mark *mark = &store->marks[i];
      GArray *open = g_hash_table_lookup (open_of_pid, GINT_TO_POINTER (mark->pid));
      Open entry = { i, end_of (mark), mark->time };
      Open *parent;

      self[i] = MAX (mark->duration, 0);
      if (open == NULL)
        {
          open = g_array_new (FALSE, FALSE, sizeof (Open));
          g_hash_table_insert (open_of_pid, GINT_TO_POINTER (mark->pid), open);
        }
      while (open->len > 0 && g_array_index (open, Open, open->len - 1).end <= mark->time)
        g_array_set_size (open, open->len - 1);
      parent = find_parent (open, entry.end);
      if (parent != NULL)
        take_from_parent (parent, mark->time, entry.end, self);
      if (self[i] > 0)
        g_array_append_val (open, entry);
    }

  return self;
}
