// SPDX-License-Identifier: GPL-3.0-or-later

/* The stacks of frames as a forest, with what is no function among them. */

#pragma once

#include "analyze/fold/forest.h"
#include "analyze/fold/graph.h"

/* `end_of_frame` [frames->n] is set: the number of its end in the forest, GRAPH_NOWHERE where a frame is left out.
 * FALSE if cancelled; the forest is to be cleared in any case. */
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
