// SPDX-License-Identifier: GPL-3.0-or-later

/* The sum of a critical path by thread, state and function.
 *
 * The time that a thread ran is shared out among its samples in that time. A thread that is
 * ready to run is in no function that matters. */

#include "text/text.h"
#include "views/waits/critical-path.h"

#include <string.h>

#define MOST_PROCESSES 4    /* in the sentence above the rows */
#define MOST_STATES    3    /* of the first of them */
#define LEAST_PART     0.01 /* of the path, to be in the sentence */

enum
{
  DURATION,
  PROCESS,
  PID,
  THREAD,
  TID,
  STATE,
  COUNT,
  FUNCTION,
  N_COLUMNS,
};

static const Column columns[] = {
  [DURATION] = { "duration", "DURATION", COLUMN_DURATION, .share = true },
  [PROCESS] = { "process", "PROCESS", COLUMN_TEXT },
  [PID] = { "pid", "PID", COLUMN_NUMBER, .extra = 2 },
  [THREAD] = { "thread", "THREAD", COLUMN_TEXT, .extra = 3 },
  [TID] = { "tid", "TID", COLUMN_NUMBER, .extra = 1 },
  [STATE] = { "state", "STATE", COLUMN_TEXT },
  [COUNT] = { "count", "STEPS", COLUMN_COUNT, .extra = 4 },
  [FUNCTION] = { "function", "FUNCTION", COLUMN_TEXT, .is_long = true },
};

typedef struct
{
  const PathStep *step; /* the first of them */
  Callers callers;
  int64_t time;
  uint64_t n_steps;
} Sum;

typedef struct
{
  SelectedWaits *selected;
  WaitGroups groups;   /* of the keys; group i is sum i */
  GArray *sums;        /* Sum */
  GHashTable *samples; /* tid → GArray of uint32_t: samples, in the order of time */
} PathSums;

/* `time` is that of one of the step's functions. */
static void
add_time (PathSums *self, const PathStep *step, const Callers *callers, int64_t time)
{
  const Waits *waits = &self->selected->request->store->waits;
  const Wait *wait = &waits->row[step->wait];
  uint32_t reason = step->state == PATH_RUNS ? 0 : wait->reason;
  bool is_call = step->state == PATH_WAITS && reason == OFF_CPU_SYSCALL;
  WaitKey key = { { step->thread, step->state,
                    step->state == PATH_COULD_RUN ? reason == OFF_CPU_PREEMPTED : reason,
                    is_call ? wait->syscall : 0, callers->library, callers->callee,
                    step->state == PATH_WAITS &&
                        self->selected->has_fence[waits->events.stack[step->wait]] } };
  uint32_t at = sysprof_wait_groups_find (&self->groups, &key);
  Sum *sum;

  if (at == self->sums->len)
    g_array_append_val (self->sums, ((Sum){ .step = step, .callers = *callers }));
  sum = &g_array_index (self->sums, Sum, at);
  sum->time += time;
  sum->n_steps++;
}

/* Lists the samples of the threads on the path. */
static void
find_samples (PathSums *self, const PathStep *steps, uint32_t n)
{
  const Store *store = self->selected->request->store;

  for (uint32_t i = 0; i < n; i++)
    {
      void *tid = GINT_TO_POINTER (store->waits.threads[steps[i].thread].tid);

      if (!g_hash_table_contains (self->samples, tid))
        g_hash_table_insert (self->samples, tid, g_array_new (FALSE, FALSE, sizeof (uint32_t)));
    }
  for (uint32_t i = 0; i < store->samples.n && sysprof_is_wanted_at (i); i++)
    {
      GArray *list =
          g_hash_table_lookup (self->samples, GINT_TO_POINTER (store->samples.tid[i]));

      if (list != NULL)
        g_array_append_val (list, i);
    }
}

