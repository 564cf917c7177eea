// SPDX-License-Identifier: GPL-3.0-or-later

/* The registers of each machine: their positions in struct pt_regs, and the numbers of system
 * calls. For BPF programs only. __TARGET_ARCH_arm64 selects arm64; otherwise it is x86-64. */

#pragma once

#include <linux/bpf.h>

#include <linux/bpf_perf_event.h>

/* The registers that are copied, as words of struct pt_regs. */
#ifdef __TARGET_ARCH_arm64
enum
{
  X0,
  FRAME_POINTER = 29,
  LINK = 30,
  SP = 31,
  IP = 32,
  STATE = 33,
  CALL_NUMBER = 35, /* of the system call, in the lower half; -1 = none */
  N_REGISTERS
};

#  define RESULT X0 /* of a system call */
#  define FIRST  34 /* the first argument, saved at entry */
#  define SECOND 1
#  define THIRD  2

#  define IS_USER_MODE(regs) (((regs)->pstate & 15) == 0)
#  define STATE_32_BITS      0x10

#  define CALL_CLONE    220u
#  define CALL_EXECVE   221u
#  define CALL_EXECVEAT 281u
#  define CALL_CLONE3   435u

#  define CALL_WAIT4           260u
#  define CALL_WAITID          95u
#  define CALL_NANOSLEEP       101u
#  define CALL_CLOCK_NANOSLEEP 115u
#  define CALL_FUTEX           98u
#else
enum
{
  R15,
  R14,
  R13,
  R12,
  FRAME_POINTER,
  BX,
  R11,
  R10,
  R9,
  R8,
  AX,
  CX,
  DX,
  SI,
  DI,
  CALL_NUMBER, /* of the system call; -1 = none */
  IP,
  CS,
  FLAGS,
  SP,
  SS,
  N_REGISTERS
};

#  define RESULT AX
#  define FIRST  DI
#  define SECOND SI
#  define THIRD  DX

#  define IS_USER_MODE(regs) (((regs)->cs & 3) == 3)
#  define CS_64_BITS         0x33 /* 64-bit code */

#  define CALL_CLONE    56u
#  define CALL_EXECVE   59u
#  define CALL_EXECVEAT 322u
#  define CALL_CLONE3   435u
#  define SYSTEM_CALL   0x050fu /* the opcode */

#  define CALL_WAIT4           61u
#  define CALL_WAITID          247u
#  define CALL_NANOSLEEP       35u
#  define CALL_CLOCK_NANOSLEEP 230u
#  define CALL_FUTEX           202u
#endif

#define CALL_FUTEX_WAITV 449u
#define CALL_FUTEX_WAIT  455u

static __always_inline bool
is_compat (const uint64_t *registers)
{
#ifdef __TARGET_ARCH_arm64
  return (registers[STATE] & STATE_32_BITS) != 0;
#else
  return registers[CS] != CS_64_BITS;
#endif
}

static __always_inline uint32_t
call_number (const uint64_t *registers)
{
  return (uint32_t) registers[CALL_NUMBER];
}

/* Copies the registers of an interrupted program. One by one, because the compiler would merge
 * the loads into ones that the verifier refuses. */
static __always_inline void
keep_registers (const volatile bpf_user_pt_regs_t *now, uint64_t *registers)
{
#ifdef __TARGET_ARCH_arm64
#  pragma unroll
  for (uint32_t i = 0; i < 31; i++)
    registers[i] = now->regs[i];
  registers[SP] = now->sp;
  registers[IP] = now->pc;
  registers[STATE] = now->pstate;
#else
  registers[R15] = now->r15;
  registers[R14] = now->r14;
  registers[R13] = now->r13;
  registers[R12] = now->r12;
  registers[FRAME_POINTER] = now->rbp;
  registers[BX] = now->rbx;
  registers[R11] = now->r11;
  registers[R10] = now->r10;
  registers[R9] = now->r9;
  registers[R8] = now->r8;
  registers[AX] = now->rax;
  registers[CX] = now->rcx;
  registers[DX] = now->rdx;
  registers[SI] = now->rsi;
  registers[DI] = now->rdi;
  registers[IP] = now->rip;
  registers[CS] = now->cs;
  registers[FLAGS] = now->eflags;
  registers[SP] = now->rsp;
  registers[SS] = now->ss;
#endif
  registers[CALL_NUMBER] = ~UINT64_C (0);
}

/* The position of a register by its DWARF number; there are 16. */
#ifdef __TARGET_ARCH_arm64
static __always_inline uint32_t
index_of_register (uint32_t number)
{
  return number & 15;
}
#else
/* ax dx cx bx si di bp sp, one byte each from the lowest; then r8 … r15. A table in memory
 * would be another map. */
#  define PLACE(i, register) ((uint64_t) (register) << (8 * (i)))
#  define LOW_INDEXES                                                                \
    (PLACE (0, AX) | PLACE (1, DX) | PLACE (2, CX) | PLACE (3, BX) | PLACE (4, SI) | \
     PLACE (5, DI) | PLACE (6, FRAME_POINTER) | PLACE (7, SP))
#  define HIGH_INDEXES                                                                  \
    (PLACE (0, R8) | PLACE (1, R9) | PLACE (2, R10) | PLACE (3, R11) | PLACE (4, R12) | \
     PLACE (5, R13) | PLACE (6, R14) | PLACE (7, R15))

static __always_inline uint32_t
index_of_register (uint32_t number)
{
  uint64_t indexes = (number & 8) != 0 ? HIGH_INDEXES : LOW_INDEXES;

  return (uint32_t) (indexes >> (8 * (number & 7))) & 31;
}
#endif

static __always_inline void
copy_registers (uint64_t *to, const uint64_t *registers)
{
#ifdef __TARGET_ARCH_arm64
#  pragma unroll
  for (uint32_t i = 0; i < 16; i++)
    to[i] = registers[i];
#else
  to[0] = registers[AX];
  to[1] = registers[DX];
  to[2] = registers[CX];
  to[3] = registers[BX];
  to[4] = registers[SI];
  to[5] = registers[DI];
  to[6] = registers[FRAME_POINTER];
  to[7] = registers[SP];
  to[8] = registers[R8];
  to[9] = registers[R9];
  to[10] = registers[R10];
  to[11] = registers[R11];
  to[12] = registers[R12];
  to[13] = registers[R13];
  to[14] = registers[R14];
  to[15] = registers[R15];
#endif
}
