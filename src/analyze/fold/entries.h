// SPDX-License-Identifier: GPL-3.0-or-later

/* The entries of stacks that a plan merges: a tree in which the number of a caller is smaller than
 * that of its callees, with the weight that ends at each entry and the key that each shows as.
 *
 * The shape is applied here, except for its order and its root: an entry that is hidden, out of
 * focus or folded into its caller has no key and is a part of its parent. Threads have copies of
 * the stacks that they share. *Owned* by the code that makes a plan of it. */

#pragma once

#include "analyze/fold/refold.h"
#include "analyze/fold/stack-keys.h"

#define FOLD_NOWHERE UINT32_MAX

typedef struct
{
  const uint32_t *parent; /* [n]; 0 = the root, which is entry 0 */
  const uint64_t *weight; /* [n] of the stacks that end there, if they are in focus */
  FoldKey *key;           /* [n] or NULL: `keys` has them */
  StackKeys keys;
  uint32_t *begin; /* [n] with a focus: the innermost entry in it, FOLD_NOWHERE = none */
  uint32_t *top; /* [n] bottom up only: the entry of the process, or of its thread below that */
  uint32_t n;
  int32_t *tids; /* [n_tids] of the threads that have keys */
  uint32_t n_tids;
  uint32_t *of_thread; /* [StackWeights.by_thread.n] the entry where each ends, or NULL */
  uint32_t *own_parent;
  uint64_t *own_weight;
} FoldEntries;

/* FALSE if cancelled; to be cleared in any case. `weights` and `shape` are borrowed. */
bool sysprof_fold_entries_init (FoldEntries *self,
                                const Store *store,
                                const SymbolTable *symbols,
                                const Shape *shape,
                                const StackWeights *weights,
                                FoldWork *work);
void sysprof_fold_entries_clear (FoldEntries *self);

/* The key of an entry below one that shows as `visible`; 0 = a part of that. */
static inline FoldKey
sysprof_fold_entries_get_key (const FoldEntries *self, uint32_t entry, FoldKey visible)
{
  return self->key != NULL ? self->key[entry]
                           : sysprof_stack_keys_get (&self->keys, entry, visible);
}
