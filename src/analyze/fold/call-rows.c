// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of a plan: the rows of its nodes are found once, then weighed. */

#include "analyze/fold/call-rows.h"

#include "analyze/fold/function-table.h"
#include "analyze/fold/list.h"
#include "analyze/fold/work.h"

Shape
sysprof_fold_table_shape (const Shape *shape)
{
  return (Shape){
    .no_kernel = shape != NULL && shape->no_kernel,
    .hide_system = shape != NULL && shape->hide_system,
    .no_hooks = shape != NULL && shape->no_hooks,
    .collapse = shape != NULL ? shape->collapse : NULL,
    .merge = shape != NULL ? shape->merge : NULL,
    .no_processes = true,
  };
}

/* A node on the path to the one that is visited. */
typedef struct
{
  uint32_t end; /* the first run behind all below it */
  CallRows rows;
} Level;

FOLD_DEFINE_LIST (LevelList, level_list, Level)

static void
leave (LevelList *path, uint32_t *n_open, uint32_t run)
{
  for (; path->n > 0 && path->item[path->n - 1].end <= run; path->n--)
    n_open[path->item[path->n - 1].rows.opened]--;
}

bool
sysprof_fold_rows_init (FoldRows *self,
                        const FoldPlan *plan,
                        const SymbolTable *symbols,
                        FoldTable table,
                        const bool *is_focus,
                        FoldWork *work)
{
  g_autofree uint32_t *n_open = g_new0 (uint32_t, MAX (symbols->n, 1));
  LevelList path = { 0 };
  uint32_t n = 0;
  bool is_done = true;

  *self = (FoldRows){
    .begin = sysprof_large_new ((size_t) plan->n_runs + 1, sizeof *self->begin),
    .row = sysprof_large_new (plan->n, sizeof *self->row),
    .row_here = sysprof_large_new (plan->n_runs, sizeof *self->row_here),
  };
  for (uint32_t run = 0; run < plan->n_runs && is_done; run++)
    {
      CallRows rows = { 0 };

      leave (&path, n_open, run);
      if (path.n > 0)
        rows = path.item[path.n - 1].rows;
      self->begin[run] = n;
      for (uint32_t node = plan->begin[run]; node < plan->begin[run + 1]; node++)
        {
          rows = sysprof_call_rows_below (rows, table, is_focus, plan->key[node]);
          /* A function that recurs on a stack counts once. */
          if (n_open[rows.opened]++ == 0 && rows.opened != 0)
            self->row[n++] = rows.opened;
          level_list_add (&path, (Level){ plan->end[run], rows });
        }
      self->row_here[run] = rows.row;
      is_done = sysprof_fold_work_at (work, run);
    }
  self->begin[plan->n_runs] = n;
  level_list_clear (&path);
  return is_done;
}

void
sysprof_fold_rows_clear (FoldRows *self)
{
  g_free (self->begin);
  g_free (self->row);
  g_free (self->row_here);
  *self = (FoldRows){ 0 };
}

FunctionTable *
sysprof_fold_rows_dup_table (const FoldRows *self,
                             const FoldPlan *plan,
                             const SymbolTable *symbols,
                             FoldWork *work)
{
  FunctionSums sums;
  uint64_t n_seen = 0;

  sysprof_function_sums_init (&sums, symbols);
  for (uint32_t i = 0; i < plan->n_runs;)
    {
      uint64_t total = sysprof_fold_plan_total (plan, i);

      if (!sysprof_fold_work_at (work, n_seen++))
        {
          sysprof_function_sums_clear (&sums);
          return NULL;
        }
      if (total == 0)
        {
          i = plan->end[i];
          continue;
        }
      for (uint32_t at = self->begin[i]; at < self->begin[i + 1]; at++)
        sums.of_symbol[self->row[at]].total += total;
      sums.of_symbol[self->row_here[i]].self += sysprof_fold_plan_self (plan, i);
      i++;
    }
  return sysprof_function_sums_finish (&sums, symbols, plan->rank, plan->sums[plan->n_runs + 1],
                                       work);
}
