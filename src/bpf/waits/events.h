// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes the events of a thread to the ring: its name, its running time, and its waits. */

#pragma once

#include "bpf/waits/ring.h"

/* Writes the thread's name and process if they have changed. */
static __always_inline void
write_thread (WaitsRing *ring, ThreadState *state, struct task_struct *task, uint64_t now)
{
  const void *name = task->comm;
  uint64_t comm[2];
  WaitsThread *thread;

  WALK_KEEP (name); /* read as two words, not as sixteen bytes */
  comm[0] = ((const uint64_t *) name)[0];
  comm[1] = ((const uint64_t *) name)[1];
  /* If a thread calls execve(), it gets the ID of the process's first thread. */
  if (state->tid == (uint32_t) task->pid && state->pid == (uint32_t) task->tgid &&
      state->comm[0] == comm[0] && state->comm[1] == comm[1])
    return;

  thread = reserve (ring, sizeof *thread);
  if (thread == 0)
    return; /* retried with the next event */
  thread->head.kind = WAITS_THREAD;
  thread->head.size = sizeof *thread;
  thread->head.tid = (uint32_t) task->pid;
  thread->pid = (uint32_t) task->tgid;
  thread->padding = 0;
  thread->time = now;
  ((uint64_t *) thread->comm)[0] = comm[0];
  ((uint64_t *) thread->comm)[1] = comm[1];
  commit (ring, sizeof *thread);
  state->tid = (uint32_t) task->pid;
  state->pid = (uint32_t) task->tgid;
  state->comm[0] = comm[0];
  state->comm[1] = comm[1];
}

static __always_inline void
write_ran (WaitsRing *ring, ThreadState *state, uint32_t tid, uint64_t now)
{
  WaitsRan *ran = reserve (ring, sizeof *ran);

  if (ran == 0)
    return;
  ran->head.kind = WAITS_RAN;
  ran->head.size = sizeof *ran;
  ran->head.tid = tid;
  ran->time = now;
  ran->ran = state->ran;
  commit (ring, sizeof *ran);
  state->ran = 0;
}

static __always_inline void
write_wait (WaitsRing *ring, ThreadState *state, uint32_t tid, uint64_t now, uint8_t flags)
{
  bool is_woken = state->waking + WAKING_BEFORE >= state->left;
  WaitsWait *wait = reserve (ring, sizeof *wait);

  if (wait == 0)
    return;
  wait->head.kind = WAITS_WAIT;
  wait->head.size = sizeof *wait;
  wait->head.tid = tid;
  wait->begin = state->left;
  wait->end = now;
  wait->ran = state->ran;
  wait->stack = state->stack;
  wait->lock = state->lock;
  wait->holder = state->holder;
  wait->call = state->call;
  wait->cpu = state->cpu;
  wait->reason = state->reason;
  wait->flags = state->flags | flags;
  if (state->reason == WAIT_PREEMPTED)
    {
      wait->woken = state->left;
      is_woken = false;
    }
  else
    wait->woken = is_woken ? state->waking : 0;
  wait->waker = is_woken ? state->waker : 0;
  wait->waker_stack = is_woken ? state->waker_stack : 0;
  wait->flags |= is_woken ? state->waker_flags : 0;
  commit (ring, sizeof *wait);
  state->ran = 0;
}
