// SPDX-License-Identifier: GPL-3.0-or-later

/* Sums per function on a walk over the stacks, and the table made of them. *Owned* by one query. */

#pragma once

#include "analyze/analyze.h"

typedef struct
{
  uint64_t self;
  uint64_t total;
  uint32_t n_open; /* how often it is on the path to where the walk is */
} FunctionSum;

typedef struct
{
  FunctionSum *of_symbol; /* [symbols->n] */
} FunctionSums;

void sysprof_function_sums_init (FunctionSums *self, const SymbolTable *symbols);

static inline void
sysprof_function_sums_enter (FunctionSums *self, SymbolId symbol, uint64_t subtree)
{
  FunctionSum *sum = &self->of_symbol[symbol];

  if (sum->n_open++ == 0)
    sum->total += subtree;
}

static inline void
sysprof_function_sums_leave (FunctionSums *self, SymbolId symbol)
{
  self->of_symbol[symbol].n_open--;
}

/* The table, sorted; clears `self`. */
FunctionTable *sysprof_function_sums_finish (FunctionSums *self,
                                             const SymbolTable *symbols,
                                             const StackWeights *weights);
