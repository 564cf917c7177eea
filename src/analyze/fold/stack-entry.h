// SPDX-License-Identifier: GPL-3.0-or-later

/* What the innermost entry of a stack is. */

#pragma once

#include "analyze/fold/fold.h"

static inline bool
sysprof_stack_is_kernel (const Store *store, StackId stack)
{
  return store->addresses.kind[store->stacks.address[stack]] == ADDRESS_KERNEL;
}

static inline SymbolId
sysprof_stack_symbol (const Store *store, const SymbolTable *symbols, StackId stack)
{
  return symbols->of_address[store->stacks.address[stack]];
}
