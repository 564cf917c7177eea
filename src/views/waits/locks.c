// SPDX-License-Identifier: GPL-3.0-or-later

/* Contended locks by name: how long threads waited for each and in which functions, and which
 * functions held it. Conditions, semaphores and barriers have rows, too. Waits for the end of a
 * thread do not. */

#include "text/text.h"
#include "views/views.h"
#include "views/waits/selected-waits.h"

#include <string.h>

#define MOST_LOCK_SIZE 64 /* bytes: a larger object contains more than a lock */

enum
{
  NAME,
  KIND,
  PROCESS,
  PID,
  COUNT,
  TIME,
  MAX_,
  LOCK,
  WAITING,
  HOLDING,
  SIGNALING,
  WAITERS,
  HOLDERS,
  WAKERS,
  N_COLUMNS,
};

static const Column columns[] = {
  [NAME] = { "name", "LOCK", COLUMN_TEXT },
  [KIND] = { "kind", "KIND", COLUMN_TEXT },
  [PROCESS] = { "process", "PROCESS", COLUMN_TEXT, .extra = 2 },
  [PID] = { "pid", "PID", COLUMN_NUMBER, .extra = 3 },
  [COUNT] = { "count", "COUNT", COLUMN_COUNT },
  [TIME] = { "time", "TIME", COLUMN_DURATION },
  [MAX_] = { "max", "MAX", COLUMN_DURATION, .extra = 1 },
  [LOCK] = { "lock", "ADDRESS", COLUMN_TEXT, .extra = 4 },
  [WAITING] = { "waiting-functions", "WAITED FOR IN", COLUMN_TEXTS },
  [HOLDING] = { "holding-functions", "HELD IN", COLUMN_TEXTS },
  [SIGNALING] = { "signaling-functions", "SIGNALED IN", COLUMN_TEXTS },
  [WAITERS] = { "waiters", "WAITERS", COLUMN_TEXTS, .json_only = true },
  [HOLDERS] = { "holders", "HELD BY", COLUMN_TEXTS },
  [WAKERS] = { "wakers", "RELEASED BY", COLUMN_TEXTS, .json_only = true },
};

/* By a part of the name of the function that waits. */
static const struct
{
  const char *part;
  const char *kind;
} kinds[] = {
  { "cond", "condition" },
  { "cnd_", "condition" },
  { "Cond", "condition" },
  { "shared_mutex", "rwlock" },
  { "shared_timed_mutex", "rwlock" },
  { "rwlock", "rwlock" },
  { "rw_lock", "rwlock" },
  { "RwLock", "rwlock" },
  { "barrier", "barrier" },
  { "sem_", "semaphore" },
  { "semaphore", "semaphore" },
  { "mutex", "mutex" },
  { "mtx_", "mutex" },
  { "Mutex", "mutex" },
};

#define KIND_UNKNOWN "futex"

/* Roles of functions and threads, in the order of the columns. */
enum
{
  WAITS_IN,
  HOLDS_IN,
  SIGNALS_IN,
  WAITS,
  HOLDS,
  RELEASES,
  N_ROLES,
};

/* Time of a function or thread in one role, or of one wait. */
typedef struct
{
  uint64_t address;
  int32_t pid;
  uint32_t role;
  const char *name; /* equal names are the same pointer */
  uint32_t first;   /* row of Waits.locks: the first wait */
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
          last->first = MIN (last->first, part->first);
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

/* Whether a thread holds it, in contrast to a condition and the like. */
static bool
is_held (const char *kind)
{
  return strcmp (kind, "mutex") == 0 || strcmp (kind, "rwlock") == 0 ||
         strcmp (kind, KIND_UNKNOWN) == 0;
}

/* A thread that waited for a condition then waits for the mutex, which has an owner. */
static const char *
kind_of_lock (SelectedWaits *self, const WaitLock *lock)
{
  const SymbolTable *symbols = self->request->symbols;
  const Callers *callers = sysprof_stack_callers_find (
      &self->callers, self->request->store->waits.events.stack[lock->wait]);
  const char *name =
      sysprof_symbol_name (symbols, callers->library != 0 ? callers->library : callers->callee);

  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strstr (name, kinds[i].part) != NULL)
      return lock->holder != 0 && !is_held (kinds[i].kind) ? "mutex" : kinds[i].kind;
  return KIND_UNKNOWN;
}

/* The function of the program, else the outermost one of a library; NULL = none. */
static const char *
name_of_function (SelectedWaits *self, StackId stack)
{
  const Callers *callers = sysprof_stack_callers_find (&self->callers, stack);
  SymbolId symbol = callers->callee != 0 ? callers->callee : callers->library;

  return symbol != 0 ? sysprof_symbol_name (self->request->symbols, symbol) : NULL;
}

static void
add_part (GArray *parts, const Part *wait, uint32_t role, const char *name)
{
  Part part = *wait;

  part.role = role;
  part.name = name;
  if (name != NULL)
    g_array_append_val (parts, part);
}

