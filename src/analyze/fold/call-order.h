// SPDX-License-Identifier: GPL-3.0-or-later

/* The orders in which functions and nodes are shown; total orders, so that equal inputs print equally. */

#pragma once

#include "analyze/fold/fold.h"

typedef struct
{
  const CallTree *tree;
  const Store *store;
  const SymbolTable *symbols;
} CallOrder;

/* By name, then binary. */
int sysprof_symbol_compare (const SymbolTable *symbols, SymbolId a, SymbolId b);

/* Siblings by name: takes CallNodeIds and a CallOrder, as qsort_r() wants them. */
int sysprof_call_node_compare_name (const void *a, const void *b, void *order);
