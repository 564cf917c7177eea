// SPDX-License-Identifier: GPL-3.0-or-later

/* Waits by cause: what a process waited for, and the functions of the program that waited.
 *
 * Waits of a process have the same cause if they have the same reason, and if the same
 * function of the program called the same library function. Threads, wakers and the kernel's
 * functions may differ. Waits that rarely delay anything come last: a shell waits for its
 * child, a process for the other end of a pipe, a main thread for its threads, an event loop
 * for events. */

#include "views/stack-texts.h"
#include "views/waits/groups.h"

#include <string.h>

enum
{
  PROCESS,
  PID,
  THREAD,
  TID,
  REASON,
  COUNT,
  TIME,
  MAX_,
  RUNNABLE,
  WAKER,
  WAKERS,
  WAKER_STACK,
  IDLE,
  ERROR_,
  CAUSE,
  SYMBOL,
  STACK,
  N_COLUMNS,
};

static const Column columns[] = {
  [PROCESS] = { "process", "PROCESS", COLUMN_TEXT },
  [PID] = { "pid", "PID", COLUMN_NUMBER, .extra = 2 },
  [THREAD] = { "thread", "THREAD", COLUMN_TEXT, .json_only = true },
  [TID] = { "tid", "TID", COLUMN_NUMBER, .json_only = true },
  [REASON] = { "reason", "REASON", COLUMN_TEXT },
  [COUNT] = { "count", "COUNT", COLUMN_COUNT },
  [TIME] = { "time", "TIME", COLUMN_DURATION, .share = true },
  [MAX_] = { "max", "MAX", COLUMN_DURATION, .extra = 3 },
  [RUNNABLE] = { "runnable", "RUNNABLE", COLUMN_DURATION, .extra = 4 },
  [WAKER] = { "waker", "MOSTLY ENDED BY", COLUMN_TEXT, .extra = 1 },
  [WAKERS] = { "wakers", "WAKERS", COLUMN_COUNT, .extra = 5 },
  [WAKER_STACK] = { "waker-stack", "STACK OF THE WAKER", COLUMN_STACK, .json_only = true },
  [IDLE] = { "idle", "IDLE", COLUMN_BOOL, .json_only = true },
  [ERROR_] = { "error", "ERROR", COLUMN_DURATION, .json_only = true },
  [CAUSE] = { "cause", "CAUSE", COLUMN_TEXT, .is_long = true },
  [SYMBOL] = { "symbol", "FUNCTION", COLUMN_TEXT, .json_only = true },
  [STACK] = { "stack", "STACK (innermost first)", COLUMN_STACK, .json_only = true },
};

/* Functions of the kernel that wait for the other end of a pipe, or for a terminal. */
static const char *const stream_functions[] = {
  "pipe_read", "anon_pipe_read", "pipe_write", "anon_pipe_write", "n_tty_read",
};

/* The time that one waker ended of a cause. */
typedef struct
{
  uint32_t cause;
  const char *waker;
  int64_t time;
} Ending;

typedef struct
{
  SelectedWaits *selected;
  WaitGroups causes;
  GArray *endings;       /* Ending */
  uint8_t *is_join;      /* [waits.events.n] */
  uint8_t *is_in_stream; /* [stacks.n] */
} Causes;

static void
causes_init (Causes *self, SelectedWaits *selected)
{
  const Store *store = selected->request->store;
  const SymbolTable *symbols = selected->request->symbols;

  *self = (Causes){
    .selected = selected,
    .endings = g_array_new (FALSE, FALSE, sizeof (Ending)),
    .is_join = sysprof_selected_waits_find_joins (selected),
    .is_in_stream = sysprof_stacks_find_functions (store, symbols, stream_functions,
                                                   G_N_ELEMENTS (stream_functions), true),
  };
  sysprof_wait_groups_init (&self->causes);
}

static void
causes_clear (Causes *self)
{
  sysprof_wait_groups_clear (&self->causes);
  g_array_unref (self->endings);
  g_free (self->is_join);
  g_free (self->is_in_stream);
}