/* Whether an object contains nothing else. */
static bool
is_all_of_object (const SelectedWaits *self, const WaitLock *lock)
{
  const SymbolTable *symbols = self->request->symbols;

  return symbols->of_address[lock->data] != 0 &&
         symbols->function_end[lock->data] - symbols->function_start[lock->data] <=
             MOST_LOCK_SIZE;
}

/* The same for all words of one lock. The C library waits at two neighboring words of a
 * condition in turn. */
static uint64_t
address_of_lock (const SelectedWaits *self, const WaitLock *lock, const char *kind)
{
  if (is_all_of_object (self, lock))
    return self->request->symbols->function_start[lock->data];
  return strcmp (kind, "condition") == 0 ? lock->address & ~UINT64_C (7) : lock->address;
}

static void
add_parts (SelectedWaits *self,
           GArray *parts,
           uint32_t number,
           GHashTable *threads,
           GHashTable *strangers)
{
  const Waits *waits = &self->request->store->waits;
  const WaitLock *lock = &waits->locks[number];
  const Wait *row = &waits->row[lock->wait];
  const char *kind = kind_of_lock (self, lock);
  int64_t time = sysprof_selected_wait_waiting (self, lock->wait);
  Part part = { .address = address_of_lock (self, lock, kind),
                .pid = waits->events.pid[lock->wait],
                .first = number,
                .time = time,
                .count = row->stands_for,
                .max = time / row->stands_for };

  add_part (parts, &part, WAITS_IN, name_of_function (self, waits->events.stack[lock->wait]));
  add_part (parts, &part, WAITS, sysprof_selected_waits_thread (self, row->thread));
  if (lock->holder != 0)
    add_part (parts, &part, HOLDS, name_of_holder (self, threads, strangers, lock->holder));
  if (row->waker == 0)
    return;
  add_part (parts, &part, RELEASES, sysprof_selected_waits_thread (self, row->waker - 1));
  /* A thread that releases a lock held it in the same function, as a rule. */
  if (row->waker_stack != 0)
    add_part (parts, &part, is_held (kind) ? HOLDS_IN : SIGNALS_IN,
              name_of_function (self, row->waker_stack));
}

static GArray *
collect_parts (SelectedWaits *self)
{
  const Waits *waits = &self->request->store->waits;
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (Part));
  g_autoptr (GHashTable) threads = find_threads (waits);
  g_autoptr (GHashTable) strangers = g_hash_table_new (NULL, NULL);
  g_autofree uint8_t *joins = sysprof_selected_waits_find_joins (self);

  /* Both lists are ascending. */
  for (uint32_t i = 0, j = 0; i < self->n && j < waits->n_locks && sysprof_is_wanted_at (i);)
    if (waits->locks[j].wait < self->found[i])
      j++;
    else if (waits->locks[j].wait > self->found[i])
      i++;
    else
      {
        if (!joins[self->found[i]])
          add_parts (self, parts, j, threads, strangers);
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

/* "hot_lock", "table+0x40", or "first locked in append_record". */
static const char *
name_of_lock (SelectedWaits *self, const WaitLock *lock, const char *kind, const char *address)
{
  const SymbolTable *symbols = self->request->symbols;
  SymbolId symbol = symbols->of_address[lock->data];
  const char *function =
      name_of_function (self, self->request->store->waits.events.stack[lock->wait]);
  g_autofree char *name = NULL;
  g_autofree char *text = NULL;

  if (symbol == 0 && function == NULL)
    return address;
  name = sysprof_dup_one_line (symbol != 0 ? sysprof_symbol_name (symbols, symbol) : function);
  if (symbol != 0)
    {
      uint64_t offset = lock->address - symbols->function_start[lock->data];

      if (offset == 0 || is_all_of_object (self, lock))
        return sysprof_rows_dup (self->rows, name);
      text = g_strdup_printf ("%s+0x%" G_GINT64_MODIFIER "x", name, offset);
    }
  else
    text = g_strdup_printf ("first %s in %s", is_held (kind) ? "locked" : "waited for", name);
  return sysprof_rows_dup (self->rows, text);
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
  uint32_t from = 0, first = UINT32_MAX;
  const WaitLock *lock;

  for (uint32_t i = 0; i < n; i++)
    if (parts[i].role == WAITS)
      {
        time = sysprof_time_sum (time, parts[i].time);
        max = MAX (max, parts[i].max);
        count += parts[i].count;
        first = MIN (first, parts[i].first);
      }
  lock = &store->waits.locks[first];
  cells[KIND].text = kind_of_lock (self, lock);
  cells[LOCK].text = sysprof_rows_dup (self->rows, address);
  cells[NAME].text = name_of_lock (self, lock, cells[KIND].text, cells[LOCK].text);
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
      cells[WAITING + role].texts = take_names (self->rows, parts + from, end - from);
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
  if (self->n > 0 && self->rows->n_rows == 0)
    self->rows->note = "None of the selected threads waited for a lock.";
  /* Cannot fail: the column exists, and the caller checks for cancellation. */
  (void) sysprof_rows_sort (self->rows, "time", &error);
}
