// SPDX-License-Identifier: GPL-3.0-or-later

/* Tables of functions of one selection: all functions, or the callers or callees of those in
 * focus.
 *
 * The stacks of the store are visited once, callers first. Only the path to the current stack
 * is kept: an entry is left with the weight of everything that passed it. The deepest call of a
 * run of stacks is visited first, so that no path is visited twice. Each CPU handles one
 * process after the other. */

#include "analyze/fold/call-rows.h"
#include "analyze/fold/function-table.h"
#include "analyze/fold/list.h"
#include "analyze/fold/stack-keys.h"
#include "analyze/fold/stack-runs.h"
#include "analyze/fold/work.h"

#define GRAIN 0x10000 /* stacks: below it a thread costs more than it saves */

/* What is the same for all threads. */
typedef struct
{
  StackKeys keys;
  StackRuns runs;
  const uint64_t *weight; /* [stacks.n] of what ends there */
  bool *is_focus;         /* [symbols->n] or NULL */
  FoldTable table;
  uint32_t n_taken;   /* branches of stack 0 */
  FoldWork work;      /* the threads have no cancellable of their own */
  FunctionSums *sums; /* [n_workers] */
} Question;

typedef struct
{
  uint64_t weight; /* of what ends here or below, as far as it was walked */
  CallRows rows;
  bool counts; /* `opened` is not open further out */
} PathEntry;

typedef struct
{
  uint32_t run;
  uint32_t path; /* where its stacks begin on the path */
  uint32_t end;  /* behind the last of its branches that were not walked */
} OpenRun;

FOLD_DEFINE_LIST (Path, path, PathEntry)
FOLD_DEFINE_LIST (OpenRuns, open_runs, OpenRun)

typedef struct
{
  const Question *question;
  FunctionSums *sums;
  uint32_t *n_open; /* [symbols->n] of each row, on the path */
  Path path;
  OpenRuns open;
  uint64_t n_seen; /* runs */
} Walk;

static void
enter_run (Walk *self, uint32_t run)
{
  const Question *question = self->question;
  const StackRun *all = question->runs.run;
  StackId begin = all[run].begin, end = all[run].end;
  uint32_t branch = all[run].first_branch;
  PathEntry *entry;
  CallRows rows = { 0 };

  while (all[branch].leaves < end)
    branch++;
  open_runs_add (&self->open, (OpenRun){ run, self->path.n, branch });
  path_reserve (&self->path, end - begin);
  entry = self->path.item + self->path.n;
  if (self->path.n > 0)
    rows = entry[-1].rows;
  self->path.n += end - begin;
  for (StackId i = begin; i < end; i++, entry++)
    {
      uint64_t weight = question->weight[i];

      rows =
          sysprof_call_rows_below (rows, question->table, question->is_focus,
                                   sysprof_stack_keys_get (&question->keys, i, rows.visible));
      *entry = (PathEntry){ weight, rows, self->n_open[rows.opened]++ == 0 };
      self->sums->of_symbol[rows.row].self += weight;
    }
}

/* Until so many entries are left of the path. */
static void
leave (Walk *self, uint32_t n_left)
{
  while (self->path.n > n_left)
    {
      PathEntry *entry = &self->path.item[--self->path.n];

      self->n_open[entry->rows.opened]--;
      if (entry->counts)
        self->sums->of_symbol[entry->rows.opened].total += entry->weight;
      if (self->path.n > 0)
        entry[-1].weight += entry->weight;
    }
}

static void
expect_run (const Question *question, uint32_t run)
{
  StackId begin = question->runs.run[run].begin;

  __builtin_prefetch (&question->keys.store->stacks.address[begin]);
  __builtin_prefetch (&question->weight[begin]);
}

