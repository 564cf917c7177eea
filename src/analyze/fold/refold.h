// SPDX-License-Identifier: GPL-3.0-or-later

/* One question, asked again and again of other selections, as while a span of time is dragged.
 *
 * What does not depend on the weights is made once: the node of the tree at which each sample's stack ends, the order of
 * siblings by name, where on a stack a function is met first. A selection then costs one pass over its samples and one
 * over the places where stacks end or part; a table another one over those that weigh something. Nothing is
 * approximated.
 *
 *   g_autoptr (Refold) refold = sysprof_refold_new_tree (store, symbols, NULL, &shape, NULL);
 *   while (…)
 *     if (sysprof_refold_select (refold, &filter, NULL))
 *       n = sysprof_refold_sort_children (refold, 0, children); // what is on screen
 *
 * *Owned*: by one thread at a time. Store and symbols are borrowed and outlive it; of a filter nothing is kept. */

#pragma once

#include "analyze/analyze.h"

typedef struct Refold Refold;

/* What a table has in its rows: all functions; who calls those in focus; whom they call. */
typedef enum
{
  FOLD_FUNCTIONS,
  FOLD_CALLERS,
  FOLD_CALLEES,
} FoldTable;

/* Long work, as other threads see it. *Guarded*: `n_done` is atomic (relaxed, as nothing hangs on it) and only grows;
 * the rest does not change. Zeroed, it cannot be cancelled. */
typedef struct
{
  GCancellable *cancellable; /* borrowed, or NULL */
  uint64_t n_done;           /* items of columns, stacks and nodes that were gone through */
} FoldWork;

/* About how many items there will be until a new Refold is made: together with `n_done` it tells the progress. */
uint64_t sysprof_refold_estimate_work (const Store *store, const StackEvents *events);

/* `events` are of the store; NULL = its samples. `work` may be NULL. *(full)*; NULL if cancelled. At first nothing is
 * selected. */
Refold *sysprof_refold_new_tree (const Store *store,
                                 const SymbolTable *symbols,
                                 const StackEvents *events,
                                 const TreeShape *shape,
                                 FoldWork *work);
/* The same for a table; as for sysprof_functions_new() and its like, only parts of `shape`, which may be NULL, count. */
Refold *sysprof_refold_new_table (const Store *store,
                                  const SymbolTable *symbols,
                                  const StackEvents *events,
                                  FoldTable table,
                                  const TreeShape *shape,
                                  FoldWork *work);
void sysprof_refold_free (Refold *self);

/* Weighs what the filter takes, of the events given at first: filter->events is not looked at. The filter may be NULL.
 * FALSE if cancelled: then nothing is selected. */
bool sysprof_refold_select (Refold *self, const SampleFilter *filter, FoldWork *work);

/* The weight of all that is selected, also of what is out of focus. */
uint64_t sysprof_refold_get_weight (const Refold *self);

/* Of a tree: nodes keep their numbers whatever is selected; 0 is the root. */
uint32_t sysprof_refold_n_nodes (const Refold *self);
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
