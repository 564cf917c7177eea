// SPDX-License-Identifier: GPL-3.0-or-later

/* One tree or table for many selections, for example while a user drags a time span.
 *
 * Everything that does not depend on weights is made once: the node at which the stack of each
 * sample ends, the order of siblings by name, and the first entry of each function on a stack.
 * A selection then costs one pass over its samples and one over the positions where stacks end
 * or part. A table needs another pass over those with a weight. All results are exact.
 *
 *   g_autoptr (Refold) refold = sysprof_refold_new_tree (store, symbols, NULL, &shape, NULL);
 *   while (…)
 *     if (sysprof_refold_select (refold, &filter, NULL))
 *       n = sysprof_refold_sort_children (refold, 0, children); // what is on screen
 *
 * *Owned*: by one thread at a time. Store and symbols are borrowed and must outlive it; filters
 * are not kept. */

#pragma once

#include "analyze/fold/fold.h"

typedef struct Refold Refold;

/* What a table has in its rows: all functions; who calls those in focus; whom they call. */
typedef enum
{
  FOLD_FUNCTIONS,
  FOLD_CALLERS,
  FOLD_CALLEES,
} FoldTable;

/* Long work, seen from other threads. *Guarded*: `n_done` is atomic (relaxed, because no
 * other data depend on it) and only grows; the rest does not change. A zeroed one cannot be
 * canceled. */
typedef struct
{
  GCancellable *cancellable; /* borrowed, or NULL */
  uint64_t n_done;           /* items of columns, stacks and nodes that were gone through */
} FoldWork;

/* `events` are of the store; NULL = its samples. `work` may be NULL. *(full)*; NULL if cancelled. At first nothing is
 * selected. */
Refold *sysprof_refold_new_tree (const Store *store,
                                 const SymbolTable *symbols,
                                 const StackEvents *events,
                                 const Shape *shape,
                                 FoldWork *work);
/* The same for a table; as for sysprof_functions_new() and its like, only parts of `shape`, which may be NULL, count. */
Refold *sysprof_refold_new_table (const Store *store,
                                  const SymbolTable *symbols,
                                  const StackEvents *events,
                                  FoldTable table,
                                  const Shape *shape,
                                  FoldWork *work);
void sysprof_refold_free (Refold *self);

/* Weighs what the filter takes, of the events given at first: filter->events is not looked at. The filter may be NULL.
 * FALSE if cancelled: then nothing is selected. */
bool sysprof_refold_select (Refold *self, const SampleFilter *filter, FoldWork *work);

/* The weight of the selection, including the part that is out of focus. */
uint64_t sysprof_refold_get_weight (const Refold *self);

/* Of a tree: nodes keep their numbers whatever is selected; 0 is the root. */
uint64_t sysprof_refold_get_total (const Refold *self, uint32_t node);
uint64_t sysprof_refold_get_self (const Refold *self, uint32_t node);
/* What it stands for, as in CallTree. */
SymbolKind
sysprof_refold_get_kind (const Refold *self, uint32_t node, SymbolId *symbol, uint32_t *id);
/* How many children there are at most, and those that weigh something, heaviest first, then by name. */
uint32_t sysprof_refold_n_children (const Refold *self, uint32_t node);
uint32_t sysprof_refold_sort_children (const Refold *self, uint32_t node, uint32_t *children);
/* All of it. *(full)*; NULL if cancelled. */
CallTree *sysprof_refold_dup_tree (const Refold *self, FoldWork *work);

/* Of a table. *(full)*; NULL if cancelled. */
FunctionTable *sysprof_refold_dup_table (Refold *self, FoldWork *work);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Refold, sysprof_refold_free)