/* A thread is preempted anywhere. */
static Callers
callers_of_wait (const Causes *self, uint32_t wait)
{
  const Waits *waits = &self->selected->request->store->waits;

  return waits->row[wait].reason == OFF_CPU_PREEMPTED
             ? (Callers){ 0 }
             : *sysprof_stack_callers_find (&self->selected->callers,
                                            waits->events.stack[wait]);
}

static bool
has_no_events (const Causes *self, uint32_t wait)
{
  return self->selected->is_idle[wait] &&
         self->selected->request->store->waits.row[wait].reason != OFF_CPU_PREEMPTED;
}

static void
add_wait (Causes *self, uint32_t wait)
{
  const Waits *waits = &self->selected->request->store->waits;
  const Wait *row = &waits->row[wait];
  bool is_preempted = row->reason == OFF_CPU_PREEMPTED;
  Callers callers = callers_of_wait (self, wait);
  WaitKey key = { { waits->events.process[wait], row->reason,
                    row->reason == OFF_CPU_SYSCALL ? row->syscall : 0,
                    has_no_events (self, wait), callers.library, callers.callee,
                    callers.caller } };
  int64_t runnable = sysprof_selected_wait_runnable (self->selected, wait);
  int64_t time = is_preempted ? runnable : sysprof_selected_wait_waiting (self->selected, wait);
  WaitGroup *cause = sysprof_wait_groups_add (&self->causes, &key, row, wait, time);
  Ending ending = { .cause = (uint32_t) (cause - sysprof_wait_groups_get (&self->causes, 0)),
                    .waker = sysprof_selected_waits_waker (self->selected, wait),
                    .time = time };

  if (!is_preempted)
    cause->runnable = sysprof_time_sum (cause->runnable, runnable);
  g_array_append_val (self->endings, ending);
}

/* Whether such waits rarely delay anything. */
static bool
is_idle (const Causes *self, const WaitGroup *cause)
{
  const Waits *waits = &self->selected->request->store->waits;
  StackId stack = waits->events.stack[cause->wait];

  return has_no_events (self, cause->wait) || waits->row[cause->wait].reason == OFF_CPU_CHILD ||
         self->is_join[cause->wait] || self->is_in_stream[stack];
}

/* Rows of higher ranks come last: waits of the whole recording, then idle ones. */
static uint32_t
rank_of (const Causes *self, const WaitGroup *cause)
{
  const Store *store = self->selected->request->store;

  if (is_idle (self, cause))
    return 2;
  return cause->max > sysprof_time_between (store->begin, store->end) / 100 * 95;
}

typedef struct
{
  const WaitGroup *cause;
  uint32_t index;
  uint32_t rank;
} Row;

static int
compare_rows (const void *left, const void *right, void *data)
{
  const Row *a = left, *b = right;

  if (a->rank != b->rank)
    return a->rank > b->rank ? 1 : -1;
  if (a->cause->time != b->cause->time)
    return a->cause->time < b->cause->time ? 1 : -1;
  return (a->cause->wait > b->cause->wait) - (a->cause->wait < b->cause->wait);
}

static int
compare_endings (const void *left, const void *right, void *data)
{
  const Ending *a = left, *b = right;

  if (a->cause != b->cause)
    return a->cause < b->cause ? -1 : 1;
  return strcmp (a->waker, b->waker);
}

/* Sets the waker that ended most of each cause, and their number. */
static void
find_wakers (Causes *self, const char **waker, uint64_t *n_wakers)
{
  GArray *endings = self->endings;
  g_autofree int64_t *most = g_new0 (int64_t, MAX (self->causes.groups->len, 1));

  (void) sysprof_sort_if_wanted (endings->data, endings->len, sizeof (Ending), compare_endings,
                                 NULL);
  for (uint32_t i = 0, end; i < endings->len && sysprof_is_wanted_at (i); i = end)
    {
      const Ending *first = &g_array_index (endings, Ending, i);
      int64_t time = 0;

      for (end = i; end < endings->len &&
                    compare_endings (first, &g_array_index (endings, Ending, end), NULL) == 0;
           end++)
        time = sysprof_time_sum (time, g_array_index (endings, Ending, end).time);
      n_wakers[first->cause] += first->waker[0] != '\0';
      if (time > most[first->cause] || waker[first->cause] == NULL)
        {
          most[first->cause] = time;
          waker[first->cause] = first->waker;
        }
    }
}

