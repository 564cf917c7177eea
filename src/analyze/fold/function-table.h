// SPDX-License-Identifier: GPL-3.0-or-later

/* Sums per function, and the table made of them. *Owned* by one question. */

#pragma once

#include "analyze/fold/refold.h"

typedef struct
{
  uint64_t self;
  uint64_t total;
} FunctionSum;

typedef struct
{
  FunctionSum *of_symbol; /* [symbols->n]; 0 = what belongs to none */
} FunctionSums;

void sysprof_function_sums_init (FunctionSums *self, const SymbolTable *symbols);
void sysprof_function_sums_clear (FunctionSums *self);
void sysprof_function_sums_add (FunctionSums *self,
                                const FunctionSums *other,
                                const SymbolTable *symbols);

/* The table, sorted, or NULL if cancelled; clears `self`. `rank` [symbols->n] is the order by name where it is known, or NULL. */
FunctionTable *sysprof_function_sums_finish (FunctionSums *self,
                                             const SymbolTable *symbols,
                                             const uint32_t *rank,
                                             uint64_t total,
                                             const FoldWork *work);
