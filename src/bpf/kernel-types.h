// SPDX-License-Identifier: GPL-3.0-or-later

/* What a BPF program needs of the C library's types, and what it reads of the kernel's own structures: only the members
 * that are used. The loader finds their places in the running kernel by name, so the order here says nothing. */

#pragma once

#include <linux/types.h>

typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s32 int32_t;
typedef __s64 int64_t;
typedef _Bool bool;

#define true 1
#define false 0
#define UINT32_C(c) c##u
#define UINT64_C(c) c##ull
#define UINT64_MAX  (~UINT64_C (0))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct
{
  unsigned long end_code; /* of the program itself */
};

struct thread_struct
{
  unsigned long fsbase;
};

struct task_struct
{
  unsigned int flags;
  int pid;  /* of the thread */
  int tgid; /* of its process */
  struct mm_struct *mm;
  struct task_struct *real_parent;
  uint64_t self_exec_id; /* one more with every exec */
  struct thread_struct thread;
};

#pragma clang attribute pop

#define PF_KTHREAD    0x00200000u /* a thread of the kernel */
#define PF_FORKNOEXEC 0x00000040u /* forked, and no exec since */
