// SPDX-License-Identifier: GPL-3.0-or-later

/* Waits by cause: what a process waited for, and the functions of the program that waited.
 *
 * Waits of a process have the same cause if they have the same reason, and if the same
 * function of the program called the same library function. Threads, wakers and the kernel's
 * functions may differ. Waits that rarely delay anything come last: a shell waits for its
 * child, a process for the other end of a pipe, a main thread for its threads, an event loop
 * for events. */

#include "text/text.h"
#include "views/stack-texts.h"
#include "views/waits/selected-waits.h"

#include <math.h>
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

/* Libraries and functions whose callers are more interesting. */
static const char *const runtime_binaries[] = {
  "libc.so", "libc-2.", "libpthread", "ld-linux", "ld-musl", "libc.musl", "libstdc++", "[vdso]",
};
static const char *const joining_functions[] = {
  "pthread_join", "__pthread_join", "__pthread_clockjoin_ex", "std::thread::join", "thrd_join",
};
/* Functions of the kernel that wait for the other end of a pipe, or for a terminal. */
static const char *const stream_functions[] = {
  "pipe_read", "anon_pipe_read", "pipe_write", "anon_pipe_write", "n_tty_read",
};

/* The callers of the kernel that name a cause; 0 = none. */
typedef struct
{
  SymbolId library; /* the outermost runtime function that the program called */
  SymbolId callee;  /* the function of the program that called it */
  SymbolId caller;  /* the caller of that */
} Callers;

typedef struct
{
  uint32_t process;
  uint32_t syscall;
  Callers callers;
  uint32_t reason; /* OffCpuReason */
  uint32_t is_idle;
} Key;

typedef struct
{
  Key key;
  uint32_t longest; /* its longest wait */
  uint32_t rank;    /* rows of higher ranks come last */
  uint64_t count;
  int64_t time;
  int64_t max;
  int64_t runnable;
  double variance; /* ns², because some waits represent several */
} Cause;

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
  const SymbolTable *symbols;
  GArray *causes;        /* Cause */
  GArray *endings;       /* Ending */
  GHashTable *of_key;    /* Key → 1 + index of the cause */
  Callers *of_stack;     /* [stacks.n] found on demand */
  uint8_t *has_callers;  /* [stacks.n] */
  uint8_t *is_runtime;   /* [symbols->n] 0 = unknown, 1 = no, 2 = yes */
  uint8_t *joins;        /* [stacks.n] */
  uint8_t *is_in_stream; /* [stacks.n] */
} Causes;

static guint
hash_key (const void *data)
{
  const uint32_t *words = data;
  uint64_t hash = 0;

  for (size_t i = 0; i < sizeof (Key) / sizeof *words; i++)
    {
      hash = (hash ^ words[i]) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
      hash ^= hash >> 32;
    }
  return (guint) hash;
}

static gboolean
is_same_key (const void *a, const void *b)
{
  return memcmp (a, b, sizeof (Key)) == 0;
}

static void
causes_init (Causes *self, SelectedWaits *selected)
{
  const Store *store = selected->request->store;
  const SymbolTable *symbols = selected->request->symbols;

  *self = (Causes){
    .selected = selected,
    .symbols = symbols,
    .causes = g_array_new (FALSE, FALSE, sizeof (Cause)),
    .endings = g_array_new (FALSE, FALSE, sizeof (Ending)),
    .of_key = g_hash_table_new_full (hash_key, is_same_key, g_free, NULL),
    .of_stack = g_new0 (Callers, MAX (store->stacks.n, 1)),
    .has_callers = g_new0 (uint8_t, MAX (store->stacks.n, 1)),
    .is_runtime = g_new0 (uint8_t, MAX (symbols->n, 1)),
    .joins = sysprof_stacks_find_functions (store, symbols, joining_functions,
                                            G_N_ELEMENTS (joining_functions), false),
    .is_in_stream = sysprof_stacks_find_functions (store, symbols, stream_functions,
                                                   G_N_ELEMENTS (stream_functions), true),
  };
}

static void
causes_clear (Causes *self)
{
  g_array_unref (self->causes);
  g_array_unref (self->endings);
  g_hash_table_unref (self->of_key);
  g_free (self->of_stack);
  g_free (self->has_callers);
  g_free (self->is_runtime);
  g_free (self->joins);
  g_free (self->is_in_stream);
}

