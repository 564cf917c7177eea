// SPDX-License-Identifier: GPL-3.0-or-later

/* Which row of a table gets the weight of a stack entry.
 *
 * A call is a pair of adjacent functions on a stack. The callers table has the outer functions
 * of pairs whose inner one is in focus, the callees table the inner functions of pairs whose
 * outer one is in focus. A function that recurs on a stack counts only at its outermost entry. */

#pragma once

#include "analyze/fold/plan.h"

/* What holds at an entry. */
typedef struct
{
  SymbolId visible; /* the innermost function that shows, 0 = none */
  SymbolId row;     /* to which what ends here counts, 0 = none */
  SymbolId opened;  /* the row that the entry itself opened, 0 = none */
} CallRows;

static inline SymbolId
sysprof_row_of_call (FoldTable table, const bool *is_focus, SymbolId caller, SymbolId function)
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

/* What holds at an entry that shows as `function`, 0 = as a part of the one outside it, where `above` holds. */
static inline CallRows
sysprof_call_rows_below (CallRows above,
                         FoldTable table,
                         const bool *is_focus,
                         SymbolId function)
{
  SymbolId row;

  if (function == 0)
    return (CallRows){ above.visible, above.row, 0 };

  row = sysprof_row_of_call (table, is_focus, above.visible, function);
  return (CallRows){ function, row, row };
}

/* What of a shape counts for tables. */
Shape sysprof_fold_table_shape (const Shape *shape);

/* The rows of a table to which the runs of a plan count. */
typedef struct
{
  uint32_t *begin;    /* [n_runs + 1] the first of each run's */
  SymbolId *row;      /* rows to which all that passes a run counts */
  SymbolId *row_here; /* [n_runs] the row to which what ends at the run counts, 0 = none */
} FoldRows;

/* `plan` is of a table shape. `is_focus` [symbols->n] may be NULL for FOLD_FUNCTIONS. FALSE if
 * cancelled; to be cleared in any case. */
bool sysprof_fold_rows_init (FoldRows *self,
                             const FoldPlan *plan,
                             const SymbolTable *symbols,
                             FoldTable table,
                             const bool *is_focus,
                             FoldWork *work);
void sysprof_fold_rows_clear (FoldRows *self);

/* The table of the current weights. *(full)*; NULL if cancelled. */
FunctionTable *sysprof_fold_rows_dup_table (const FoldRows *self,
                                            const FoldPlan *plan,
                                            const SymbolTable *symbols,
                                            FoldWork *work);
