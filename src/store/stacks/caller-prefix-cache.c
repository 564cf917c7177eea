// SPDX-License-Identifier: GPL-3.0-or-later

/* A cache from the outermost callers of a stack to their node. See caller-prefix-cache.h. */

#include "store/stacks/caller-prefix-cache.h"

#include "util/large.h"

#define N_SLOTS 0x20000 /* 2 MiB, one huge page: more made no difference */
#define STEP    4       /* words from one length to the next */
#define PART    16      /* of a deep stack: the step is no less than such a part */

void
sysprof_caller_prefix_cache_init (CallerPrefixCache *self, uint64_t key)
{
  *self = (CallerPrefixCache){ sysprof_large_new0 (N_SLOTS, sizeof (CallerPrefixSlot)), key };
}

void
sysprof_caller_prefix_cache_clear (CallerPrefixCache *self)
{
  g_free (self->slots);
  *self = (CallerPrefixCache){ 0 };
}

/* Two slots, which lie in one line of the cache. */
static CallerPrefixSlot *
place (const CallerPrefixCache *self, uint64_t digest)
{
  return &self->slots[(digest % N_SLOTS) & ~1u];
}

void
sysprof_caller_prefix_cache_digest (const CallerPrefixCache *self,
                                    CallersDigests *digests,
                                    const StackWords *words,
                                    ProcessId process,
                                    uint32_t version,
                                    AddressKind context)
{
  uint64_t low = sysprof_mix ((uint64_t) process << 32 | version, self->key + context);
  uint64_t high = ~low;
  uint32_t next = STEP;

  digests->n = 0;
  for (uint32_t i = 0; i < words->n; i++)
    {
      uint64_t word = sysprof_stack_word (words, words->n - 1 - i);

      /* The last one before it was the first of its context, which called nothing. */
      if (word >= STACK_FIRST_MARKER)
        break;

      if (i == next && digests->n < MOST_CALLER_LENGTHS)
        {
          digests->item[digests->n++] = (CallersDigest){ low, (uint32_t) (high >> 32), i };
          __builtin_prefetch (place (self, low));
          next += MAX (STEP, next / PART);
        }
      low = sysprof_mix (low + 0x9e3779b97f4a7c15, word);
      high = (high ^ word ^ self->key) * 0xff51afd7ed558ccd;
      high ^= high >> 32;
    }
}

StackId
sysprof_caller_prefix_cache_find (const CallerPrefixCache *self,
                                  const CallersDigests *digests,
                                  uint32_t n_least,
                                  uint32_t *n_words)
{
  for (uint32_t i = digests->n; i > 0 && digests->item[i - 1].n > n_least; i--)
    {
      const CallersDigest *digest = &digests->item[i - 1];
      const CallerPrefixSlot *slot = place (self, digest->digest);

      for (unsigned j = 0; j < 2; j++)
        if (slot[j].digest == digest->digest && slot[j].check == digest->check &&
            slot[j].node != 0)
          {
            *n_words = digest->n;
            return slot[j].node;
          }
    }

  *n_words = 0;
  return 0;
}

void
sysprof_caller_prefix_cache_add (CallerPrefixCache *self,
                                 const CallersDigest *digest,
                                 StackId node)
{
  CallerPrefixSlot *slot = place (self, digest->digest);

  slot[1] = slot[0];
  slot[0] = (CallerPrefixSlot){ digest->digest, digest->check, node };
}