static void
add_row (Causes *self,
         StackTexts *texts,
         const WaitGroup *cause,
         const char *waker,
         uint64_t n_wakers)
{
  static const StackText none = { 0 };
  SelectedWaits *selected = self->selected;
  const Store *store = selected->request->store;
  const Wait *wait = &store->waits.row[cause->wait];
  const WaitThread *thread = &store->waits.threads[wait->thread];
  ProcessId process = store->waits.events.process[cause->wait];
  Callers callers = callers_of_wait (self, cause->wait);
  g_autofree char *text = sysprof_dup_callers (&selected->callers, &callers, true);
  Cell *cells = sysprof_rows_add (selected->rows);

  cells[PROCESS].text = sysprof_store_string (store, store->processes.row[process].comm);
  cells[PID].number = thread->pid;
  cells[THREAD].text = sysprof_store_string (store, thread->comm);
  cells[TID].number = thread->tid;
  cells[REASON].text = sysprof_selected_waits_reason (selected, cause->wait);
  cells[COUNT].count = cause->count;
  cells[TIME].number = cause->time;
  cells[MAX_].number = cause->max;
  cells[RUNNABLE].number = cause->runnable;
  cells[WAKER].text = waker != NULL ? waker : "";
  cells[WAKERS].count = n_wakers;
  cells[WAKER_STACK].stack =
      wait->waker_stack != 0 ? sysprof_stack_texts_get (texts, wait->waker_stack) : &none;
  cells[IDLE].flag = is_idle (self, cause);
  cells[ERROR_].number = sysprof_wait_group_error (cause);
  cells[CAUSE].text = sysprof_rows_dup (selected->rows, text);
  cells[SYMBOL].text = callers.callee != 0
                           ? sysprof_symbol_name (selected->request->symbols, callers.callee)
                           : "";
  cells[STACK].stack = sysprof_stack_texts_get (texts, store->waits.events.stack[cause->wait]);
}

static void
add_rows (Causes *self)
{
  uint32_t n = self->causes.groups->len;
  g_autofree Row *rows = g_new0 (Row, MAX (n, 1));
  g_autofree const char **waker = g_new0 (const char *, MAX (n, 1));
  g_autofree uint64_t *n_wakers = g_new0 (uint64_t, MAX (n, 1));
  uint64_t total = 0;
  StackTexts texts;

  find_wakers (self, waker, n_wakers);
  for (uint32_t i = 0; i < n; i++)
    {
      const WaitGroup *cause = sysprof_wait_groups_get (&self->causes, i);

      rows[i] = (Row){ cause, i, rank_of (self, cause) };
    }
  (void) sysprof_sort_if_wanted (rows, n, sizeof *rows, compare_rows, NULL);
  sysprof_stack_texts_init (&texts, self->selected->request, self->selected->rows);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      add_row (self, &texts, rows[i].cause, waker[rows[i].index], n_wakers[rows[i].index]);
      total += (uint64_t) rows[i].cause->time;
    }
  sysprof_selected_waits_name_rows (self->selected, total);
  sysprof_stack_texts_clear (&texts);
}

void
sysprof_waits_fill_by_cause (SelectedWaits *selected)
{
  Causes self;

  sysprof_rows_init (selected->rows, columns, N_COLUMNS, 0);
  causes_init (&self, selected);
  for (uint32_t i = 0; i < selected->n && sysprof_is_wanted_at (i); i++)
    add_wait (&self, selected->found[i]);
  add_rows (&self);
  causes_clear (&self);
}