static bool
is_runtime (Causes *self, SymbolId symbol)
{
  uint8_t *state = &self->is_runtime[symbol];
  const char *binary;
  bool is_one;

  if (*state != 0)
    return *state == 2;

  binary = sysprof_symbol_binary (self->symbols, symbol);
  is_one =
      g_str_has_prefix (sysprof_symbol_name (self->symbols, symbol), "runtime."); /* Go's */
  for (size_t i = 0; i < G_N_ELEMENTS (runtime_binaries); i++)
    is_one |= g_str_has_prefix (binary, runtime_binaries[i]);
  *state = is_one ? 2 : 1;
  return is_one;
}

/* If the program has no function on the stack, `callee` is the outermost one. */
static Callers
find_callers (Causes *self, StackId stack)
{
  const Store *store = self->selected->request->store;
  Callers callers = { 0 };

  for (StackId at = stack; store->stacks.depth[at] > 0; at = store->stacks.parent[at])
    {
      SymbolId symbol = self->symbols->of_address[store->stacks.address[at]];
      uint8_t kind = self->symbols->row[symbol].kind;

      if (kind != SYMBOL_USER && kind != SYMBOL_INLINE && kind != SYMBOL_JIT)
        continue;
      if (callers.callee == 0 && is_runtime (self, symbol))
        callers.library = symbol;
      else if (callers.callee == 0)
        callers.callee = symbol;
      else if (symbol != callers.callee && !is_runtime (self, symbol))
        {
          callers.caller = symbol;
          break;
        }
    }
  return callers;
}

static const Callers *
callers_of_stack (Causes *self, StackId stack)
{
  if (!self->has_callers[stack])
    {
      self->of_stack[stack] = find_callers (self, stack);
      self->has_callers[stack] = 1;
    }
  return &self->of_stack[stack];
}

static Cause *
find_cause (Causes *self, const Key *key, uint32_t *index)
{
  uint32_t found = GPOINTER_TO_UINT (g_hash_table_lookup (self->of_key, key));

  if (found == 0)
    {
      Cause fresh = { .key = *key };

      g_array_append_val (self->causes, fresh);
      found = self->causes->len;
      g_hash_table_insert (self->of_key, g_memdup2 (key, sizeof *key),
                           GUINT_TO_POINTER (found));
    }
  *index = found - 1;
  return &g_array_index (self->causes, Cause, found - 1);
}

static void
add_wait (Causes *self, uint32_t wait)
{
  const Waits *waits = &self->selected->request->store->waits;
  const Wait *row = &waits->row[wait];
  bool is_preempted = row->reason == OFF_CPU_PREEMPTED;
  int64_t runnable = sysprof_selected_wait_runnable (self->selected, wait);
  int64_t time = is_preempted ? runnable : sysprof_selected_wait_waiting (self->selected, wait);
  Ending ending = { .waker = sysprof_selected_waits_waker (self->selected, wait),
                    .time = time };
  double each = (double) time / row->stands_for;
  Cause *cause;
  Key key;

  memset (&key, 0, sizeof key); /* hashed as a whole */
  key.process = waits->events.process[wait];
  key.reason = row->reason;
  key.syscall = row->reason == OFF_CPU_SYSCALL ? row->syscall : 0;
  key.is_idle = !is_preempted && self->selected->is_idle[wait];
  if (!is_preempted) /* a thread is preempted anywhere */
    key.callers = *callers_of_stack (self, waits->events.stack[wait]);

  cause = find_cause (self, &key, &ending.cause);
  if (cause->count == 0 || time / row->stands_for > cause->max)
    {
      cause->longest = wait;
      cause->max = time / row->stands_for;
    }
  cause->count += row->stands_for;
  cause->time = sysprof_time_sum (cause->time, time);
  if (!is_preempted)
    cause->runnable = sysprof_time_sum (cause->runnable, runnable);
  /* Each wait was recorded with a probability of 1 / stands_for. */
  cause->variance += each * each * row->stands_for * (row->stands_for - 1);
  g_array_append_val (self->endings, ending);
}

/* Whether such waits rarely delay anything. */
static bool
is_idle (const Causes *self, const Cause *cause)
{
  StackId stack = self->selected->request->store->waits.events.stack[cause->longest];

  return cause->key.is_idle || cause->key.reason == OFF_CPU_CHILD || self->joins[stack] ||
         self->is_in_stream[stack];
}

