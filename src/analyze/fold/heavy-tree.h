// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "analyze/fold/forest.h"

/* Makes the nodes of sysprof_call_tree_new() that weigh `least` or more. Lighter ends count
 * in the totals of their callers. `weight` [ends->n] of each end; not for bottom-up trees.
 * *(full)* */
CallTree *sysprof_heavy_tree_new (const Store *store,
                                  const SymbolTable *symbols,
                                  const TreeShape *shape,
                                  const FoldEnds *ends,
                                  const uint64_t *weight,
                                  uint64_t least);

/* The same where threads are no matter and there is no focus, without laying out a forest: what the stacks of the store
 * weigh, and which branch off where, is all that is looked at. *(full)* */
CallTree *sysprof_heavy_tree_new_of_stacks (const Store *store,
                                            const SymbolTable *symbols,
                                            const TreeShape *shape,
                                            const StackWeights *weights,
                                            uint64_t least);
