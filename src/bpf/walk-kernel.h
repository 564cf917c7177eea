// SPDX-License-Identifier: GPL-3.0-or-later

/* The walker in the kernel, for the BPF programs that use it: walks the user stack of the current thread with the tables that the
 * recorder lays out in the maps.
 *
 * The tables may be wrong, and may change under the walk: an index is checked before it is used, memory of the program
 * is read by a helper that survives any address, the number of steps is bounded. A wrong row ends a walk or makes a wrong
 * stack, nothing more.
 *
 *   WALK_WITHOUT_EVENT     the program runs in the kernel's own code, and there are no registers but those with which
 *                          the thread came into the kernel
 *   WALK_FOUND (input)     is done with each address that was found, in input->state.ip; WALK_MORE_INPUT are members for that
 *   WALK_HAS_READ (input, address, word)   with each word of the stack that the walk depends on
 *   WALK_HAS_ASKED (input)                 when it depends on something else but IP, SP and frame pointer
 */

#pragma once
#include "bpf/walk/processes.h"
#include "bpf/walk/stack-copy.h"

typedef struct
{
  WalkInput *input;
} Walk;

/* 0 = go on; the verifier wants to see that it is this or 1. */
static __always_inline long
to_verdict (bool has_caller)
{
  uint32_t verdict = !has_caller;

  WALK_KEEP (verdict);
  return verdict & 1;
}

/* Where the walk is now, as address i. False where there is no room. */
static __always_inline bool
add_address (WalkInput *input, uint32_t i)
{
  WalkRecord *record = &input->record;

  if (i >= WALK_MOST_ADDRESSES)
    return false;
  record->address[i] = input->state.ip;
  record->n = (uint16_t) (i + 1);
  WALK_FOUND (input);
  return true;
}

static long
walk_one_frame (uint32_t i, Walk *walk)
{
  WalkInput *input = walk->input;

  if (!add_address (input, i))
    return 1;
  return to_verdict (sysprof_walk_step (&input->state, input));
}

static long
walk_one_compat_frame (uint32_t i, Walk *walk)
{
  WalkInput *input = walk->input;

  if (!add_address (input, i))
    return 1;
  return to_verdict (sysprof_walk_compat_step (&input->state, input,
                                               input->registers[CALL_NUMBER] != ~UINT64_C (0)));
}

/* The registers with which the program went into the kernel, or was interrupted. */
static __always_inline bool
take_registers (struct bpf_perf_event_data *context,
                struct task_struct *task,
                uint64_t *registers)
{
  /* For a test, which has the verifier of one machine read the walker of another, whose events have no such registers. */
#if !defined WALK_FOREIGN && !defined WALK_WITHOUT_EVENT
  const volatile bpf_user_pt_regs_t *now = &context->regs;

  if (IS_USER_MODE (now))
    {
      keep_registers (now, registers);
      return true;
    }
#endif
  return bpf_probe_read_kernel (registers, N_REGISTERS * sizeof *registers,
                                (const void *) bpf_task_pt_regs (task)) == 0;
}

/* A thread that has just been made, and was interrupted as it came out of the kernel: in the two instructions (test %rax, %rax; jl) in
 * which the maker of a thread finds out which of both it is. */
static __always_inline bool
is_behind_system_call (WalkInput *scratch, uint64_t ip)
{
#ifdef __TARGET_ARCH_arm64
  return false; /* whose return address is in a register */
#else
  uint64_t bytes = 0;

  return walk_code (scratch, ip - 7, &bytes) &&
         ((bytes >> 40 & 0xffff) == SYSTEM_CALL || (bytes >> 16 & 0xffff) == SYSTEM_CALL ||
          (bytes & 0xffff) == SYSTEM_CALL);
#endif
}

