// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "analyze/fold-forest.h"

/* Of sysprof_call_tree_new() the nodes that weigh `least` or more. What ends in others is in the totals of their callers.
 * `weight` [ends->n] of each end; not bottom up. *(full)* */
CallTree *sysprof_heavy_tree_new (const Store *store,
                                  const SymbolTable *symbols,
                                  const TreeShape *shape,
                                  const FoldEnds *ends,
                                  const uint64_t *weight,
                                  uint64_t least);
