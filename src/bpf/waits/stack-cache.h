// SPDX-License-Identifier: GPL-3.0-or-later

/* Caches the stacks of threads that wait at the same address repeatedly. An entry holds the
 * words of memory on which the unwinding depended. If all of them have the same values again,
 * the stack is the same and is not unwound again. */

#pragma once

#include "bpf/waits/stack.h"

/* Stores where the current thread is. Copies its registers into the input. FALSE: stacks of
 * this thread are not cached. */
__noinline int
waits_locate (StackCache *cache, WalkInput *input, uint32_t site)
{
  struct task_struct *task = bpf_get_current_task_btf ();
  struct mm_struct *memory = task->mm;
  uint64_t stack = (uint64_t) task->stack, position, key;
  CachedStack *now;
  uint32_t size;

  if (cache == 0 || input == 0)
    return 0;
  now = &cache->now;
  position = cache->position;
  now->site = site;
  now->tid = (uint32_t) task->pid;
  now->ip = 0;
  now->sp = 0;
  now->fp = 0;
  now->call = 0;
  now->memory = (uint64_t) memory;
  now->exec_id = (uint32_t) task->self_exec_id;
  now->version = walk_index.version;
  now->n_changes = 0;
  input->registers[IP] = 0;
  input->registers[CALL_NUMBER] = ~UINT64_C (0);
  input->base = 0;
  if ((task->flags & PF_KTHREAD) == 0 && memory != 0)
    {
      if (bpf_probe_read_kernel (input->registers, sizeof input->registers,
                                 (const void *) bpf_task_pt_regs (task)) != 0)
        return 0;
      input->base = input->registers[SP];
      now->ip = input->registers[IP];
      now->sp = input->registers[SP];
      now->fp = input->registers[FRAME_POINTER];
      now->call = (uint32_t) input->registers[CALL_NUMBER];
      if (!count_changes (memory, &now->n_changes) || is_compat (input->registers))
        return 0;
    }
  if (position - stack >= STACK_SIZE)
    return 0;
  size = STACK_SIZE - (uint32_t) (position - stack);
  if (size > KERNEL_WORDS * 8)
    size = KERNEL_WORDS * 8;
  now->kernel_size = size;
  key = MIX (now->ip, now->sp);
  key = MIX (key ^ key >> 32, now->tid << 8 ^ now->call << 1 ^ site);
  cache->set = mix (key, CACHE_BITS) * CACHE_WAYS;
  WALK_KEEP (size);
  return size <= sizeof cache->word &&
         bpf_probe_read_kernel (cache->word, size, (const void *) position) == 0;
}

static __always_inline bool
is_same_location (const CachedStack *entry, const CachedStack *now)
{
  return entry->stack != 0 && entry->site == now->site && entry->tid == now->tid &&
         entry->ip == now->ip && entry->sp == now->sp && entry->fp == now->fp &&
         entry->call == now->call && entry->memory == now->memory &&
         entry->exec_id == now->exec_id && entry->n_changes == now->n_changes &&
         entry->version == now->version;
}

static __always_inline CachedStack *
entry_at (StackCache *cache, uint32_t way)
{
  uint32_t i = cache->set + way;

  WALK_KEEP (i);
  return &cache->entry[i & ((CACHE_WAYS << CACHE_BITS) - 1)];
}

/* Whether all words have the values that are stored with the stack. */
static __always_inline bool
are_same (uint32_t n,
          uint32_t most,
          const uint16_t *positions,
          const uint64_t *words,
          const uint64_t *found,
          uint32_t n_found)
{
  for (uint32_t i = 0; i < most && i < n; i++)
    {
      uint32_t position = positions[i];

      WALK_KEEP (position);
      if (position >= n_found || found[position] != words[i])
        return false;
    }
  return true;
}

static __always_inline bool
read_user_words (StackCache *cache, const CachedStack *entry)
{
  uint32_t size = entry->user_size;

  if (entry->n_user == 0)
    return true;
  WALK_KEEP (size);
  return size <= sizeof cache->user_word &&
         bpf_probe_read_user (cache->user_word, size, (const void *) entry->sp) == 0;
}

/* A function of its own, so that the verifier follows its loops once, and not once for each
 * way. */
__noinline int
waits_is_hit (StackCache *cache, uint32_t way)
{
  const CachedStack *entry;

  if (cache == 0)
    return 0;
  entry = entry_at (cache, way);
  return is_same_location (entry, &cache->now) &&
         entry->kernel_size <= cache->now.kernel_size &&
         are_same (entry->n_kernel, MOST_KERNEL_SLOTS, entry->kernel, entry->kernel_word,
                   cache->word, KERNEL_WORDS) &&
         read_user_words (cache, entry) &&
         are_same (entry->n_user, MOST_USER_SLOTS, entry->user, entry->user_word,
                   cache->user_word, USER_WORDS);
}

/* The cached stack of the current thread; 0 if there is none or it has changed. */
__noinline uint64_t
waits_find_cached (StackCache *cache, KernelScan *scan)
{
  if (cache == 0 || scan == 0)
    return 0;
  for (uint32_t way = 0; way < CACHE_WAYS; way++)
    {
      const CachedStack *entry = entry_at (cache, way);

      if (!waits_is_hit (cache, way))
        continue;
      scan->n_interrupt = 0;
      scan->has_fault = entry->has_fault;
      return entry->stack;
    }
  return 0;
}

typedef struct
{
  StackCache *cache;
  CachedStack *entry;
} DropWords;

