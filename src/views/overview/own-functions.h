// SPDX-License-Identifier: GPL-3.0-or-later

/* The program's own functions: of each stack the innermost function that belongs to none of
 * the kernel, the libraries and the runtime of the language. A user can change it; and all
 * that it calls is there because of it. */

#pragma once

#include "analyze/analyze.h"

typedef struct
{
  SymbolId *own;    /* [stacks.n] 0 = none */
  SymbolId *callee; /* [stacks.n] the function that it called there; 0 = none */
} OwnFunctions;

/* An own function with the weight of the stacks in which it is innermost. */
typedef struct
{
  SymbolId symbol; /* 0 = none */
  uint64_t weight;
  SymbolId callee; /* of all that it calls, the function with the most weight; 0 = none */
  uint64_t callee_weight;
} OwnFunction;

void
sysprof_own_functions_init (OwnFunctions *self, const Store *store, const SymbolTable *symbols);
void sysprof_own_functions_clear (OwnFunctions *self);
/* The own function with the most weight. */
OwnFunction sysprof_own_functions_find_heaviest (const OwnFunctions *self,
                                                 const Store *store,
                                                 const SymbolTable *symbols,
                                                 const StackWeights *weights);
