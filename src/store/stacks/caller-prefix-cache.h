// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the tree node of the outermost callers of a stack, if it was found before. *Owned* by
 * one thread.
 *
 * A stack that resembles others, but not the one before it, would need one look-up per address.
 * Each misses the CPU's cache once or twice and depends on the one before it. This cache looks
 * up callers of several lengths at once, by a digest of 96 bits with a random key. It finds
 * frequent ones. An entry that was replaced is looked up address by address, with the same
 * result. */

#pragma once

#include "store/builder.h"
#include "store/stacks/stack-words.h"

#define MOST_CALLER_LENGTHS 128 /* more than a stack of 8192 addresses has */

typedef struct
{
  uint64_t digest;
  uint32_t check; /* more of it */
  uint32_t n;     /* outermost words */
} CallersDigest;

typedef struct
{
  CallersDigest item[MOST_CALLER_LENGTHS]; /* [n] shortest first */
  uint32_t n;
} CallersDigests;

typedef struct
{
  uint64_t digest;
  uint32_t check;
  StackId node; /* 0 = free */
} CallerPrefixSlot;

typedef struct
{
  CallerPrefixSlot *slots;
  uint64_t key;
} CallerPrefixCache;

void sysprof_caller_prefix_cache_init (CallerPrefixCache *self, uint64_t key);
void sysprof_caller_prefix_cache_clear (CallerPrefixCache *self);

/* Fills `digests` and prefetches their slots. Includes only callers in the outermost
 * context: they mean the same in every stack. `process` has that `version` of its mappings. */
void sysprof_caller_prefix_cache_digest (const CallerPrefixCache *self,
                                         CallersDigests *digests,
                                         const StackWords *words,
                                         ProcessId process,
                                         uint32_t version,
                                         AddressKind context);

/* The node of the longest that is known and longer than `n_least`, and how many words it has; 0
 * if none is. */
StackId sysprof_caller_prefix_cache_find (const CallerPrefixCache *self,
                                          const CallersDigests *digests,
                                          uint32_t n_least,
                                          uint32_t *n_words);

void sysprof_caller_prefix_cache_add (CallerPrefixCache *self,
                                      const CallersDigest *digest,
                                      StackId node);