/* FALSE if cancelled. */
static bool
walk (Walk *self, uint32_t first)
{
  const StackRun *all = self->question->runs.run;

  enter_run (self, first);
  while (self->open.n > 0)
    {
      OpenRun *open = &self->open.item[self->open.n - 1];
      uint32_t first_branch = all[open->run].first_branch;

      if (!sysprof_fold_work_is_wanted_at (&self->question->work, self->n_seen++))
        return false;
      if (open->end > first_branch)
        {
          uint32_t run = --open->end;

          if (open->end > first_branch)
            expect_run (self->question, open->end - 1);
          leave (self, open->path + all[run].leaves - all[open->run].begin + 1);
          enter_run (self, run);
          continue;
        }
      leave (self, open->path);
      self->open.n--;
    }
  return true;
}

static void
walk_processes (size_t begin, size_t end, unsigned worker, void *data)
{
  Question *question = data;
  uint32_t n_symbols = MAX (question->keys.symbols->n, 1);
  const StackRun *runs = question->runs.run;
  Walk self = { .question = question,
                .sums = &question->sums[worker],
                .n_open = g_new0 (uint32_t, n_symbols) };

  for (uint32_t i;
       (i = __atomic_fetch_add (&question->n_taken, 1, __ATOMIC_RELAXED)) < question->runs.n &&
       runs[i].leaves == 0;)
    if (!walk (&self, i))
      break;
  g_free (self.n_open);
  path_clear (&self.path);
  open_runs_clear (&self.open);
}

static void
sum (Question *self, FunctionSums *sums)
{
  unsigned n_workers = sysprof_parallel_workers ();
  uint32_t n_stacks = self->keys.store->stacks.n;

  sysprof_stack_runs_init (&self->runs, self->keys.store->stacks.parent, n_stacks);
  self->sums = g_new (FunctionSums, n_workers);
  for (unsigned i = 0; i < n_workers; i++)
    sysprof_function_sums_init (&self->sums[i], self->keys.symbols);
  sysprof_parallel_ranges (MIN (n_stacks / GRAIN, n_workers), 1, walk_processes, self);

  for (unsigned i = 1; i < n_workers; i++)
    {
      sysprof_function_sums_add (&self->sums[0], &self->sums[i], self->keys.symbols);
      sysprof_function_sums_clear (&self->sums[i]);
    }
  *sums = self->sums[0];
  g_free (self->sums);
  sysprof_stack_runs_clear (&self->runs);
}

static FunctionTable *
new_table (const Store *store,
           const SymbolTable *symbols,
           const StackWeights *weights,
           const Shape *shape,
           FoldTable table,
           const char *focus)
{
  Shape asked = sysprof_fold_table_shape (shape);
  Question self = { .weight = weights->self,
                    .table = table,
                    .work.cancellable = g_cancellable_get_current () };
  FunctionTable *rows;
  FunctionSums sums;

  sysprof_stack_keys_init (&self.keys, store, symbols, &asked);
  if (focus != NULL)
    {
      self.is_focus = sysprof_focus_match (symbols, focus, NULL);
      sysprof_shown_symbols_move_focus (self.keys.shown, symbols, self.is_focus);
    }
  sum (&self, &sums);
  sysprof_stack_keys_clear (&self.keys);
  g_free (self.is_focus);
  rows = sysprof_function_sums_finish (&sums, symbols, NULL, weights->total, &self.work);
  return rows != NULL ? rows : g_new0 (FunctionTable, 1);
}

FunctionTable *
sysprof_functions_new (const Store *store,
                       const SymbolTable *symbols,
                       const StackWeights *weights,
                       const Shape *shape)
{
  return new_table (store, symbols, weights, shape, FOLD_FUNCTIONS, NULL);
}

FunctionTable *
sysprof_callers_new (const Store *store,
                     const SymbolTable *symbols,
                     const StackWeights *weights,
                     const Shape *shape)
{
  return new_table (store, symbols, weights, shape, FOLD_CALLERS, shape->focus);
}

FunctionTable *
sysprof_callees_new (const Store *store,
                     const SymbolTable *symbols,
                     const StackWeights *weights,
                     const Shape *shape)
{
  return new_table (store, symbols, weights, shape, FOLD_CALLEES, shape->focus);
}
