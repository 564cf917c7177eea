// SPDX-License-Identifier: GPL-3.0-or-later

/* The stacks of frames as a forest. It also has nodes that are no functions. */

#pragma once

#include "analyze/fold/forest.h"
#include "analyze/fold/graph.h"

/* Sets `end_of_frame` [frames->n]: the number of its end in the forest, or GRAPH_NOWHERE for
 * frames that are not included. FALSE if canceled; the caller clears the forest in any case. */
bool sysprof_graph_forest_init (FoldForest *self,
                                uint32_t *n_ends,
                                uint32_t *end_of_frame,
                                const Store *store,
                                const SymbolTable *symbols,
                                const GraphFrames *frames,
                                const GraphShape *shape,
                                FoldWork *work);

/* [sysprof_graph_n_symbols()] of those that occur in the forest: their order by name. NULL if cancelled. *(full)* */
uint32_t *sysprof_graph_ranks_new (const Store *store,
                                   const SymbolTable *symbols,
                                   const FoldForest *forest,
                                   const FoldWork *work);
