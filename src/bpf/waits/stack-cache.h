// SPDX-License-Identifier: GPL-3.0-or-later

/* Caches the stacks of threads that wait at the same address repeatedly. An entry holds the
 * words of memory on which the unwinding depended. If all of them have the same values again,
 * the stack is the same and is not unwound again. */

#pragma once

#include "bpf/waits/stack.h"

/* Takes down where the current thread stands. Its registers become the input's. FALSE: nothing is kept of such a thread. */
__noinline int
waits_stand (Memos *memos, WalkInput *input, uint32_t site)
{
  struct task_struct *task = bpf_get_current_task_btf ();
  struct mm_struct *memory = task->mm;
  uint64_t stack = (uint64_t) task->stack, position, key;
  Memo *now;
  uint32_t size;

  if (memos == 0 || input == 0)
    return 0;
  now = &memos->now;
  position = memos->position;
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
  memos->set = mix (key, MEMO_BITS) * MEMO_WAYS;
  WALK_KEEP (size);
  return size <= sizeof memos->word &&
         bpf_probe_read_kernel (memos->word, size, (const void *) position) == 0;
}

static __always_inline bool
is_same_place (const Memo *memo, const Memo *now)
{
  return memo->stack != 0 && memo->site == now->site && memo->tid == now->tid &&
         memo->ip == now->ip && memo->sp == now->sp && memo->fp == now->fp &&
         memo->call == now->call && memo->memory == now->memory &&
         memo->exec_id == now->exec_id && memo->n_changes == now->n_changes &&
         memo->version == now->version;
}

static __always_inline Memo *
memo_at (Memos *memos, uint32_t way)
{
  uint32_t i = memos->set + way;

  WALK_KEEP (i);
  return &memos->memo[i & ((MEMO_WAYS << MEMO_BITS) - 1)];
}

/* Whether all words are what they were. */
static __always_inline bool
are_same (uint32_t n,
          uint32_t most,
          const uint16_t *places,
          const uint64_t *words,
          const uint64_t *found,
          uint32_t n_found)
{
  for (uint32_t i = 0; i < most && i < n; i++)
    {
      uint32_t place = places[i];

      WALK_KEEP (place);
      if (place >= n_found || found[place] != words[i])
        return false;
    }
  return true;
}

static __always_inline bool
read_user_words (Memos *memos, const Memo *memo)
{
  uint32_t size = memo->user_size;

  if (memo->n_user == 0)
    return true;
  WALK_KEEP (size);
  return size <= sizeof memos->user_word &&
         bpf_probe_read_user (memos->user_word, size, (const void *) memo->sp) == 0;
}

/* Of its own, so that the verifier follows its turns once, and not for each way again. */
__noinline int
waits_is_that (Memos *memos, uint32_t way)
{
  const Memo *memo;

  if (memos == 0)
    return 0;
  memo = memo_at (memos, way);
  return is_same_place (memo, &memos->now) && memo->kernel_size <= memos->now.kernel_size &&
         are_same (memo->n_kernel, MOST_KERNEL_SLOTS, memo->kernel, memo->kernel_word,
                   memos->word, KERNEL_WORDS) &&
         read_user_words (memos, memo) &&
         are_same (memo->n_user, MOST_USER_SLOTS, memo->user, memo->user_word, memos->user_word,
                   USER_WORDS);
}

/* The stack that was found there before, if it is still that; else 0. */
__noinline uint64_t
waits_recall (Memos *memos, Passed *passed)
{
  if (memos == 0 || passed == 0)
    return 0;
  for (uint32_t way = 0; way < MEMO_WAYS; way++)
    {
      const Memo *memo = memo_at (memos, way);

      if (!waits_is_that (memos, way))
        continue;
      passed->n_interrupt = 0;
      passed->has_fault = memo->has_fault;
      return memo->stack;
    }
  return 0;
}

typedef struct
{
  Memos *memos;
  Memo *memo;
} Forget;

static long
keep_kernel_word (uint32_t i, Forget *forget)
{
  Memo *memo = forget->memo;
  uint32_t n = memo->n_kernel, place;

  WALK_KEEP (n);
  if (i >= MOST_KERNEL_SLOTS || n >= MOST_KERNEL_SLOTS)
    return 1;
  place = memo->kernel[i];
  WALK_KEEP (place);
  if (place >= KERNEL_WORDS)
    return 1;
  if (forget->memos->word[place] == memo->kernel_word[i])
    {
      memo->kernel[n] = (uint16_t) place;
      memo->kernel_word[n] = memo->kernel_word[i];
      memo->n_kernel = n + 1;
    }
  return 0;
}