static long
keep_kernel_word (uint32_t i, DropWords *drop)
{
  CachedStack *entry = drop->entry;
  uint32_t n = entry->n_kernel, position;

  WALK_KEEP (n);
  if (i >= MOST_KERNEL_SLOTS || n >= MOST_KERNEL_SLOTS)
    return 1;
  position = entry->kernel[i];
  WALK_KEEP (position);
  if (position >= KERNEL_WORDS)
    return 1;
  if (drop->cache->word[position] == entry->kernel_word[i])
    {
      entry->kernel[n] = (uint16_t) position;
      entry->kernel_word[n] = entry->kernel_word[i];
      entry->n_kernel = n + 1;
    }
  return 0;
}

static long
keep_user_word (uint32_t i, DropWords *drop)
{
  CachedStack *entry = drop->entry;
  uint32_t n = entry->n_user, position;

  WALK_KEEP (n);
  if (i >= MOST_USER_SLOTS || n >= MOST_USER_SLOTS)
    return 1;
  position = entry->user[i];
  WALK_KEEP (position);
  if (position >= USER_WORDS)
    return 1;
  if (drop->cache->user_word[position] == entry->user_word[i])
    {
      entry->user[n] = (uint16_t) position;
      entry->user_word[n] = entry->user_word[i];
      entry->n_user = n + 1;
    }
  return 0;
}

/* The same stack was found although some words have changed: it does not depend on these words,
 * so they are removed from the entry. */
__noinline int
waits_drop_words (StackCache *cache, uint32_t way)
{
  DropWords drop = { cache, 0 };
  uint32_t n;

  if (cache == 0)
    return 0;
  drop.entry = entry_at (cache, way);
  if (!read_user_words (cache, drop.entry))
    return 0;
  n = drop.entry->n_kernel;
  drop.entry->n_kernel = 0;
  bpf_loop (n, keep_kernel_word, &drop, 0);
  n = drop.entry->n_user;
  drop.entry->n_user = 0;
  bpf_loop (n, keep_user_word, &drop, 0);
  return 0;
}

typedef struct
{
  StackCache *cache;
  CachedStack *entry;
  const KernelStack *kernel;
  WalkInput *input;
  uint64_t lowest;
  uint64_t highest;
  uint32_t furthest;
} AddToCache;

static long
widen_range (uint32_t i, AddToCache *add)
{
  uint64_t address;

  if (i >= WAITS_MOST_KERNEL)
    return 1;
  address = add->kernel->address[i];
  if (address < add->lowest)
    add->lowest = address;
  if (address > add->highest)
    add->highest = address;
  return 0;
}

/* Stores each word that can be a return address, which includes all return addresses. */
static long
add_kernel_word (uint32_t i, AddToCache *add)
{
  uint32_t n = add->entry->n_kernel;
  uint64_t word;

  if (i >= KERNEL_WORDS)
    return 1;
  word = add->cache->word[i];
  if (word < add->lowest || word > add->highest)
    return 0;
  WALK_KEEP (n);
  if (n >= MOST_KERNEL_SLOTS)
    {
      add->entry->stack = 0;
      return 1;
    }
  add->entry->kernel[n] = (uint16_t) i;
  add->entry->kernel_word[n] = word;
  add->entry->n_kernel = n + 1;
  add->furthest = i;
  return 0;
}

static long
add_user_word (uint32_t i, AddToCache *add)
{
  CachedStack *entry = add->entry;
  uint32_t position;

  if (i >= MOST_USER_SLOTS)
    return 1;
  position = add->input->read[i];
  entry->user[i] = (uint16_t) position;
  entry->user_word[i] = add->input->read_word[i];
  if (position > add->furthest)
    add->furthest = position;
  return 0;
}

/* Adds the stack that was just unwound. */
__noinline int
waits_add_to_cache (StackCache *cache,
                    WalkInput *input,
                    const KernelStack *kernel,
                    uint32_t n,
                    uint64_t stack)
{
  AddToCache add = { cache, 0, kernel, input, ~UINT64_C (0), 0, 0 };
  uint32_t size;
  CachedStack *entry;

  if (cache == 0 || input == 0 || kernel == 0)
    return 0;
  for (uint32_t way = 0; way < CACHE_WAYS; way++)
    {
      entry = entry_at (cache, way);
      if (is_same_location (entry, &cache->now) && entry->stack == stack &&
          entry->kernel_size <= cache->now.kernel_size)
        return waits_drop_words (cache, way);
    }
  if ((input->record.reason != WALK_END && input->record.reason != WALK_ROOT &&
       input->record.reason != WALK_KERNEL_THREAD) ||
      input->has_more || (input->record.n != 0) != (cache->now.ip != 0) || n == 0)
    return 0;
  bpf_loop (n, widen_range, &add, 0);

  entry = entry_at (cache, cache->turn++ & (CACHE_WAYS - 1));
  entry->site = cache->now.site;
  entry->tid = cache->now.tid;
  entry->ip = cache->now.ip;
  entry->sp = cache->now.sp;
  entry->fp = cache->now.fp;
  entry->call = cache->now.call;
  entry->memory = cache->now.memory;
  entry->exec_id = cache->now.exec_id;
  entry->n_changes = cache->now.n_changes;
  entry->version = cache->now.version;
  entry->has_fault = cache->now.has_fault;
  entry->n_kernel = 0;
  entry->stack = stack;
  size = cache->now.kernel_size;
  add.entry = entry;
  bpf_loop (size / 8, add_kernel_word, &add, 0);
  entry->kernel_size = 8 * (add.furthest + 1);

  add.furthest = 0;
  entry->n_user = input->n_read;
  bpf_loop (input->n_read, add_user_word, &add, 0);
  entry->user_size = 8 * (add.furthest + 1);
  return 0;
}
