// SPDX-License-Identifier: GPL-3.0-or-later

/* Call trees and tables of functions of the weights of stacks. */

#pragma once

#include "analyze/fold/shape.h"
#include "analyze/selection/selection.h"

/* What a focus means: the functions whose bare name (or name in the file) is exactly `name`; if there is none, all
 * that contain it, case ignored. matches[symbol], *(full)*; `n_matches` may be NULL. */
bool *sysprof_focus_match (const SymbolTable *symbols, const char *name, uint32_t *n_matches);

typedef uint32_t CallNodeId;

/* Nodes lie parents first; node 0 is the root ("All Processes"). Siblings are linked by falling total, then by name.
 * total = self + the totals of the children, everywhere. self is the weight of the paths that end at the node: top
 * down, where its function is innermost; bottom up, where it is outermost (there the totals of the first functions
 * are their self weights). */
typedef struct
{
  CallNodeId *parent;       /* [n]; of the root: 0 */
  CallNodeId *first_child;  /* [n]; 0 = none */
  CallNodeId *next_sibling; /* [n]; 0 = none */
  SymbolId *symbol;         /* [n]; 0 for root, processes and threads */
  uint64_t *self;           /* [n] */
  uint64_t *total;          /* [n] */
  uint8_t *kind;            /* [n] SymbolKind: root, process, thread, or the symbol's */
  uint32_t *id;             /* [n] ProcessId of a process node, tid of a thread node, else 0 */
  uint32_t n;
} CallTree;

CallTree *sysprof_call_tree_new (const Store *store,
                                 const SymbolTable *symbols,
                                 const StackWeights *weights,
                                 const Shape *shape);
/* The same in less time, without nodes of less than `least`: what ends there is only in the totals of their callers.
 * Bottom up they are there. */
CallTree *sysprof_call_tree_new_above (const Store *store,
                                       const SymbolTable *symbols,
                                       const StackWeights *weights,
                                       const Shape *shape,
                                       uint64_t least);
void sysprof_call_tree_free (CallTree *self);
/* The text a person reads: a function's name, "comm" of a process, "NAME (TID)" of a thread, "All Processes". *(full)* */
char *sysprof_call_tree_dup_label (const CallTree *self,
                                   const Store *store,
                                   const SymbolTable *symbols,
                                   CallNodeId node);

typedef struct
{
  SymbolId symbol;
  uint64_t self;
  uint64_t total; /* once per stack, however often it recurs in it */
} FunctionRow;

/* Every function once, by falling self, then total, then name. */
typedef struct
{
  FunctionRow *row; /* [n] */
  uint32_t n;
  uint64_t total; /* weight of all stacks */
} FunctionTable;

FunctionTable *sysprof_functions_new (const Store *store,
                                      const SymbolTable *symbols,
                                      const StackWeights *weights,
                                      const Shape *shape); /* no_kernel counts; may be NULL */
/* Who calls the functions that match `shape->focus` / whom they call. self: weight with the row directly beside it
 * where the focused function (callers) or the row (callees) is innermost; total: once per stack. `no_kernel` counts. */
FunctionTable *sysprof_callers_new (const Store *store,
                                    const SymbolTable *symbols,
                                    const StackWeights *weights,
                                    const Shape *shape);
FunctionTable *sysprof_callees_new (const Store *store,
                                    const SymbolTable *symbols,
                                    const StackWeights *weights,
                                    const Shape *shape);
void sysprof_function_table_free (FunctionTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CallTree, sysprof_call_tree_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FunctionTable, sysprof_function_table_free)