/* The reason why it ended; `rest_size` has the size of what stands behind the addresses. */
static __always_inline uint32_t
walk_stack (struct bpf_perf_event_data *context,
            struct task_struct *task,
            WalkInput *scratch,
            uint32_t *rest_size)
{
  uint64_t *registers = scratch->registers;
  struct mm_struct *memory = task->mm;
  WalkState *state = &scratch->state;
  Walk walk = { scratch };
  uint32_t call;

  /* All of the task at once, before ways part: the kernel that we know searches all its types by name for each such line that it
   * verifies, and each time that it does. */
  if ((task->flags & PF_KTHREAD) != 0 || memory == 0)
    return WALK_KERNEL_THREAD;
  scratch->version = walk_index.version;
  scratch->stack_end = memory->start_stack + WALK_REST_ABOVE_START;
#ifndef __TARGET_ARCH_arm64
  scratch->thread_base = task->thread.fsbase;
#endif
  if (walk_asks_kernel)
    {
      scratch->areas = (uint64_t) memory->mm_mt.ma_root;
      scratch->vdso = (uint64_t) memory->context.vdso;
      recall_mappings (scratch, memory, (uint32_t) task->self_exec_id);
    }

  if (!take_registers (context, task, registers) || registers[IP] == 0)
    return WALK_KERNEL_THREAD; /* the kernel's own threads that work for a process */
  /* A thread that has just been made has not called anything; what it returns from is its maker's. (fork(), which copies
   * the stack as well, is another system call, or gives no new one.) */
  call = call_number (registers);
  if (!is_compat (registers) && registers[RESULT] == 0 &&
      (call == CALL_CLONE3 ||
       (call == CALL_CLONE && registers[SECOND] != 0 /* a stack of its own */)))
    {
      scratch->record.address[0] = registers[IP];
      scratch->record.n = 1;
      return WALK_END;
    }

  scratch->record.address[0] = registers[IP];
  scratch->record.n = 1;
  scratch->window_size = 0;
  __builtin_memset (state, 0, sizeof *state);
  state->ip = registers[IP];
  state->sp = registers[SP];
  state->fp = registers[FRAME_POINTER];
#ifdef __TARGET_ARCH_arm64
  state->lr = registers[LINK];
  state->code_mask = walk_code_mask;
#endif
  state->is_exact = true;
  state->has_registers = true;

  if (is_compat (registers))
    {
#ifdef __TARGET_ARCH_arm64
      return WALK_COMPAT; /* whose frame pointers are wherever its compiler wants them */
#endif
      if (!walk_asks_kernel && !find_mappings (task, state, scratch))
        return WALK_COMPAT;
      if (bpf_loop (walk_most_addresses, walk_one_compat_frame, &walk, 0) > 0 &&
          state->reason == WALK_RUNNING)
        state->reason = WALK_DEPTH;
      scratch->record.used = (uint8_t) state->used;
      return state->reason;
    }

  if (walk_asks_kernel || find_mappings (task, state, scratch))
    {
      if (bpf_loop (walk_most_addresses, walk_one_frame, &walk, 0) > 0 &&
          state->reason == WALK_RUNNING)
        state->reason = WALK_DEPTH;
    }
  else
    state->reason = WALK_NO_PROCESS;
  scratch->record.used = (uint8_t) state->used;

  if (state->reason == WALK_ZERO && scratch->record.n == 1 && registers[RESULT] == 0 &&
      is_behind_system_call (scratch, registers[IP]))
    return WALK_END;

  /* Its memory is the next program's already; where callers were found, it is still there. */
  if (state->reason != WALK_END && state->reason != WALK_ROOT && scratch->record.n == 1 &&
      (call == CALL_EXECVE || call == CALL_EXECVEAT))
    return WALK_IN_EXEC;

#ifndef WALK_WITHOUT_EVENT
  if (state->reason == WALK_NO_TABLE ||
      (!walk_asks_kernel &&
       (state->reason == WALK_NO_PROCESS || state->reason == WALK_NO_MAPPING)))
    *rest_size = add_rest (scratch, state);
#endif
  return state->reason;
}
