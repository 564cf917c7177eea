// SPDX-License-Identifier: GPL-3.0-or-later

/* The shape of trees, tables and graphs of stacks. */

#pragma once

#include "symbolize/symbolize.h"

/* Zeroed: top down, kernel in, processes as roots. */
typedef struct
{
  bool bottom_up;
  bool threads;         /* a level per thread below each process */
  bool no_kernel;       /* kernel functions are removed, the sample stays */
  bool merge_processes; /* processes of the same comm become one */
  bool fold_recursion;  /* a function called directly by itself is one node */
  bool hide_system;     /* functions of the system's libraries are removed, the sample stays */
  bool no_hooks;        /* functions of the library that traces allocations are removed */
  bool no_processes;    /* functions hang on the root directly (for one flame graph over all) */
  /* NULL, or base names of binaries ("libc", "libc.so.6", "libg*"), NULL-terminated: each is shown as
   * one function, which the first of its symbols stands for. */
  const char *const *collapse;
  /* NULL, or names of functions, NULL-terminated, that are removed; the sample stays. */
  const char *const *merge;
  /* NULL, or: the tree below this function, merged over all places that call it; bottom up: the tree
   * of its callers. Without processes and threads. See sysprof_focus_match(). */
  const char *focus;
  /* Of graphs only: */
  bool left_heavy; /* siblings by falling weight, else by name */
  bool no_process_0;
  bool no_kernel_processes;
} Shape;

/* Whether the function is shown as a part of its binary. */
bool sysprof_shape_collapses (const Shape *shape, const SymbolTable *symbols, SymbolId symbol);
/* [symbols->n] the function as which each shows, 0 = it is left out; NULL where each shows as itself. *(full)* */
SymbolId *
sysprof_shown_symbols_new (const Store *store, const SymbolTable *symbols, const Shape *shape);
static inline SymbolId
sysprof_shown_symbol (const SymbolId *shown, SymbolId symbol)
{
  return shown != NULL ? shown[symbol] : symbol;
}
