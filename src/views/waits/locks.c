// SPDX-License-Identifier: GPL-3.0-or-later

/* Contended locks: how long threads waited for each, who held it, and who released it. */

#include "views/views.h"
#include "views/waits/selected-waits.h"

#include <string.h>

enum
{
  LOCK,
  PROCESS,
  PID,
  COUNT,
  TIME,
  MAX_,
  WAITERS,
  HOLDERS,
  WAKERS,
  N_COLUMNS,
};

static const Column columns[] = {
  [LOCK] = { "lock", "LOCK", COLUMN_TEXT },
  [PROCESS] = { "process", "PROCESS", COLUMN_TEXT },
  [PID] = { "pid", "PID", COLUMN_NUMBER },
  [COUNT] = { "count", "COUNT", COLUMN_COUNT },
  [TIME] = { "time", "TIME", COLUMN_DURATION },
  [MAX_] = { "max", "MAX", COLUMN_DURATION },
  [WAITERS] = { "waiters", "WAITERS", COLUMN_TEXTS },
  [HOLDERS] = { "holders", "HELD BY", COLUMN_TEXTS },
  [WAKERS] = { "wakers", "RELEASED BY", COLUMN_TEXTS, .is_long = true },
};

/* Roles of threads. */
enum
{
  WAITS,
  HOLDS,
  RELEASES,
  N_ROLES,
};

/* Time of a thread in one role, or of one wait. */
typedef struct
{
  uint64_t address;
  int32_t pid;
  uint32_t role;
  const char *name; /* equal names are the same pointer */
  int64_t time;
  uint64_t count;
  int64_t max;
} Part;

static int
compare_locks (const Part *a, const Part *b)
{
  if (a->pid != b->pid)
    return a->pid < b->pid ? -1 : 1;
  return (a->address > b->address) - (a->address < b->address);
}

static int
compare_parts (const void *left, const void *right, void *data)
{
  const Part *a = left, *b = right;
  int order = compare_locks (a, b);

  if (order != 0)
    return order;
  if (a->role != b->role)
    return a->role < b->role ? -1 : 1;
  return (a->name > b->name) - (a->name < b->name);
}

/* Merges parts with equal keys. */
static void
sum_up (GArray *parts)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < parts->len; i++)
    {
      const Part *part = &g_array_index (parts, Part, i);
      Part *last = n > 0 ? &g_array_index (parts, Part, n - 1) : NULL;

      if (last != NULL && compare_parts (last, part, NULL) == 0)
        {
          last->time = sysprof_time_sum (last->time, part->time);
          last->count += part->count;
          last->max = MAX (last->max, part->max);
        }
      else
        g_array_index (parts, Part, n++) = *part;
    }
  g_array_set_size (parts, n);
}

/* tid → 1 + last row of Waits.threads */
static GHashTable *
find_threads (const Waits *waits)
{
  GHashTable *of_tid = g_hash_table_new (NULL, NULL);

  for (uint32_t i = 0; i < waits->n_threads; i++)
    g_hash_table_insert (of_tid, GINT_TO_POINTER (waits->threads[i].tid),
                         GUINT_TO_POINTER (i + 1));
  return of_tid;
}

static const char *
name_of_holder (SelectedWaits *self, GHashTable *threads, GHashTable *strangers, int32_t tid)
{
  uint32_t thread = GPOINTER_TO_UINT (g_hash_table_lookup (threads, GINT_TO_POINTER (tid)));
  const char *name;

  if (thread != 0)
    return sysprof_selected_waits_thread (self, thread - 1);
  name = g_hash_table_lookup (strangers, GINT_TO_POINTER (tid));
  if (name == NULL)
    {
      g_autofree char *text = g_strdup_printf ("%d", tid);

      name = sysprof_rows_dup (self->rows, text);
      g_hash_table_insert (strangers, GINT_TO_POINTER (tid), (char *) name);
    }
  return name;
}

