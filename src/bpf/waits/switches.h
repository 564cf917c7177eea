// SPDX-License-Identifier: GPL-3.0-or-later

/* The program that runs with each switch between threads: it stores the wait of the thread
 * that leaves the CPU, and writes the wait of the thread that gets it. */

#pragma once

#include "bpf/waits/current-stack.h"
#include "bpf/waits/events.h"
#include "bpf/waits/reason.h"
#include "bpf/waits/selection.h"

/* The thread leaves a CPU, but no program has seen it get one: the kernel has skipped that
 * switch. If the thread was woken during its wait, the wait ends at the wake-up, because a CPU
 * follows soon after. Otherwise the end of the wait is unknown, and the wait is not
 * reported. */
static __always_inline void
arrive_unseen (WaitsRing *ring, ThreadState *state, uint32_t tid)
{
  if (state->waking >= state->left && state->reason != WAIT_PREEMPTED)
    {
      write_wait (ring, state, tid, state->waking, 0);
      state->arrived = state->waking;
    }
  else
    state->arrived = state->left; /* its running time has been counted up to there */
}

static __always_inline void
leave (void *context,
       WaitsRing *ring,
       const WaitsControl *control,
       struct task_struct *task,
       uint64_t now,
       uint32_t cpu,
       bool is_preempted,
       uint32_t task_state)
{
  KernelScan scan = { 0, 0 };
  ThreadState *state;
  WalkInput *input;
  uint64_t since;

  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (state == 0)
    {
      ring->n_unknown++;
      return;
    }
  if (!is_wanted (control, state, task) || !is_wanted_cpu (control, cpu))
    {
      state->left = 0;
      state->arrived = now; /* earlier running time is not reported either */
      return;
    }
  if (state->left != 0)
    arrive_unseen (ring, state, (uint32_t) task->pid);
  state->left = 0;
  since = state->arrived > control->begin ? state->arrived : control->begin;
  if (now > since)
    state->ran += now - since;
  if ((task_state & TASK_DEAD) != 0)
    {
      write_thread (ring, state, task, now);
      write_ran (ring, state, (uint32_t) task->pid, now);
      return;
    }
  input = bpf_map_lookup_elem (&walk_scratch, &cpu);
  if (input == 0)
    return;
  write_thread (ring, state, task, now);
  state->flags = 0;
  state->stack = take_stack (context, cpu, ring, control, input, 0, false, false, &scan);
  find_reason (state, task, control, input, &scan, is_preempted || task_state == 0, true);
  /* A preemption may come when the thread is about to wait: then its state is not the
   * reason. */
  if (!is_preempted && (task_state & TASK_UNINTERRUPTIBLE) != 0 &&
      (task_state & TASK_NOLOAD) == 0)
    state->flags |= WAIT_UNINTERRUPTIBLE;
  state->cpu = (uint16_t) cpu;
  state->left = now;
}

/* Whether the thread has neither left nor got a CPU since the recording began, so that its
 * state is still the initial one. */
static __always_inline bool
is_unseen (const WaitsControl *control, const ThreadState *state)
{
  return state->left == 0 && state->arrived <= control->begin;
}

/* Makes the state that of a wait since the recording began. */
static __always_inline void
take_initial_wait (const WaitsControl *control, ThreadState *state, uint32_t cpu)
{
  bool has_initial = state->has_initial != 0;

  state->left = control->begin;
  state->reason = has_initial ? state->initial_reason : WAIT_OTHER;
  state->call = has_initial ? state->initial_call : -1;
  state->flags = WAIT_BEGAN_BEFORE | (has_initial ? state->initial_flags : 0);
  state->stack = has_initial ? state->initial_stack : 0;
  state->cpu = has_initial ? state->initial_cpu : (uint16_t) cpu;
  state->lock = 0;
  state->holder = 0;
}

static __always_inline void
arrive (WaitsRing *ring,
        const WaitsControl *control,
        struct task_struct *task,
        uint64_t now,
        uint32_t cpu)
{
  ThreadState *state;

  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (state == 0)
    {
      ring->n_unknown++;
      return;
    }
  if (is_wanted (control, state, task))
    {
      if (is_unseen (control, state) && (!control->has_cpus || state->has_initial))
        take_initial_wait (control, state, cpu);
      if (state->left != 0)
        {
          write_thread (ring, state, task, now);
          write_wait (ring, state, (uint32_t) task->pid, now, 0);
        }
    }
  state->arrived = now;
  state->left = 0;
  state->waking = 0;
}

static __always_inline bool
is_enabled (const WaitsControl *control)
{
  return *(volatile const uint32_t *) &control->is_enabled != 0;
}

#define LOOK_UP(cpu, ring, control)                                          \
  uint32_t zero = 0;                                                         \
  uint32_t cpu = bpf_get_smp_processor_id ();                                \
  WaitsRing *ring = bpf_map_lookup_elem (&waits_rings, &cpu);                \
  const WaitsControl *control = bpf_map_lookup_elem (&waits_control, &zero); \
                                                                             \
  if (ring == 0 || control == 0)                                             \
  return 0

SEC ("tp_btf/sched_switch")
int
sysprof_switch (unsigned long long *args)
{
  LOOK_UP (cpu, ring, control);
  struct task_struct *previous = (struct task_struct *) args[1];
  struct task_struct *next = (struct task_struct *) args[2];
  uint64_t now = bpf_ktime_get_ns ();

  if (!is_enabled (control))
    return 0;
  if (ring->current != 0 && ring->current != 1 + (uint64_t) previous->pid)
    ring->n_unseen++;
  ring->current = 1 + (uint64_t) next->pid;
  if (previous->pid != 0)
    leave (args, ring, control, previous, now, cpu, args[0] != 0, (uint32_t) args[3]);
  if (next->pid != 0)
    arrive (ring, control, next, now, cpu);
  return 0;
}