/* Index in the list of the first sample that is not before `time`. */
static uint32_t
find_first (const Store *store, const GArray *list, int64_t time)
{
  uint32_t low = 0, high = list->len;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (store->samples.time[g_array_index (list, uint32_t, middle)] < time)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static void
add_running (PathSums *self, const PathStep *step)
{
  static const Callers none = { 0 };
  const Store *store = self->selected->request->store;
  int32_t tid = store->waits.threads[step->thread].tid;
  const GArray *list = g_hash_table_lookup (self->samples, GINT_TO_POINTER (tid));
  uint32_t first = find_first (store, list, step->begin);
  uint32_t n = find_first (store, list, step->end) - first;
  int64_t left = step->end - step->begin;

  for (uint32_t i = 0; i < n; i++)
    {
      StackId stack = store->samples.stack[g_array_index (list, uint32_t, first + i)];
      int64_t part = left / (n - i);

      add_time (self, step, sysprof_stack_callers_find (&self->selected->callers, stack), part);
      left -= part;
    }
  if (n == 0)
    add_time (self, step, &none, left);
}

static void
add_step (PathSums *self, const PathStep *step)
{
  static const Callers none = { 0 };
  StackId stack = self->selected->request->store->waits.events.stack[step->wait];

  if (step->state == PATH_RUNS)
    add_running (self, step);
  else
    add_time (self, step,
              step->state == PATH_WAITS
                  ? sysprof_stack_callers_find (&self->selected->callers, stack)
                  : &none,
              step->end - step->begin);
}

static int
compare_sums (const void *left, const void *right, void *data)
{
  const Sum *a = left, *b = right;

  if (a->time != b->time)
    return a->time < b->time ? 1 : -1;
  return (a->step > b->step) - (a->step < b->step);
}

static void
add_row (PathSums *self, const Sum *sum)
{
  const Store *store = self->selected->request->store;
  const WaitThread *thread = &store->waits.threads[sum->step->thread];
  g_autofree char *function =
      sysprof_dup_callers (&self->selected->callers, &sum->callers, false);
  Cell *cells = sysprof_rows_add (self->selected->rows);

  cells[DURATION].number = sum->time;
  cells[PROCESS].text =
      sysprof_store_string (store, store->processes.row[thread->process].comm);
  cells[PID].number = thread->pid;
  cells[THREAD].text = sysprof_store_string (store, thread->comm);
  cells[TID].number = thread->tid;
  cells[STATE].text = sysprof_path_step_state (self->selected, sum->step);
  cells[COUNT].count = sum->n_steps;
  cells[FUNCTION].text = sysprof_rows_dup (self->selected->rows, function);
}

/* --- the sentence above the rows --- */

typedef struct
{
  const char *name;
  int64_t time;
} Share;

static int
compare_shares (const void *left, const void *right, void *data)
{
  const Share *a = left, *b = right;

  if (a->time != b->time)
    return a->time < b->time ? 1 : -1;
  return strcmp (a->name, b->name);
}

/* Sums up the rows by the text of a column, longest first. `process`: only rows of processes of
 * that name; NULL = all. *(full)* */
static GArray *
share_out (const Rows *rows, size_t column, const char *process)
{
  GArray *shares = g_array_new (FALSE, FALSE, sizeof (Share));
  g_autoptr (GHashTable) of_name = g_hash_table_new (g_str_hash, g_str_equal);

  for (uint32_t i = 0; i < rows->n_rows; i++)
    {
      const Cell *cells = sysprof_rows_cells (rows, i);
      const char *name = cells[column].text;
      uint32_t at = GPOINTER_TO_UINT (g_hash_table_lookup (of_name, name));

      if (process != NULL && strcmp (cells[PROCESS].text, process) != 0)
        continue;
      if (at == 0)
        {
          g_array_append_val (shares, ((Share){ .name = name }));
          at = shares->len;
          g_hash_table_insert (of_name, (char *) name, GUINT_TO_POINTER (at));
        }
      g_array_index (shares, Share, at - 1).time += cells[DURATION].number;
    }
  (void) sysprof_sort_if_wanted (shares->data, shares->len, sizeof (Share), compare_shares,
                                 NULL);
  return shares;
}

static void
append_states (GString *text, const Rows *rows, const char *process)
{
  g_autoptr (GArray) states = share_out (rows, STATE, process);

  for (uint32_t i = 0; i < states->len && i < MOST_STATES; i++)
    {
      const Share *share = &g_array_index (states, Share, i);
      g_autofree char *time = sysprof_dup_duration (share->time);
      double part = (double) share->time / (double) rows->total;

      if (i > 0 && part < LEAST_PART)
        break;
      g_string_append_printf (text, "%s%s %s = %.0f %%", i > 0 ? ", " : " (", share->name, time,
                              100 * part);
    }
  g_string_append (text, ")");
}

/* "8.03 s: gzip 7.15 s (preempted 5.50 s = 68 %, running 1.65 s = 21 %), sort 0.47 s" */
static const char *
sum_up (Rows *rows)
{
  g_autoptr (GArray) processes = share_out (rows, PROCESS, NULL);
  g_autofree char *total = sysprof_dup_duration ((int64_t) rows->total);
  g_autoptr (GString) text = g_string_new (total);

  for (uint32_t i = 0; i < processes->len && i < MOST_PROCESSES; i++)
    {
      const Share *share = &g_array_index (processes, Share, i);
      g_autofree char *time = sysprof_dup_duration (share->time);

      if (i > 0 && (double) share->time < LEAST_PART * (double) rows->total)
        break;
      g_string_append_printf (text, "%s%s %s", i > 0 ? ", " : ": ", share->name, time);
      if (i == 0)
        append_states (text, rows, share->name);
    }
  return sysprof_rows_dup (rows, text->str);
}

void
sysprof_waits_fill_path_sums (SelectedWaits *selected, const PathStep *steps, uint32_t n)
{
  Rows *rows = selected->rows;
  PathSums self = { .selected = selected,
                    .sums = g_array_new (FALSE, FALSE, sizeof (Sum)),
                    .samples = g_hash_table_new_full (NULL, NULL, NULL,
                                                      (GDestroyNotify) g_array_unref) };
  uint64_t total = 0;

  sysprof_rows_init (rows, columns, N_COLUMNS, 0);
  sysprof_wait_groups_init (&self.groups);
  find_samples (&self, steps, n);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    add_step (&self, &steps[i]);
  (void) sysprof_sort_if_wanted (self.sums->data, self.sums->len, sizeof (Sum), compare_sums,
                                 NULL);
  for (uint32_t i = 0; i < self.sums->len && sysprof_is_wanted_at (i); i++)
    {
      const Sum *sum = &g_array_index (self.sums, Sum, i);

      add_row (&self, sum);
      total += (uint64_t) sum->time;
    }
  sysprof_selected_waits_name_rows (selected, total);
  if (rows->n_rows > 0)
    rows->lead = sum_up (rows);
  sysprof_wait_groups_clear (&self.groups);
  g_array_unref (self.sums);
  g_hash_table_unref (self.samples);
}
