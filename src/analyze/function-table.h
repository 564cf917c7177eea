// SPDX-License-Identifier: GPL-3.0-or-later

/* Sums per function on a walk over the stacks, and the table made of them. *Owned* by one query. */

#pragma once

#include "analyze/analyze.h"

typedef struct
{
  uint64_t *self;      /* [symbols->n] */
  uint64_t *total;     /* [symbols->n] */
  uint32_t *n_open;    /* [symbols->n] how often it is on the path to where the walk is */
  SymbolId *innermost; /* [stacks.n] the innermost function that shows, 0 = none */
} FunctionSums;

void
sysprof_function_sums_init (FunctionSums *self, const Store *store, const SymbolTable *symbols);

static inline void
sysprof_function_sums_enter (FunctionSums *self, SymbolId symbol, uint64_t subtree)
{
  if (self->n_open[symbol]++ == 0)
    self->total[symbol] += subtree;
}

static inline void
sysprof_function_sums_leave (FunctionSums *self, SymbolId symbol)
{
  self->n_open[symbol]--;
}

/* The table, sorted; clears `self`. */
FunctionTable *sysprof_function_sums_finish (FunctionSums *self,
                                             const SymbolTable *symbols,
                                             const StackWeights *weights);
