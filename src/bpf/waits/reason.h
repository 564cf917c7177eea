// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds out why a thread waits: its system call, the lock and the lock's owner, I/O, a page
 * fault, or preemption. */

#pragma once

#include "bpf/waits/stack.h"

/* Finds the thread that owns the lock for which the task waits, if the lock records it. The IDs
 * of threads are those of the first PID namespace. */
static __always_inline void
find_lock (ThreadState *state, struct task_struct *task, const uint64_t *registers)
{
  uint32_t command = (uint32_t) registers[SECOND] & FUTEX_COMMAND;
  uint32_t word = 0, owner = 0;

  if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET && command != FUTEX_LOCK_PI &&
      command != FUTEX_LOCK_PI2 && command != FUTEX_WAIT_REQUEUE_PI)
    return;
  state->lock = registers[FIRST];
  state->flags |= WAIT_HAS_LOCK;
  if (bpf_probe_read_user (&word, sizeof word, (const void *) state->lock) != 0 ||
      task->thread_pid->level != 0)
    return;
  if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2)
    state->holder = word & FUTEX_TID;
  else if (word == CONTENDED && (uint32_t) registers[THIRD] == CONTENDED &&
           bpf_probe_read_user (&owner, sizeof owner,
                                (const void *) (state->lock + OWNER_OFFSET)) == 0)
    state->holder = owner & FUTEX_TID;
}

static __always_inline uint8_t
reason_of_call (uint32_t call)
{
  switch (call)
    {
    case CALL_WAIT4:
    case CALL_WAITID:
      return WAIT_CHILD;
    case CALL_NANOSLEEP:
    case CALL_CLOCK_NANOSLEEP:
      return WAIT_SLEEP;
    case CALL_FUTEX:
    case CALL_FUTEX_WAITV:
    case CALL_FUTEX_WAIT:
      return WAIT_FUTEX;
    default:
      return WAIT_SYSCALL;
    }
}

/* The caller has read the registers of a thread that has any. */
static __always_inline void
find_reason (ThreadState *state,
             struct task_struct *task,
             const WaitsControl *control,
             WalkInput *input,
             const KernelScan *scan,
             bool is_able,
             bool is_current)
{
  uint64_t *registers = input->registers;
  bool is_exception = false;

  state->lock = 0;
  state->holder = 0;
  state->call = -1;
  state->reason = WAIT_OTHER;
  if (registers[IP] == 0)
    {
      if (BPF_CORE_READ_BITFIELD (task, in_iowait))
        state->reason = WAIT_IO;
    }
  else
    {
      int64_t number = (int32_t) registers[CALL_NUMBER];

      if (is_compat (registers))
        number = -1;
      else if (number < 0)
        is_exception = true;
      state->call = (int32_t) number;
      if (number >= 0)
        state->reason = reason_of_call ((uint32_t) number);
      if (state->reason >= WAIT_SYSCALL && BPF_CORE_READ_BITFIELD (task, in_iowait))
        state->reason = WAIT_IO;
      if (state->reason == WAIT_FUTEX && !is_able && number == CALL_FUTEX && is_current)
        find_lock (state, task, registers);
    }
  if (is_able)
    state->reason = WAIT_PREEMPTED;
  else if (scan->has_fault || (is_exception && control->faults.end == 0))
    state->reason = WAIT_PAGE_FAULT;
}
