// SPDX-License-Identifier: GPL-3.0-or-later

/* A copy of the stack in a sample: what PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER add to it. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* perf_event_attr.sample_regs_user; 0 where no walker knows the machine. */
#if defined(__x86_64__)
#  define PERF_COPY_REGISTERS UINT64_C (0xff01ff) /* ax bx cx dx si di bp sp ip, r8 … r15 */
#elif defined(__aarch64__)
#  define PERF_COPY_REGISTERS UINT64_C (0x1ffffffff) /* x0 … x29, lr, sp, pc */
#else
#  define PERF_COPY_REGISTERS UINT64_C (0)
#endif

#define PERF_COPY_SIZE      16384u /* bytes, where no size was asked for */
#define PERF_COPY_MOST_SIZE 65528u /* that the kernel accepts; a record has less room */

typedef enum
{
  PERF_COPY_NONE, /* no program runs in this thread */
  PERF_COPY_32_BITS,
  PERF_COPY_64_BITS,
} PerfCopyKind;

typedef struct
{
  PerfCopyKind kind;
  uint64_t ip;
  uint64_t sp;
  uint64_t fp;
  uint64_t lr;            /* arm64 */
  uint64_t registers[16]; /* the first by DWARF number; those of a program of 32 bits, too */
  const uint8_t *stack;   /* [size] from the stack pointer on; the record's */
  uint32_t size;
  bool is_cut; /* as much as was asked for: the stack may go on */
} PerfCopy;

/* Takes it from [*at, end), and moves *at behind it. FALSE: it makes no sense. */
bool sysprof_perf_copy_take (PerfCopy *self, const uint8_t **at, const uint8_t *end);
