// SPDX-License-Identifier: GPL-3.0-or-later

/* The programs that run when a thread is woken and when a new thread is started: they store
 * who woke the thread, and from which stack. */

#pragma once

#include "bpf/waits/switches.h"

SEC ("tp_btf/sched_waking")
int
sysprof_waking (unsigned long long *args)
{
  LOOK_UP (cpu, ring, control);
  struct task_struct *task = (struct task_struct *) args[0];
  struct task_struct *waker = bpf_get_current_task_btf ();
  ThreadState *state, *own;
  KernelScan scan = { 0, 0 };
  WalkInput *input;
  uint64_t now;
  bool is_interrupt;

  /* While a thread wakes itself, interrupts are on. */
  if (task->pid == waker->pid || !is_enabled (control))
    return 0;
  /* The woken thread may still run: it was about to wait, and this wake-up may prevent or end
   * that wait. */
  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (state == 0)
    {
      ring->n_unknown++;
      return 0;
    }
  if (!is_wanted (control, state, task))
    return 0;

  input = bpf_map_lookup_elem (&walk_scratch, &cpu);
  if (input == 0)
    return 0;
  state->waker_stack =
      take_stack (args, cpu, ring, control, input, 1, true, waker->pid == 0, &scan);
  is_interrupt = scan.n_interrupt > 0;
  state->waker_flags = is_interrupt ? WAIT_BY_INTERRUPT : 0;
  state->waker = is_interrupt ? 0 : (uint32_t) waker->pid;
  now = bpf_ktime_get_ns ();
  state->waking = now;
  if (!is_interrupt)
    {
      own = bpf_task_storage_get (&waits_threads, waker, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
      if (own != 0)
        write_thread (ring, own, waker, now);
    }
  return 0;
}

/* Decides from the parent whether a new thread or process belongs to the recording. */
static __always_inline void
inherit (const WaitsControl *control,
         ThreadState *own,
         struct task_struct *parent,
         ThreadState *state,
         struct task_struct *task)
{
  bool is_own_thread = task->tgid == parent->tgid;

  (void) is_wanted (control, own, parent);
  state->inherited = own->inherited == WANTED && (control->follows_forks ||
                                                  (is_own_thread && control->follows_threads))
                         ? WANTED
                         : UNWANTED;
}

SEC ("tp_btf/sched_wakeup_new")
int
sysprof_wakeup_new (unsigned long long *args)
{
  LOOK_UP (cpu, ring, control);
  struct task_struct *task = (struct task_struct *) args[0];
  struct task_struct *parent = bpf_get_current_task_btf ();
  uint64_t now = bpf_ktime_get_ns ();
  ThreadState *state, *own;
  KernelScan scan = { 0, 0 };
  WalkInput *input;

  if (!is_enabled (control) && (!control->is_chosen || control->n_ids == 0))
    return 0;
  own = bpf_task_storage_get (&waits_threads, parent, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  state = bpf_task_storage_get (&waits_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (state == 0 || own == 0)
    {
      ring->n_unknown++;
      return 0;
    }
  if (control->n_ids != 0)
    inherit (control, own, parent, state, task);
  if (!is_enabled (control))
    return 0;
  state->arrived = now;
  if (!is_wanted (control, state, task) || !is_wanted_cpu (control, cpu))
    return 0;
  input = bpf_map_lookup_elem (&walk_scratch, &cpu);
  if (input == 0)
    return 0;

  write_thread (ring, own, parent, now);
  state->waker_stack = take_stack (args, cpu, ring, control, input, 2, true, false, &scan);
  state->waker_flags = 0;
  state->waker = (uint32_t) parent->pid;
  state->waking = now;
  state->left = now;
  state->cpu = (uint16_t) cpu;
  state->stack = 0;
  state->flags = 0;
  state->lock = 0;
  state->holder = 0;
  state->call = -1;
  state->reason = WAIT_OTHER;
  return 0;
}