/* Rows of higher ranks come last: waits of the whole recording, then idle ones. */
static uint32_t
rank_of (const Causes *self, const Cause *cause)
{
  const Store *store = self->selected->request->store;

  if (is_idle (self, cause))
    return 2;
  return cause->max > sysprof_time_between (store->begin, store->end) / 100 * 95;
}

static int
compare_causes (const void *left, const void *right, void *data)
{
  const GArray *causes = data;
  const Cause *a = &g_array_index (causes, Cause, *(const uint32_t *) left);
  const Cause *b = &g_array_index (causes, Cause, *(const uint32_t *) right);

  if (a->rank != b->rank)
    return a->rank > b->rank ? 1 : -1;
  if (a->time != b->time)
    return a->time < b->time ? 1 : -1;
  return (a->longest > b->longest) - (a->longest < b->longest);
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
  g_autofree int64_t *most = g_new0 (int64_t, MAX (self->causes->len, 1));

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

/* "fsync < append_record < main"; the kernel's function if the program has none. *(full)* */
static char *
dup_cause (const Causes *self, const Cause *cause)
{
  const Callers *callers = &cause->key.callers;
  const SymbolId parts[] = { callers->library, callers->callee, callers->caller };
  GString *text = g_string_new (NULL);

  for (size_t i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i] != 0)
      {
        g_autofree char *name =
            sysprof_dup_one_line (sysprof_symbol_name (self->symbols, parts[i]));

        g_string_append_printf (text, "%s%s", text->len > 0 ? " < " : "", name);
      }
  return g_string_free (text, FALSE);
}

static void
add_row (Causes *self,
         StackTexts *texts,
         const Cause *cause,
         const char *waker,
         uint64_t n_wakers)
{
  static const StackText none = { 0 };
  SelectedWaits *selected = self->selected;
  const Store *store = selected->request->store;
  const Wait *wait = &store->waits.row[cause->longest];
  const WaitThread *thread = &store->waits.threads[wait->thread];
  Cell *cells = sysprof_rows_add (selected->rows);
  g_autofree char *text = dup_cause (self, cause);

  cells[PROCESS].text =
      sysprof_store_string (store, store->processes.row[cause->key.process].comm);
  cells[PID].number = thread->pid;
  cells[THREAD].text = sysprof_store_string (store, thread->comm);
  cells[TID].number = thread->tid;
  cells[REASON].text = sysprof_selected_waits_reason (selected, cause->longest);
  cells[COUNT].count = cause->count;
  cells[TIME].number = cause->time;
  cells[MAX_].number = cause->max;
  cells[RUNNABLE].number = cause->runnable;
  cells[WAKER].text = waker != NULL ? waker : "";
  cells[WAKERS].count = n_wakers;
  cells[WAKER_STACK].stack =
      wait->waker_stack != 0 ? sysprof_stack_texts_get (texts, wait->waker_stack) : &none;
  cells[IDLE].flag = is_idle (self, cause);
  cells[ERROR_].number = (int64_t) fmin (1.96 * sqrt (cause->variance), 0x1p62);
  cells[CAUSE].text = sysprof_rows_dup (selected->rows, text);
  cells[SYMBOL].text = cause->key.callers.callee != 0
                           ? sysprof_symbol_name (self->symbols, cause->key.callers.callee)
                           : "";
  cells[STACK].stack =
      sysprof_stack_texts_get (texts, store->waits.events.stack[cause->longest]);
}

static void
add_rows (Causes *self)
{
  uint32_t n = self->causes->len;
  g_autofree uint32_t *order = g_new0 (uint32_t, MAX (n, 1));
  g_autofree const char **waker = g_new0 (const char *, MAX (n, 1));
  g_autofree uint64_t *n_wakers = g_new0 (uint64_t, MAX (n, 1));
  uint64_t total = 0;
  StackTexts texts;

  find_wakers (self, waker, n_wakers);
  for (uint32_t i = 0; i < n; i++)
    {
      Cause *cause = &g_array_index (self->causes, Cause, i);

      cause->rank = rank_of (self, cause);
      order[i] = i;
    }
  (void) sysprof_sort_if_wanted (order, n, sizeof *order, compare_causes, self->causes);
  sysprof_stack_texts_init (&texts, self->selected->request, self->selected->rows);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      const Cause *cause = &g_array_index (self->causes, Cause, order[i]);

      add_row (self, &texts, cause, waker[order[i]], n_wakers[order[i]]);
      total += (uint64_t) cause->time;
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
