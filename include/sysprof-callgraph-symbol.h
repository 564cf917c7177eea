// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCallgraphSymbol: a function of a call graph, over all its calls. */

#pragma once

#include "sysprof-callgraph.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_CALLGRAPH_SYMBOL (sysprof_callgraph_symbol_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofCallgraphSymbol,
                      sysprof_callgraph_symbol,
                      SYSPROF,
                      CALLGRAPH_SYMBOL,
                      GObject)

/* *(none)* Property "symbol". */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbol *sysprof_callgraph_symbol_get_symbol (SysprofCallgraphSymbol *self);

/* *(none)* Property "callgraph". */
SYSPROF_AVAILABLE_IN_ALL
SysprofCallgraph *sysprof_callgraph_symbol_get_callgraph (SysprofCallgraphSymbol *self);

/**
 * sysprof_callgraph_symbol_get_summary_augment: (skip)
 * @self: a function of a graph
 *
 * Returns: (transfer none) (nullable): as sysprof_callgraph_get_summary_augment()
 */
SYSPROF_AVAILABLE_IN_ALL
gpointer sysprof_callgraph_symbol_get_summary_augment (SysprofCallgraphSymbol *self);

/* The number of frames whose stacks end in the function; in a list of callers, in which it is
 * the direct caller of the innermost function. Property "self". */
SYSPROF_AVAILABLE_IN_51
guint64 sysprof_callgraph_symbol_get_self (SysprofCallgraphSymbol *self);

/* The number of frames whose stacks contain the function, each counted once; in a list of
 * callers, contain the call. Property "total". */
SYSPROF_AVAILABLE_IN_51
guint64 sysprof_callgraph_symbol_get_total (SysprofCallgraphSymbol *self);

G_END_DECLS
