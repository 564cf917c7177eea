// SPDX-License-Identifier: GPL-3.0-or-later

/* The critical path: what delayed a thread.
 *
 * The path is followed backwards from the end. While the thread ran, the time is its own.
 * While it waited, the time belongs to the thread that woke it, back from the wake-up: the
 * time that thread ran, and its own waits. A wait that no thread ended (timer, device,
 * scheduler) is on the path itself. So each moment has exactly one row. */

#include "views/waits/critical-path.h"
#include "views/stack-texts.h"

enum
{
  TIME,
  DURATION,
  PROCESS,
  PID,
  THREAD,
  TID,
  STATE,
  WAKES,
  IDLE,
  STACK,
  N_COLUMNS,
};

static const Column columns[] = {
  [TIME] = { "time", "TIME", COLUMN_TIME },
  [DURATION] = { "duration", "DURATION", COLUMN_DURATION },
  [PROCESS] = { "process", "PROCESS", COLUMN_TEXT },
  [PID] = { "pid", "PID", COLUMN_NUMBER, .extra = 2 },
  [THREAD] = { "thread", "THREAD", COLUMN_TEXT, .extra = 3 },
  [TID] = { "tid", "TID", COLUMN_NUMBER },
  [STATE] = { "state", "STATE", COLUMN_TEXT },
  [WAKES] = { "wakes", "WAKES", COLUMN_TEXT },
  [IDLE] = { "idle", "IDLE", COLUMN_BOOL, .json_only = true },
  [STACK] = { "stack", "STACK (innermost first)", COLUMN_STACK, .is_long = true },
};

/* Work of devices and timers that the kernel does in whatever thread is running. Work for the
 * network is not among them: it is that of the thread which sends to another one here. */
static const char *const device_functions[] = {
  "blk_done_softirq", "run_timer_softirq", "hrtimer_run_softirq", "tasklet_action",
  "rcu_core",         "rcu_core_si",       "irq_exit_rcu",        "irq_exit",
};

typedef struct
{
  SelectedWaits *selected;
  const Waits *waits;
  uint32_t *of_row; /* [n_threads of Waits] index of the thread */
  uint32_t *row;    /* [n] its last row in Waits.threads */
  uint32_t *begin;  /* [n + 1] first index in `wait` */
  uint32_t *wait;   /* [events.n] by thread, then by time */
  /* [events.n] each wait is used once, so that damaged files cannot cause loops */
  uint8_t *is_used;
  uint8_t *is_of_device; /* [stacks.n] */
  uint32_t n;
  GArray *steps; /* PathStep, the last one first */
} Path;

static void
path_clear (Path *self)
{
  g_free (self->of_row);
  g_free (self->row);
  g_free (self->begin);
  g_free (self->wait);
  g_free (self->is_used);
  g_free (self->is_of_device);
  g_array_unref (self->steps);
}

static void
number_threads (Path *self)
{
  g_autoptr (GHashTable) of_id =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  uint32_t n_rows = self->waits->n_threads;

  self->of_row = g_new0 (uint32_t, MAX (n_rows, 1));
  self->row = g_new0 (uint32_t, MAX (n_rows, 1));
  for (uint32_t i = 0; i < n_rows && sysprof_is_wanted_at (i); i++)
    {
      const WaitThread *thread = &self->waits->threads[i];
      int64_t id = (int64_t) thread->pid << 32 | thread->tid;
      uint32_t known = GPOINTER_TO_UINT (g_hash_table_lookup (of_id, &id));

      if (known == 0)
        {
          known = ++self->n;
          g_hash_table_insert (of_id, g_memdup2 (&id, sizeof id), GUINT_TO_POINTER (known));
        }
      self->of_row[i] = known - 1;
      self->row[known - 1] = i;
    }
}

static void
path_init (Path *self, SelectedWaits *selected)
{
  uint32_t n;

  *self = (Path){ .selected = selected, .waits = &selected->request->store->waits };
  n = self->waits->events.n;
  self->steps = g_array_new (FALSE, FALSE, sizeof (PathStep));
  self->is_used = g_new0 (uint8_t, MAX (n, 1));
  self->wait = g_new0 (uint32_t, MAX (n, 1));
  self->is_of_device =
      sysprof_stacks_find_functions (selected->request->store, selected->request->symbols,
                                     device_functions, G_N_ELEMENTS (device_functions), true);
  number_threads (self);
  self->n = MAX (self->n, 1); /* if canceled, all threads have index 0 */
  self->begin = g_new0 (uint32_t, self->n + 2);
  /* Count sort, as in processes.c. */
  for (uint32_t i = 0; i < n; i++)
    self->begin[self->of_row[self->waits->row[i].thread] + 2]++;
  for (uint32_t i = 2; i < self->n + 2; i++)
    self->begin[i] += self->begin[i - 1];
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    self->wait[self->begin[self->of_row[self->waits->row[i].thread] + 1]++] = i;
}

