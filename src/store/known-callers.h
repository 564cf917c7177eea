// SPDX-License-Identifier: GPL-3.0-or-later

/* Which node the outermost callers of a stack lead to, where they were met before. *Owned* by one thread.
 *
 * A stack that is like others, but not like the one before it, would be looked up address by address, each a miss of
 * the cache or two, and each after the one before it. Here its callers are looked up all at once, in several lengths,
 * by a digest of 96 bits under a random key. Those that come often are found; what gave its place to another is looked
 * up address by address, with the same result. */

#pragma once

#include "store/builder.h"
#include "store/stack-words.h"

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
} KnownCallersSlot;

typedef struct
{
  KnownCallersSlot *slots;
  uint64_t key;
} KnownCallers;

void sysprof_known_callers_init (KnownCallers *self, uint64_t key);
void sysprof_known_callers_clear (KnownCallers *self);

/* Fills `digests`; soon they will be asked for. Only of callers in the outermost context: what is called by something else in
 * its context means the same wherever it is met. `process` has that `version` of its mappings. */
void sysprof_known_callers_digest (const KnownCallers *self,
                                   CallersDigests *digests,
                                   const StackWords *words,
                                   ProcessId process,
                                   uint32_t version,
                                   AddressKind context);

/* The node of the longest that is known and longer than `n_least`, and how many words it has; 0 if none is. */
StackId sysprof_known_callers_find (const KnownCallers *self,
                                    const CallersDigests *digests,
                                    uint32_t n_least,
                                    uint32_t *n_words);

void sysprof_known_callers_add (KnownCallers *self, const CallersDigest *digest, StackId node);