static long
keep_user_word (uint32_t i, Forget *forget)
{
  Memo *memo = forget->memo;
  uint32_t n = memo->n_user, place;

  WALK_KEEP (n);
  if (i >= MOST_USER_SLOTS || n >= MOST_USER_SLOTS)
    return 1;
  place = memo->user[i];
  WALK_KEEP (place);
  if (place >= USER_WORDS)
    return 1;
  if (forget->memos->user_word[place] == memo->user_word[i])
    {
      memo->user[n] = (uint16_t) place;
      memo->user_word[n] = memo->user_word[i];
      memo->n_user = n + 1;
    }
  return 0;
}

/* The same stack was found though words have changed: it does not depend on these. */
__noinline int
waits_forget_words (Memos *memos, uint32_t way)
{
  Forget forget = { memos, 0 };
  uint32_t n;

  if (memos == 0)
    return 0;
  forget.memo = memo_at (memos, way);
  if (!read_user_words (memos, forget.memo))
    return 0;
  n = forget.memo->n_kernel;
  forget.memo->n_kernel = 0;
  bpf_loop (n, keep_kernel_word, &forget, 0);
  n = forget.memo->n_user;
  forget.memo->n_user = 0;
  bpf_loop (n, keep_user_word, &forget, 0);
  return 0;
}

typedef struct
{
  Memos *memos;
  Memo *memo;
  const KernelStack *kernel;
  WalkInput *input;
  uint64_t lowest;
  uint64_t highest;
  uint32_t furthest;
} Learn;

static long
widen_range (uint32_t i, Learn *learn)
{
  uint64_t address;

  if (i >= WAITS_MOST_KERNEL)
    return 1;
  address = learn->kernel->address[i];
  if (address < learn->lowest)
    learn->lowest = address;
  if (address > learn->highest)
    learn->highest = address;
  return 0;
}

/* Whatever could be a return address is kept, and so all that are. */
static long
learn_kernel_word (uint32_t i, Learn *learn)
{
  uint32_t n = learn->memo->n_kernel;
  uint64_t word;

  if (i >= KERNEL_WORDS)
    return 1;
  word = learn->memos->word[i];
  if (word < learn->lowest || word > learn->highest)
    return 0;
  WALK_KEEP (n);
  if (n >= MOST_KERNEL_SLOTS)
    {
      learn->memo->stack = 0;
      return 1;
    }
  learn->memo->kernel[n] = (uint16_t) i;
  learn->memo->kernel_word[n] = word;
  learn->memo->n_kernel = n + 1;
  learn->furthest = i;
  return 0;
}

static long
learn_user_word (uint32_t i, Learn *learn)
{
  Memo *memo = learn->memo;
  uint32_t place;

  if (i >= MOST_USER_SLOTS)
    return 1;
  place = learn->input->read[i];
  memo->user[i] = (uint16_t) place;
  memo->user_word[i] = learn->input->read_word[i];
  if (place > learn->furthest)
    learn->furthest = place;
  return 0;
}

/* Keeps what was found now. */
__noinline int
waits_learn (Memos *memos,
             WalkInput *input,
             const KernelStack *kernel,
             uint32_t n,
             uint64_t stack)
{
  Learn learn = { memos, 0, kernel, input, ~UINT64_C (0), 0, 0 };
  uint32_t size;
  Memo *memo;

  if (memos == 0 || input == 0 || kernel == 0)
    return 0;
  for (uint32_t way = 0; way < MEMO_WAYS; way++)
    {
      memo = memo_at (memos, way);
      if (is_same_place (memo, &memos->now) && memo->stack == stack &&
          memo->kernel_size <= memos->now.kernel_size)
        return waits_forget_words (memos, way);
    }
  if ((input->record.reason != WALK_END && input->record.reason != WALK_ROOT &&
       input->record.reason != WALK_KERNEL_THREAD) ||
      input->has_more || (input->record.n != 0) != (memos->now.ip != 0) || n == 0)
    return 0;
  bpf_loop (n, widen_range, &learn, 0);

  memo = memo_at (memos, memos->turn++ & (MEMO_WAYS - 1));
  memo->site = memos->now.site;
  memo->tid = memos->now.tid;
  memo->ip = memos->now.ip;
  memo->sp = memos->now.sp;
  memo->fp = memos->now.fp;
  memo->call = memos->now.call;
  memo->memory = memos->now.memory;
  memo->exec_id = memos->now.exec_id;
  memo->n_changes = memos->now.n_changes;
  memo->version = memos->now.version;
  memo->has_fault = memos->now.has_fault;
  memo->n_kernel = 0;
  memo->stack = stack;
  size = memos->now.kernel_size;
  learn.memo = memo;
  bpf_loop (size / 8, learn_kernel_word, &learn, 0);
  memo->kernel_size = 8 * (learn.furthest + 1);

  learn.furthest = 0;
  memo->n_user = input->n_read;
  bpf_loop (input->n_read, learn_user_word, &learn, 0);
  memo->user_size = 8 * (learn.furthest + 1);
  return 0;
}