/* 1 + the last wait that began before `time`; 0 = none. */
static uint32_t
find_wait_before (const Path *self, uint32_t thread, int64_t time)
{
  uint32_t low = self->begin[thread], high = self->begin[thread + 1];

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (self->waits->events.time[self->wait[middle]] < time)
        low = middle + 1;
      else
        high = middle;
    }
  return low > self->begin[thread] ? 1 + self->wait[low - 1] : 0;
}

static bool
runs_at (const Path *self, uint32_t thread, int64_t time)
{
  uint32_t wait = find_wait_before (self, thread, time);

  return wait == 0 || sysprof_wait_end (self->waits, wait - 1) <= time;
}

static void
add_step (Path *self, const PathStep *step, int64_t first)
{
  PathStep clipped = *step;

  clipped.begin = MAX (clipped.begin, first);
  clipped.thread = self->row[step->thread];
  if (clipped.end > clipped.begin)
    g_array_append_val (self->steps, clipped);
}

/* Whether the thread is one of the kernel that slept until an interrupt had work for it. It
 * woke another one on behalf of a device, and what it did before is unrelated. */
static bool
acts_for_device (const Path *self, uint32_t thread, int64_t time)
{
  uint32_t found = find_wait_before (self, thread, time);

  return found != 0 && self->selected->is_idle[found - 1] &&
         self->waits->row[found - 1].reason != OFF_CPU_SYSCALL &&
         self->waits->row[found - 1].waker == 0;
}

/* Finds the thread that the wait of `thread` depended on. A thread that was off the CPU at that
 * time was only interrupted. */
static bool
find_waker (const Path *self, uint32_t wait, uint32_t thread, int64_t woken, uint32_t *waker)
{
  const Wait *row = &self->waits->row[wait];

  if (row->waker == 0 || (row->flags & OFF_CPU_GOES_ON) != 0 ||
      self->is_of_device[row->waker_stack])
    return false;
  *waker = self->of_row[row->waker - 1];
  return *waker != thread && runs_at (self, *waker, woken) &&
         !acts_for_device (self, *waker, woken);
}

/* Follows the path from `end` back to `first`. */
static void
follow (Path *self, uint32_t thread, int64_t first, int64_t end)
{
  const Waits *waits = self->waits;
  uint32_t wakes = 0;

  for (uint64_t n_steps = 0; end > first && sysprof_is_wanted_at (n_steps); n_steps++)
    {
      uint32_t found = find_wait_before (self, thread, end), wait = found - 1, waker;
      int64_t back, woken;

      if (found == 0 || self->is_used[wait])
        {
          add_step (self, &(PathStep){ first, end, thread, PATH_RUNS, 0, wakes }, first);
          return;
        }

      self->is_used[wait] = 1;
      back = MIN (sysprof_wait_end (waits, wait), end);
      woken = MIN (sysprof_wait_woken_at (waits, wait), back);
      add_step (self, &(PathStep){ back, end, thread, PATH_RUNS, 0, wakes }, first);
      add_step (self, &(PathStep){ woken, back, thread, PATH_COULD_RUN, wait, 0 }, first);
      if (find_waker (self, wait, thread, woken, &waker))
        {
          thread = waker;
          end = woken;
          wakes = found;
          continue;
        }
      add_step (self,
                &(PathStep){ waits->events.time[wait], woken, thread, PATH_WAITS, wait, 0 },
                first);
      end = waits->events.time[wait];
      wakes = 0;
    }
}

const char *
sysprof_path_step_state (SelectedWaits *self, const PathStep *step)
{
  const Waits *waits = &self->request->store->waits;

  if (step->state == PATH_RUNS)
    return "running";
  if (step->state == PATH_COULD_RUN && waits->row[step->wait].reason != OFF_CPU_PREEMPTED)
    return "runnable";
  return sysprof_selected_waits_reason (self, step->wait);
}

