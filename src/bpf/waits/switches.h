// SPDX-License-Identifier: GPL-3.0-or-later

/* The program that runs with each switch between threads: it stores the wait of the thread
 * that leaves the CPU, and writes the wait of the thread that gets it. */

#pragma once

#include "bpf/waits/current-stack.h"
#include "bpf/waits/events.h"
#include "bpf/waits/reason.h"
#include "bpf/waits/selection.h"

/* It leaves and has not been seen to come: the kernel passed over that switch. It came soon after it was woken, where it was; when else is not
 * known, and that wait is not told. */
static __always_inline void
arrive_unseen (WaitsRing *ring, ThreadState *state, uint32_t tid)
{
  if (state->waking >= state->left && state->reason != WAIT_PREEMPTED)
    {
      tell_wait (ring, state, tid, state->waking, 0);
      state->arrived = state->waking;
    }
  else
    state->arrived = state->left; /* up to there it is counted */
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
  Passed passed = { 0, 0 };
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
      state->arrived = now; /* what was before is not told either */
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
      tell_thread (ring, state, task, now);
      tell_ran (ring, state, (uint32_t) task->pid, now);
      return;
    }
  input = bpf_map_lookup_elem (&walk_scratch, &cpu);
  if (input == 0)
    return;
  tell_thread (ring, state, task, now);
  state->flags = 0;
  state->stack = take_stack (context, cpu, ring, control, input, 0, false, false, &passed);
  find_reason (state, task, control, input, &passed, is_preempted || task_state == 0, true);
  /* What takes its CPU away may come when it is about to wait. */
  if (!is_preempted && (task_state & TASK_UNINTERRUPTIBLE) != 0 &&
      (task_state & TASK_NOLOAD) == 0)
    state->flags |= WAIT_UNINTERRUPTIBLE;
  state->cpu = (uint16_t) cpu;
  state->left = now;
}

/* Nobody has seen it come or leave: it does what it did when the recording began. */
static __always_inline bool
is_as_at_begin (const WaitsControl *control, const ThreadState *state)
{
  return state->left == 0 && state->arrived <= control->begin;
}

/* It has waited since then. */
static __always_inline void
take_first (const WaitsControl *control, ThreadState *state, uint32_t cpu)
{
  bool has_first = state->has_first != 0;

  state->left = control->begin;
  state->reason = has_first ? state->first_reason : WAIT_OTHER;
  state->call = has_first ? state->first_call : -1;
  state->flags = WAIT_BEGAN_BEFORE | (has_first ? state->first_flags : 0);
  state->stack = has_first ? state->first_stack : 0;
  state->cpu = has_first ? state->first_cpu : (uint16_t) cpu;
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
      if (is_as_at_begin (control, state) && (!control->has_cpus || state->has_first))
        take_first (control, state, cpu);
      if (state->left != 0)
        {
          tell_thread (ring, state, task, now);
          tell_wait (ring, state, (uint32_t) task->pid, now, 0);
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
