// SPDX-License-Identifier: GPL-3.0-or-later

/* The programs that iterate over all threads when the recording begins and when it ends: they
 * report threads that have not been seen to leave or get a CPU. */

#pragma once

#include "bpf/waits/switches.h"

/* A thread of those that there are, as the kernel goes through them. */
typedef struct
{
  struct bpf_iter_meta *meta;
  struct task_struct *task; /* 0 = that was the last */
} EachTask;

/* One byte of each: who reads them comes to look at the ring now and then. */
static __always_inline void
tick (EachTask *each)
{
  const char byte = 0;

  bpf_seq_write (each->meta->seq, &byte, sizeof byte);
}

/* One that waits already: what the kernel did for it, and where it called that. Its memory is not ours to read. */
static __always_inline uint64_t
take_stack_of (WaitsRing *ring,
               const WaitsControl *control,
               EachScratch *scratch,
               struct task_struct *task,
               Passed *passed)
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
  waits_look_at (control, kernel, n, passed);
  hash = waits_hash (input, kernel, n);
  return tell_stack (ring, input, kernel, n, hash) ? hash : 0;
}

#define LOOK_UP_EACH(ring, control, scratch)                           \
  uint32_t zero = 0, place = (uint32_t) waits_constants.each_ring;     \
  WaitsRing *ring = bpf_map_lookup_elem (&waits_rings, &place);        \
  WaitsControl *control = bpf_map_lookup_elem (&waits_control, &zero); \
  EachScratch *scratch = bpf_map_lookup_elem (&waits_each, &zero);     \
                                                                       \
  if (ring == 0 || control == 0 || scratch == 0)                       \
  return 0

/* The others run already, so that nothing is missed, and what they write is theirs: this only says what a thread does of which they have
 * not seen anything by the time that it comes. */
SEC ("iter/task")
int
sysprof_begin (EachTask *each)
{
  LOOK_UP_EACH (ring, control, scratch);
  struct task_struct *task = each->task;
  ThreadState *first = &scratch->first;
  Passed passed = { 0, 0 };
  ThreadState *state;
  uint32_t task_state, cpu;

  if (!has_groups ())
    control->lacks_groups = 1;
  tick (each);
  if (task == 0 || task->pid == 0)
    return 0;
  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  /* The first time there was only to be room: where an interrupt finds this program making some, it gets none. */
  if (state == 0 || control->begin == 0 || !is_wanted (control, state, task))
    return 0;
  tell_thread (ring, state, task, control->begin);
  cpu = task->thread_info.cpu;
  if (task->on_cpu != 0 || !is_as_at_begin (control, state) || !is_wanted_cpu (control, cpu))
    return 0;

  task_state = task->__state;
  first->flags = 0;
  state->first_stack = take_stack_of (ring, control, scratch, task, &passed);
  find_reason (first, task, control, &scratch->input, &passed, task_state == 0, false);
  if ((task_state & TASK_UNINTERRUPTIBLE) != 0 && (task_state & TASK_NOLOAD) == 0)
    first->flags |= WAIT_UNINTERRUPTIBLE;
  state->first_reason = first->reason;
  state->first_flags = first->flags;
  state->first_call = first->call;
  state->first_cpu = (uint16_t) cpu;
  /* It may have come meanwhile, and what was found be of its next wait: its `arrived` says so where this is asked for. */
  (void) __sync_fetch_and_add (&state->group, 0);
  if (task->on_cpu == 0 && is_as_at_begin (control, state))
    *(volatile uint8_t *) &state->has_first = 1;
  return 0;
}

/* All others are off. */
SEC ("iter/task")
int
sysprof_end (EachTask *each)
{
  LOOK_UP_EACH (ring, control, scratch);
  struct task_struct *task = each->task;
  ThreadState *state;
  uint64_t since;
  uint32_t cpu;

  tick (each);
  if (task == 0 || task->pid == 0 || control->is_enabled)
    return 0;
  state = bpf_task_storage_get (&waits_threads, task, 0, 0);
  if (state == 0 || !is_wanted (control, state, task))
    return 0;
  tell_thread (ring, state, task, control->end);
  cpu = task->thread_info.cpu;
  if (is_as_at_begin (control, state) && task->on_cpu == 0 &&
      (!control->has_cpus || state->has_first))
    take_first (control, state, cpu);
  if (state->left != 0)
    {
      tell_wait (ring, state, (uint32_t) task->pid, control->end, WAIT_NOT_ENDED);
      return 0;
    }
  since = state->arrived > control->begin ? state->arrived : control->begin;
  if (control->end > since && is_wanted_cpu (control, cpu))
    state->ran += control->end - since;
  if (state->ran > 0)
    tell_ran (ring, state, (uint32_t) task->pid, control->end);
  return 0;
}
