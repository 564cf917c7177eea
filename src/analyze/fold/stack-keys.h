// SPDX-License-Identifier: GPL-3.0-or-later

/* What the innermost entry of a stack shows as under a shape. *Owned* by whoever builds something of stacks. */

#pragma once

#include "analyze/fold/shown-symbols.h"
#include "analyze/fold/stack-entry.h"

/* What a node can stand for: a SymbolId, or behind those a process, or behind those a thread. 0 = a
 * part of its parent. */
typedef uint32_t FoldKey;

typedef struct
{
  const Store *store;
  const SymbolTable *symbols;
  const Shape *shape;
  SymbolId *shown; /* [symbols->n] or NULL */
  bool *is_folded; /* [symbols->n] or NULL: called directly by itself it is one entry */
  ProcessId *first_of_comm; /* [store->strings.n_strings] or NULL: processes are not merged */
} StackKeys;

void sysprof_stack_keys_init (StackKeys *self,
                              const Store *store,
                              const SymbolTable *symbols,
                              const Shape *shape);
void sysprof_stack_keys_clear (StackKeys *self);

/* [strings.n_strings] the first process of each name. *(full)* */
ProcessId *sysprof_first_of_comm_new (const Store *store);

static inline FoldKey
sysprof_fold_process_key (const SymbolTable *symbols, ProcessId process)
{
  return symbols->n + process;
}

static inline FoldKey
sysprof_fold_thread_key (const Store *store, const SymbolTable *symbols, uint32_t thread)
{
  return symbols->n + store->processes.n + thread;
}

static inline FoldKey
sysprof_stack_keys_of_process (const StackKeys *self, ProcessId process)
{
  if (process == 0 || self->shape->focus != NULL || self->shape->no_processes)
    return 0;
  if (self->first_of_comm != NULL)
    process = self->first_of_comm[self->store->processes.row[process].comm];
  return sysprof_fold_process_key (self->symbols, process);
}

/* Not of one that is a process. */
static inline FoldKey
sysprof_stack_keys_of_function (const StackKeys *self, StackId stack)
{
  if (self->shape->no_kernel && sysprof_stack_is_kernel (self->store, stack))
    return 0;
  return sysprof_shown_symbol (self->shown,
                               sysprof_stack_symbol (self->store, self->symbols, stack));
}

/* Whether a function is one entry with its caller, which shows as `visible`. */
static inline bool
sysprof_stack_keys_folds (const StackKeys *self, FoldKey key, FoldKey visible)
{
  return key == visible && self->is_folded != NULL && key < self->symbols->n &&
         self->is_folded[key];
}

/* What `stack` shows as where what is nearest to it outwards shows as `visible`; 0 = as a part of that. Without focus. */
static inline FoldKey
sysprof_stack_keys_get (const StackKeys *self, StackId stack, FoldKey visible)
{
  FoldKey key;

  /* Processes have no address. */
  if (self->store->stacks.address[stack] == 0)
    return sysprof_stack_keys_of_process (self, stack);

  key = sysprof_stack_keys_of_function (self, stack);
  return sysprof_stack_keys_folds (self, key, visible) ? 0 : key;
}
