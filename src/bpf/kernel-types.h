// SPDX-License-Identifier: GPL-3.0-or-later

/* The integer types of the C library, and the kernel structures that the programs read, with
 * only the members that they use. The loader relocates each access by the member's name in the
 * running kernel, so the order of members here does not matter. */

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

struct super_block
{
  uint32_t s_dev;
};

struct inode
{
  struct super_block *i_sb;
  unsigned long i_ino;
  int64_t i_size;
  uint32_t i_generation;
};

struct dentry
{
  struct inode *d_inode;
};

struct path
{
  struct dentry *dentry;
};

struct file
{
  uint32_t f_mode;
  struct inode *f_inode;
};

/* A file of a stacked file system such as overlayfs: the mapping has the file of the lower file
 * system, while programs see the one of the upper file system. */
struct backing_file
{
  struct file file;
  struct path user_path;
};

struct vm_area_struct
{
  unsigned long vm_start;
  unsigned long vm_end;
  unsigned long vm_flags;
  unsigned long vm_pgoff;
  struct file *vm_file;
};

/* The memory areas of a process, by address: Linux 6.1 and later. */
struct maple_tree
{
  void *ma_root;
};

typedef struct
{
  void *vdso;
} mm_context_t;

struct seqcount
{
  unsigned int sequence;
};

struct mm_struct
{
  struct maple_tree mm_mt;
  struct seqcount mm_lock_seq; /* since 6.13: odd while the areas are locked for writing */
  mm_context_t context;
  unsigned long end_code; /* of the executable */
  /* lowest address of the arguments and the environment; the stack of the first thread is
   * below */
  unsigned long start_stack;
};

/* Kernels 6.4 to 6.12. */
struct mm_struct___6_4
{
  int mm_lock_seq; /* increases when the areas are unlocked */
};

struct thread_struct
{
  unsigned long fsbase;
};

struct kernfs_node
{
  uint64_t id;
};

struct cgroup
{
  struct kernfs_node *kn;
};

struct cgroup_subsys_state
{
  struct cgroup *cgroup;
  struct cgroup_subsys_state *parent;
};

enum cgroup_subsys_id
{
  perf_event_cgrp_id
};

struct css_set
{
  struct cgroup_subsys_state *subsys[32];
};

typedef struct
{
  uint32_t val;
} kuid_t;

struct cred
{
  kuid_t euid;
};

struct seq_file;

/* Passed to a program that iterates over all threads. */
struct bpf_iter_meta
{
  struct seq_file *seq;
};

struct pid
{
  unsigned int level; /* nesting of PID namespaces; 0 = the first */
};

struct thread_info
{
  uint32_t cpu;
};

struct task_struct
{
  struct thread_info thread_info;
  void *stack;
  unsigned int flags;
  int on_cpu;
  int on_rq;
  unsigned int __state;
  unsigned in_iowait : 1;
  char comm[16];
  struct css_set *cgroups;
  const struct cred *real_cred;
  struct pid *thread_pid;
  int pid;  /* of the thread */
  int tgid; /* of its process */
  struct mm_struct *mm;
  struct task_struct *real_parent;
  uint64_t self_exec_id; /* increases with each exec */
  struct thread_struct thread;
};

#pragma clang attribute pop

#define VM_EXEC       0x00000004u /* an executable area */
#define FMODE_BACKING 0x02000000u /* the file is a struct backing_file */

#define PF_KTHREAD    0x00200000u /* a kernel thread */
#define PF_FORKNOEXEC 0x00000040u /* forked, without an exec since */