static void
add_row (Path *self, StackTexts *texts, const PathStep *step)
{
  static const StackText none = { 0 };
  const ViewRequest *request = self->selected->request;
  const Store *store = request->store;
  const WaitThread *thread = &self->waits->threads[step->thread];
  Cell *cells = sysprof_rows_add (self->selected->rows);
  StackId stack = step->wakes != 0 ? self->waits->row[step->wakes - 1].waker_stack : 0;

  if (step->state != PATH_RUNS)
    stack = self->waits->events.stack[step->wait];
  cells[TIME].number = sysprof_request_offset (request, step->begin);
  cells[DURATION].number = step->end - step->begin;
  cells[PROCESS].text =
      sysprof_store_string (store, store->processes.row[thread->process].comm);
  cells[PID].number = thread->pid;
  cells[THREAD].text = sysprof_store_string (store, thread->comm);
  cells[TID].number = thread->tid;
  cells[STATE].text = sysprof_path_step_state (self->selected, step);
  if (step->wakes != 0)
    cells[WAKES].text = sysprof_selected_waits_thread (
        self->selected, self->waits->row[step->wakes - 1].thread);
  cells[IDLE].flag = step->state == PATH_WAITS && self->selected->is_idle[step->wait] != 0;
  cells[STACK].stack = stack != 0 ? sysprof_stack_texts_get (texts, stack) : &none;
}

/* Chooses the main thread of the process that waited most in the selection, or that
 * process's thread that waited most. */
static bool
choose_thread (const Path *self, uint32_t *thread)
{
  const SelectedWaits *selected = self->selected;
  g_autofree int64_t *time = g_new0 (int64_t, self->n + 1);
  uint32_t best = UINT32_MAX;
  bool best_is_main = false;

  for (uint32_t i = 0; i < selected->n && sysprof_is_wanted_at (i); i++)
    {
      uint32_t number = self->of_row[self->waits->row[selected->found[i]].thread];
      const WaitThread *row = &self->waits->threads[self->row[number]];
      bool is_main = row->tid == row->pid;

      time[number] = sysprof_time_sum (
          time[number], 1 + sysprof_selected_wait_waiting (selected, selected->found[i]));
      if (best == UINT32_MAX || (is_main && !best_is_main) ||
          (is_main == best_is_main && time[number] > time[best]))
        {
          best = number;
          best_is_main = is_main;
        }
    }
  *thread = best;
  return best != UINT32_MAX;
}

/* In the order of time. */
static void
fill_steps (Path *self)
{
  SelectedWaits *selected = self->selected;
  uint64_t total = 0;
  StackTexts texts;

  sysprof_rows_init (selected->rows, columns, N_COLUMNS, 0);
  sysprof_stack_texts_init (&texts, selected->request, selected->rows);
  for (uint32_t i = self->steps->len; i-- > 0 && sysprof_is_wanted_at (i);)
    {
      const PathStep *step = &g_array_index (self->steps, PathStep, i);

      add_row (self, &texts, step);
      total += (uint64_t) (step->end - step->begin);
    }
  sysprof_selected_waits_name_rows (selected, total);
  sysprof_stack_texts_clear (&texts);
}

bool
sysprof_waits_fill_path (SelectedWaits *self, GError **error)
{
  const ViewRequest *request = self->request;
  const Store *store = request->store;
  const SampleFilter *filter = request->filter;
  uint32_t thread;
  Path path;

  if (store->waits.events.n > 0 &&
      (filter == NULL || (!filter->has_processes && !filter->has_tids)))
    {
      g_set_error (
          error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "waits --critical-path: select with --command, --process or --thread; the view "
          "'waits --by-thread' lists threads that waited.");
      return false;
    }

  path_init (&path, self);
  if (self->clip.n > 0 && choose_thread (&path, &thread))
    {
      const Process *process =
          &store->processes.row[path.waits->threads[path.row[thread]].process];
      int64_t first = MAX (self->clip.ranges[0].begin, store->begin);
      int64_t end = MIN (self->clip.ranges[self->clip.n - 1].end, process->end);

      follow (&path, thread, MAX (first, process->start), end);
    }
  if (sysprof_request_has (request, "details"))
    fill_steps (&path);
  else
    sysprof_waits_fill_path_sums (self, (const PathStep *) path.steps->data, path.steps->len);
  self->rows->weight_name = "path";
  path_clear (&path);
  return true;
}
