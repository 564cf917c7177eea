// SPDX-License-Identifier: GPL-3.0-or-later

/* The stack copy of a sample, as PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER add it. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* For perf_event_attr.sample_regs_user; 0 on machines that the unwinder does not support. */
#if defined(__x86_64__)
#  define PERF_COPY_REGISTERS UINT64_C (0xff01ff) /* ax bx cx dx si di bp sp ip, r8 … r15 */
#elif defined(__aarch64__)
#  define PERF_COPY_REGISTERS UINT64_C (0x1ffffffff) /* x0 … x29, lr, sp, pc */
#else
#  define PERF_COPY_REGISTERS UINT64_C (0)
#endif

#define PERF_COPY_SIZE      16384u /* bytes; the default */
#define PERF_COPY_MOST_SIZE 65528u /* the kernel's maximum; a record has less room */

typedef enum
{
  PERF_COPY_NONE, /* a kernel thread, without a user stack */
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
  uint64_t registers[16]; /* the first 16 by DWARF number, also of 32-bit programs */
  const uint8_t *stack;   /* [size] bytes from the stack pointer on; part of the record */
  uint32_t size;
  bool is_cut; /* as many bytes as requested: the stack may continue */
} PerfCopy;

/* Parses the copy in [*at, end), and advances *at. FALSE: it is malformed. */
bool sysprof_perf_copy_take (PerfCopy *self, const uint8_t **at, const uint8_t *end);
