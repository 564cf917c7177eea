// SPDX-License-Identifier: GPL-3.0-or-later

/* The stacks of frames as entries. Some of these are no functions. */

#pragma once

#include "analyze/fold/entries.h"
#include "analyze/fold/graph.h"

/* Sets `ends` [frames->n]: the entry where the stack of each frame ends, or GRAPH_NOWHERE
 * for frames that are not included. FALSE if canceled; the caller clears the entries in any case. */
bool sysprof_graph_entries_init (FoldEntries *self,
                                 uint32_t *ends,
                                 const Store *store,
                                 const SymbolTable *symbols,
                                 const GraphFrames *frames,
                                 const Shape *shape,
                                 FoldWork *work);

/* [sysprof_graph_n_symbols()] of those that the entries have: their order by name. NULL if
 * cancelled. *(full)* */
uint32_t *sysprof_graph_ranks_new (const Store *store,
                                   const SymbolTable *symbols,
                                   const FoldEntries *entries,
                                   const FoldWork *work);
