// SPDX-License-Identifier: GPL-3.0-or-later

/* Folds stacks into a tree. *Owned* by one thread: each folds the stacks of processes of its
 * own into a tree of its own, and fold.c puts the trees together. */

#pragma once

#include "store/stacks/addresses.h"
#include "store/stacks/caller-prefix-cache.h"

/* A stack that was folded before. Frequent stacks are found here. A stack whose slot was
 * reused is folded again, with the same result. */
typedef struct
{
  StackDigest digest;
  ProcessId process; /* 0 = free */
  uint32_t version;  /* of the process's mappings when it was folded */
  StackId stack;
} Known;

/* The stack of a process that was taken apart last. */
typedef struct
{
  StackWords words;
  StackId *node;    /* [n_found] of each address; of markers any */
  uint32_t n_found; /* innermost words; the others were known callers */
  uint32_t capacity;
  uint32_t version;    /* as above */
  AddressKind context; /* in which its outermost address ran */
} Recent;

/* A node, whole in itself, so that a look-up touches one line of the cache. Only those are in a
 * table that do not lie right behind their parent: of the nodes of a new stack, which are made
 * in turn, the outermost one. */
typedef struct
{
  StackId parent;
  AddressId address;
  StackId id; /* 0 = free */
} NodeSlot;

/* The nodes of one process, by parent and address: few processes run at a time, and the sets of
 * those stay in the cache. */
typedef struct
{
  NodeSlot *slots;  /* [n_slots] NULL as long as it is empty */
  uint32_t n_slots; /* a power of two */
  uint32_t n_used;
} NodeSet;

typedef struct
{
  const Builder *builder;
  /* the store as it was before, but with stacks, addresses and mappings of this thread */
  Store own;
  Store *store; /* &own */
  Mappings mappings;
  Addresses addresses;

  Known *known; /* [KNOWN_SLOTS] by digest */
  CallerPrefixCache caller_prefixes;
  CallersDigests callers; /* of the stack at hand */
  uint64_t key;

  NodeSet *node_sets;     /* [processes.n] */
  uint32_t node_capacity; /* of the tree, whose columns are growing arrays (util/large.h) */
  uint32_t n_faulted_in;  /* nodes whose pages are there */

  Recent *recent;      /* [processes.n] */
  bool *has_user;      /* [processes.n] */
  bool *has_kernel;    /* [processes.n] */
  AddressId *chain;    /* [MOST_ADDRESSES] innermost first */
  StackId *chain_node; /* [MOST_ADDRESSES] */
  uint16_t *place;     /* [MOST_ADDRESSES] of a word in `chain` */
} StackFold;

/* `mappings` [own.n_mappings] becomes its own. */
void sysprof_stack_fold_init (StackFold *self, const Builder *builder, Mapping *mappings);

/* Prefetches the slot of the stack of that frame of `process`. */
void sysprof_stack_fold_expect (const StackFold *self,
                                FrameNo number,
                                const StackDigest *digest,
                                ProcessId process);

/* The stack of a frame, which `process` has now. */
StackId sysprof_stack_fold_add (StackFold *self,
                                FrameNo number,
                                const StackLayout *layout,
                                const StackDigest *digest,
                                ProcessId process);

/* The same of words that lie elsewhere, and as long as the fold does: as those of a sample. */
StackId sysprof_stack_fold_add_words (StackFold *self,
                                      const uint8_t *bytes,
                                      uint32_t n_words,
                                      const StackDigest *digest,
                                      ProcessId process);
/* Whether it is at hand, and need not be taken apart. */
bool
sysprof_stack_fold_knows (const StackFold *self, const StackDigest *digest, ProcessId process);

/* That was the last stack of `process`: what is kept to fold more of them goes. */
void sysprof_stack_fold_forget (StackFold *self, ProcessId process);

/* What only adding needs: all but the addresses, the mappings and what `own` holds. */
void sysprof_stack_fold_finish (StackFold *self);

/* There are no more nodes. */
void sysprof_stack_fold_drop_nodes (StackFold *self);

/* All but what `own` holds. */
void sysprof_stack_fold_clear (StackFold *self);