static GArray *
collect_parts (SelectedWaits *self)
{
  const Waits *waits = &self->request->store->waits;
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (Part));
  g_autoptr (GHashTable) threads = find_threads (waits);
  g_autoptr (GHashTable) strangers = g_hash_table_new (NULL, NULL);

  /* Both lists are ascending. */
  for (uint32_t i = 0, j = 0; i < self->n && j < waits->n_locks && sysprof_is_wanted_at (i);)
    {
      const WaitLock *lock = &waits->locks[j];
      uint32_t wait = self->found[i];
      const Wait *row = &waits->row[wait];
      Part part = { .address = lock->address, .pid = waits->events.pid[wait] };

      if (lock->wait != wait)
        {
          if (lock->wait < wait)
            j++;
          else
            i++;
          continue;
        }
      part.time = sysprof_selected_wait_waiting (self, wait);
      part.max = part.time / row->stands_for;
      part.count = row->stands_for;
      part.name = sysprof_selected_waits_thread (self, row->thread);
      g_array_append_val (parts, part);
      if (lock->holder != 0)
        {
          part.role = HOLDS;
          part.name = name_of_holder (self, threads, strangers, lock->holder);
          g_array_append_val (parts, part);
        }
      if (row->waker != 0)
        {
          part.role = RELEASES;
          part.name = sysprof_selected_waits_thread (self, row->waker - 1);
          g_array_append_val (parts, part);
        }
      i++;
      j++;
    }
  (void) sysprof_sort_if_wanted (parts->data, parts->len, sizeof (Part), compare_parts, NULL);
  sum_up (parts);
  return parts;
}

static int
compare_times (const void *left, const void *right, void *data)
{
  const Part *a = left, *b = right;

  if (a->time != b->time)
    return a->time < b->time ? 1 : -1;
  return strcmp (a->name, b->name);
}

/* Names of threads in one role, longest first. Sorts the parts. */
static const char *const *
take_names (Rows *rows, Part *parts, uint32_t n)
{
  const char **names = sysprof_arena_alloc (&rows->arena, (n + 1) * sizeof *names);

  (void) sysprof_sort_if_wanted (parts, n, sizeof *parts, compare_times, NULL);
  for (uint32_t i = 0; i < n; i++)
    names[i] = parts[i].name;
  names[n] = NULL;
  return names;
}

static uint64_t
add_row (SelectedWaits *self, Part *parts, uint32_t n)
{
  const Store *store = self->request->store;
  ProcessId process = sysprof_store_find_process (store, parts->pid);
  g_autofree char *address = g_strdup_printf ("0x%" G_GINT64_MODIFIER "x", parts->address);
  Cell *cells = sysprof_rows_add (self->rows);
  int64_t time = 0, max = 0;
  uint64_t count = 0;
  uint32_t from = 0;

  for (uint32_t i = 0; i < n && parts[i].role == WAITS; i++)
    {
      time = sysprof_time_sum (time, parts[i].time);
      max = MAX (max, parts[i].max);
      count += parts[i].count;
    }
  cells[LOCK].text = sysprof_rows_dup (self->rows, address);
  cells[PROCESS].text =
      process != 0 ? sysprof_store_string (store, store->processes.row[process].comm) : "";
  cells[PID].number = parts->pid;
  cells[COUNT].count = count;
  cells[TIME].number = time;
  cells[MAX_].number = max;
  for (uint32_t role = 0; role < N_ROLES; role++)
    {
      uint32_t end = from;

      while (end < n && parts[end].role == role)
        end++;
      cells[WAITERS + role].texts = take_names (self->rows, parts + from, end - from);
      from = end;
    }
  return (uint64_t) time;
}

void
sysprof_waits_fill_by_lock (SelectedWaits *self)
{
  g_autoptr (GArray) array = NULL;
  g_autoptr (GError) error = NULL;
  uint64_t total = 0;
  Part *parts;

  sysprof_rows_init (self->rows, columns, N_COLUMNS, 0);
  array = collect_parts (self);
  parts = (Part *) array->data;
  for (uint32_t i = 0, end; i < array->len && sysprof_is_wanted_at (i); i = end)
    {
      for (end = i + 1; end < array->len && compare_locks (&parts[i], &parts[end]) == 0; end++)
        ;
      total += add_row (self, &parts[i], end - i);
    }
  sysprof_selected_waits_name_rows (self, total);
  /* Cannot fail: the column exists, and the caller checks for cancellation. */
  (void) sysprof_rows_sort (self->rows, "time", &error);
}
