// SPDX-License-Identifier: GPL-3.0-or-later

/* The programs that iterate over all threads when the recording begins and when it ends: they
 * report threads that have not been seen to leave or get a CPU. */

#pragma once

#include "bpf/waits/switches.h"

/* The context of an iterator program: one thread. */
typedef struct
{
  struct bpf_iter_meta *meta;
  struct task_struct *task; /* 0 = the iteration is over */
} TaskIterator;

/* Emits one byte per thread: reading the iterator returns regularly, and the recorder drains
 * the ring in between. */
static __always_inline void
tick (TaskIterator *iterator)
{
  const char byte = 0;

  bpf_seq_write (iterator->meta->seq, &byte, sizeof byte);
}

/* Takes the stack of a thread that already waits: its kernel stack, and the user address from
 * which it called the kernel. The user memory of another process cannot be read here. */
static __always_inline uint64_t
take_stack_of (WaitsRing *ring,
               const WaitsControl *control,
               IteratorScratch *scratch,
               struct task_struct *task,
               KernelScan *scan)
{
  KernelStack *kernel = &scratch->kernel;
  WalkInput *input = &scratch->input;
  uint64_t hash;
  uint32_t n;
  long size;

  input->registers[IP] = 0;
  input->registers[CALL_NUMBER] = ~UINT64_C (0);
  input->record.n = 0;
  input->record.used = 0;
  input->record.reason = WALK_KERNEL_THREAD;
  input->hash = 0;
  if ((task->flags & PF_KTHREAD) == 0 && task->mm != 0 &&
      bpf_probe_read_kernel (input->registers, sizeof input->registers,
                             (const void *) bpf_task_pt_regs (task)) == 0 &&
      input->registers[IP] != 0)
    {
      input->record.address[0] = input->registers[IP];
      input->record.n = 1;
      input->record.reason = WALK_NOT_YET;
      FOLD (input->hash, input->registers[IP]);
    }
  size = bpf_get_task_stack (task, kernel->address, WAITS_MOST_KERNEL * 8, 0);
  n = size > 0 ? (uint32_t) size / 8 : 0;
  waits_scan (control, kernel, n, scan);
  hash = waits_hash (input, kernel, n);
  return write_stack (ring, input, kernel, n, hash) ? hash : 0;
}

#define LOOK_UP_ITERATOR(ring, control, scratch)                           \
  uint32_t zero = 0, position = (uint32_t) waits_constants.iterator_ring;  \
  WaitsRing *ring = bpf_map_lookup_elem (&waits_rings, &position);         \
  WaitsControl *control = bpf_map_lookup_elem (&waits_control, &zero);     \
  IteratorScratch *scratch = bpf_map_lookup_elem (&waits_iterator, &zero); \
                                                                           \
  if (ring == 0 || control == 0 || scratch == 0)                           \
  return 0

/* Records what each thread does at the start. The other programs run already, so that no switch
 * is missed. This program writes only the members that those do not write, and they use them
 * for threads whose first switch comes later. */
SEC ("iter/task")
int
sysprof_begin (TaskIterator *iterator)
{
  LOOK_UP_ITERATOR (ring, control, scratch);
  struct task_struct *task = iterator->task;
  ThreadState *first = &scratch->first;
  KernelScan scan = { 0, 0 };
  ThreadState *state;
  uint32_t task_state, cpu;

  if (!has_groups ())
    control->has_no_cgroups = 1;
  tick (iterator);
  if (task == 0 || task->pid == 0)
    return 0;
  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  /* The first iteration only allocates the storage of each thread. An interrupt during an
   * allocation finds none. */
  if (state == 0 || control->begin == 0 || !is_wanted (control, state, task))
    return 0;
  write_thread (ring, state, task, control->begin);
  cpu = task->thread_info.cpu;
  if (task->on_cpu != 0 || !is_unseen (control, state) || !is_wanted_cpu (control, cpu))
    return 0;

  task_state = task->__state;
  first->flags = 0;
  state->initial_stack = take_stack_of (ring, control, scratch, task, &scan);
  find_reason (first, task, control, &scratch->input, &scan, task_state == 0, false);
  if ((task_state & TASK_UNINTERRUPTIBLE) != 0 && (task_state & TASK_NOLOAD) == 0)
    first->flags |= WAIT_UNINTERRUPTIBLE;
  state->initial_reason = first->reason;
  state->initial_flags = first->flags;
  state->initial_call = first->call;
  state->initial_cpu = (uint16_t) cpu;
  /* The thread may have run meanwhile, and this may be the stack of its next wait. Its
   * `arrived` then differs from the initial value, which the readers of these members check. */
  (void) __sync_fetch_and_add (&state->group, 0);
  if (task->on_cpu == 0 && is_unseen (control, state))
    *(volatile uint8_t *) &state->has_initial = 1;
  return 0;
}

/* The other programs do not run any more. */
SEC ("iter/task")
int
sysprof_end (TaskIterator *iterator)
{
  LOOK_UP_ITERATOR (ring, control, scratch);
  struct task_struct *task = iterator->task;
  ThreadState *state;
  uint64_t since;
  uint32_t cpu;

  tick (iterator);
  if (task == 0 || task->pid == 0 || control->is_enabled)
    return 0;
  state = bpf_task_storage_get (&waits_threads, task, 0, 0);
  if (state == 0 || !is_wanted (control, state, task))
    return 0;
  write_thread (ring, state, task, control->end);
  cpu = task->thread_info.cpu;
  if (is_unseen (control, state) && task->on_cpu == 0 &&
      (!control->has_cpus || state->has_initial))
    take_initial_wait (control, state, cpu);
  if (state->left != 0)
    {
      write_wait (ring, state, (uint32_t) task->pid, control->end, WAIT_NOT_ENDED);
      return 0;
    }
  since = state->arrived > control->begin ? state->arrived : control->begin;
  if (control->end > since && is_wanted_cpu (control, cpu))
    state->ran += control->end - since;
  if (state->ran > 0)
    write_ran (ring, state, (uint32_t) task->pid, control->end);
  return 0;
}
