// SPDX-License-Identifier: GPL-3.0-or-later

/* The rows of the nodes of a forest, in one walk. */

#include "analyze/fold/call-rows.h"
#include "analyze/fold/list.h"
#include "analyze/fold/shown-symbols.h"
#include "analyze/fold/work.h"

/* On the path to where the walk is. */
typedef struct
{
  uint32_t end;
  CallRows rows;
} Level;

FOLD_DEFINE_LIST (LevelList, level_list, Level)

static void
leave (LevelList *path, uint32_t *n_open, uint32_t at)
{
  for (; path->item[path->n - 1].end <= at; path->n--)
    n_open[path->item[path->n - 1].rows.opened]--;
}

static bool
mark_rows (FoldForest *self,
           uint32_t n_symbols,
           FoldTable table,
           const bool *is_focus,
           LevelList *path,
           FoldWork *work)
{
  g_autofree uint32_t *n_open = g_new0 (uint32_t, MAX (n_symbols, 1));

  level_list_add (path, (Level){ .end = self->n });
  self->node[0].row = 0;
  for (uint32_t i = 1; i < self->n; i++)
    {
      ForestNode *node = &self->node[i];
      Level level;

      leave (path, n_open, i);
      level.end = node->end;
      level.rows = sysprof_call_rows_below (path->item[path->n - 1].rows, table, is_focus,
                                            node->key < n_symbols ? node->key : 0);
      node->row = level.rows.row;
      if (n_open[level.rows.opened]++ == 0 && level.rows.opened != 0)
        node->row |= FOLD_ROW_COUNTS;
      level_list_add (path, level);
      if (!sysprof_fold_work_at (work, i))
        return false;
    }
  return true;
}

bool
sysprof_fold_forest_answer (FoldForest *self,
                            const Store *store,
                            const SymbolTable *symbols,
                            const TreeShape *shape,
                            const FoldRequest *question,
                            FoldWork *work)
{
  g_autofree SymbolId *shown = NULL;
  g_autofree bool *is_focus = NULL;
  LevelList path = { 0 };
  bool is_done;

  if (question->focus != NULL)
    {
      shown = sysprof_shown_symbols_new (store, symbols, shape);
      is_focus = sysprof_focus_match (symbols, question->focus, NULL);
      sysprof_shown_symbols_move_focus (shown, symbols, is_focus);
    }
  is_done = mark_rows (self, symbols->n, question->table, is_focus, &path, work);
  level_list_clear (&path);
  return is_done;
}

TreeShape
sysprof_fold_table_shape (const TreeShape *shape)
{
  return (TreeShape){
    .no_kernel = shape != NULL && shape->no_kernel,
    .hide_system = shape != NULL && shape->hide_system,
    .collapse = shape != NULL ? shape->collapse : NULL,
    .no_processes = true,
  };
}
