// SPDX-License-Identifier: GPL-3.0-or-later

/* Unwinds the stacks of the current thread, finds the interrupt or page fault in a kernel
 * stack, and writes each stack to the ring once. */

#pragma once

#include "bpf/waits/ring.h"

/* Called for each word that the walk reads, in that order. */
static inline void
waits_note_read (WalkInput *input, unsigned long long address, unsigned long long word)
{
  uint64_t position = (address - input->base) >> 3;
  uint32_t n = input->n_read;

  WALK_KEEP (n);
  if (n >= MOST_USER_SLOTS || (address & 7) != 0 || position >= USER_WORDS)
    {
      input->has_more = 1;
      return;
    }
  input->read[n] = (uint16_t) position;
  input->read_word[n] = word;
  input->n_read = n + 1;
}

/* Walks the user stack of the current thread. */
__noinline int
waits_walk (WalkInput *input)
{
  struct task_struct *task = bpf_get_current_task_btf ();
  uint32_t rest_size = 0;

  if (input == 0)
    return 0;
  input->record.n = 0;
  input->record.used = 0;
  input->hash = 0;
  input->n_read = 0;
  input->has_more = 0;
  input->record.reason = (uint8_t) walk_stack (0, task, input, &rest_size);
  return 0;
}

/* The result of a scan of a kernel stack: how many of its first frames belong to an interrupt
 * that is in progress, and whether the stack contains a page fault. */
typedef struct
{
  uint32_t n_interrupt;
  uint32_t has_fault;
} KernelScan;

static __always_inline bool
is_in_range (const WaitsRange *range, uint64_t address)
{
  return address - range->start < range->end - range->start;
}

static __always_inline bool
is_in_any (const WaitsRange *ranges, uint32_t n, uint64_t address)
{
  for (uint32_t i = 0; i < n; i++)
    if (is_in_range (&ranges[i], address))
      return true;
  return false;
}

typedef struct
{
  const WaitsControl *control;
  const KernelStack *kernel;
  KernelScan *scan;
} ScanContext;

/* The scan ends at the code that returns to user space: it runs on behalf of the thread itself,
 * however the kernel was entered. */
static long
scan_address (uint32_t i, ScanContext *context)
{
  const WaitsControl *control = context->control;
  KernelScan *scan = context->scan;
  uint64_t address;

  if (i >= WAITS_MOST_KERNEL)
    return 1;
  address = context->kernel->address[i];
  if (is_in_any (control->interrupts, WAITS_N_INTERRUPTS, address))
    scan->n_interrupt = i + 1;
  else if (scan->n_interrupt != 0 || is_in_any (control->exits, WAITS_N_EXITS, address))
    return 1;
  else if (is_in_range (&control->faults, address))
    scan->has_fault = 1;
  return 0;
}

__noinline int
waits_scan (const WaitsControl *control,
            const KernelStack *kernel,
            uint32_t n,
            KernelScan *scan)
{
  ScanContext context = { control, kernel, scan };

  if (control == 0 || kernel == 0 || scan == 0)
    return 0;
  scan->n_interrupt = 0;
  scan->has_fault = 0;
  bpf_loop (n, scan_address, &context, 0);
  return 0;
}

typedef struct
{
  const KernelStack *kernel;
  uint64_t hash;
} HashOf;

static long
hash_address (uint32_t i, HashOf *of)
{
  if (i >= WAITS_MOST_KERNEL)
    return 1;
  FOLD (of->hash, of->kernel->address[i]);
  return 0;
}

/* A hash of both stacks; never 0. */
__noinline uint64_t
waits_hash (WalkInput *input, const KernelStack *kernel, uint32_t n)
{
  HashOf of = { kernel, 0 };

  if (input == 0 || kernel == 0)
    return 1;
  of.hash = input->hash + input->record.reason;
  bpf_loop (n, hash_address, &of, 0);
  return of.hash != 0 ? of.hash : 1;
}

/* Writes the stack to the ring unless it has been written before. FALSE: the ring is full. */
static __always_inline bool
write_stack (WaitsRing *ring,
             WalkInput *input,
             KernelStack *kernel,
             uint32_t n_kernel,
             uint64_t hash)
{
  uint32_t zero = 0, size;
  ReportedStacks *reported = bpf_map_lookup_elem (&waits_reported, &zero);
  uint32_t slot = mix (hash, REPORTED_BITS);
  uint32_t n_user = input->record.n;
  WaitsStack *stack;

  if (reported == 0)
    return false;
  if (reported->hash[slot & ((1u << REPORTED_BITS) - 1)] == hash)
    return true;

  WALK_KEEP (n_user);
  WALK_KEEP (n_kernel);
  if (n_user > WAITS_MOST_USER || n_kernel > WAITS_MOST_KERNEL)
    return false;
  size = sizeof *stack + 8 * (n_user + n_kernel);
  stack = reserve (ring, size);
  if (stack == 0)
    return false;
  stack->head.kind = WAITS_STACK;
  stack->head.size = (uint16_t) size;
  stack->head.tid = 0;
  stack->hash = hash;
  stack->reason = input->record.reason;
  stack->used = input->record.used;
  stack->n_kernel = (uint16_t) n_kernel;
  stack->n_user = (uint16_t) n_user;
  bpf_probe_read_kernel (stack->address, 8 * n_kernel, kernel->address);
  bpf_probe_read_kernel (stack->address + n_kernel, 8 * n_user, input->record.address);
  commit (ring, size);
  reported->hash[slot & ((1u << REPORTED_BITS) - 1)] = hash;
  return true;
}
