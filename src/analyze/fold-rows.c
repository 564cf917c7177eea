// SPDX-License-Identifier: GPL-3.0-or-later

/* Which row of a table a node counts to.
 *
 * A call is a pair of functions next to each other on a stack. Callers are the outer halves of the pairs whose inner
 * half is in focus; callees the inner halves of those whose outer half is. What must count once per stack although it
 * may recur in it counts where it is not open further out. */

#include "analyze/fold-forest.h"
#include "analyze/fold-list.h"
#include "analyze/fold-work.h"
#include "analyze/shown-symbols.h"

/* What holds at a node on the path to where the walk is. */
typedef struct
{
  uint32_t end;
  SymbolId visible; /* the innermost function that shows, 0 = none */
  SymbolId row;     /* to which what ends here counts, 0 = none */
  SymbolId opened;  /* the row that the node itself opened, 0 = none */
} Level;

FOLD_DEFINE_LIST (LevelList, level_list, Level)

static SymbolId
row_of_call (FoldTable table, const bool *is_focus, SymbolId caller, SymbolId function)
{
  switch (table)
    {
    case FOLD_CALLERS:
      return is_focus[function] ? caller : 0;
    case FOLD_CALLEES:
      return is_focus[caller] ? function : 0;
    case FOLD_FUNCTIONS:
    default:
      return function;
    }
}

static void
leave (LevelList *path, uint32_t *n_open, uint32_t at)
{
  for (; path->item[path->n - 1].end <= at; path->n--)
    n_open[path->item[path->n - 1].opened]--;
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
      level = path->item[path->n - 1];
      level.end = node->end;
      level.opened = 0;
      if (node->key != 0 && node->key < n_symbols)
        {
          level.row = level.opened = row_of_call (table, is_focus, level.visible, node->key);
          level.visible = node->key;
        }
      node->row = level.row;
      if (n_open[level.opened]++ == 0 && level.opened != 0)
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
                            const FoldQuestion *question,
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
