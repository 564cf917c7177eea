// SPDX-License-Identifier: GPL-3.0-or-later

/* The walker in the kernel, for the BPF programs that use it: walks the user stack of the
 * current thread with the unwind tables that the recorder writes into the maps.
 *
 * The tables may be wrong and may change during a walk. So the walker checks each index before
 * it uses it, reads user memory only with a helper that survives any address, and limits the
 * number of steps. A wrong row ends the walk or causes a wrong stack, and nothing worse.
 *
 * A program may define these before it includes this file:
 *
 *   WALK_WITHOUT_EVENT      there is no perf event: the registers are those that the thread
 *                           had when it entered the kernel
 *   WALK_MORE_INPUT         members of the program's own in WalkInput
 *   WALK_FOUND (input)      called for each address found, in input->state.ip
 *   WALK_HAS_READ (input, address, word)
 *                           called for each word of the stack that the walk has read
 *   WALK_HAS_ASKED (input)  called when the walk depends on anything but the stack, IP, SP and
 *                           the frame pointer */

#pragma once
#include "bpf/walk/processes.h"
#include "bpf/walk/stack-copy.h"

typedef struct
{
  WalkInput *input;
} Walk;

/* The verifier requires proof that the result is 0 (continue) or 1. */
static __always_inline long
to_verdict (bool has_caller)
{
  uint32_t verdict = !has_caller;

  WALK_KEEP (verdict);
  return verdict & 1;
}

/* Adds the current address of the walk as address i. FALSE if there is no space. */
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

/* Copies the registers with which the thread entered the kernel or was interrupted. */
static __always_inline bool
take_registers (struct bpf_perf_event_data *context,
                struct task_struct *task,
                uint64_t *registers)
{
  /* A test passes the walker of one machine to the verifier of another, whose events do not
   * have these registers. */
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

/* A new thread may be interrupted when it returns from the kernel, in the two instructions
 * (test %rax, %rax; jl) that distinguish parent and child. */
static __always_inline bool
is_behind_system_call (WalkInput *scratch, uint64_t ip)
{
#ifdef __TARGET_ARCH_arm64
  return false; /* the return address is in a register */
#else
  uint64_t bytes = 0;

  return walk_code (scratch, ip - 7, &bytes) &&
         ((bytes >> 40 & 0xffff) == SYSTEM_CALL || (bytes >> 16 & 0xffff) == SYSTEM_CALL ||
          (bytes & 0xffff) == SYSTEM_CALL);
#endif
}

/* Walks the stack and returns the reason why the walk ended. Stores the size of what follows
 * the addresses in `rest_size`. */
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

  /* All members of the task are read here, before the first branch: the verifier may search all
   * types of the kernel by name for each such access, each time it passes it. */
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
    return WALK_KERNEL_THREAD; /* a kernel thread that works for a process */
  /* A new thread has no callers: its return address is that of its parent. (fork() copies the
   * stack; it uses another system call, or passes no new stack.) */
  call = call_number (registers);
  if (!is_compat (registers) && registers[RESULT] == 0 &&
      (call == CALL_CLONE3 || (call == CALL_CLONE && registers[SECOND] != 0 /* a new stack */)))
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
      return WALK_COMPAT; /* its frame pointers follow no convention */
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

  /* Its memory is already that of the new program. If callers were found, it still is the old
   * one. */
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
