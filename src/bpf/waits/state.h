// SPDX-License-Identifier: GPL-3.0-or-later

/* Maps and types of the BPF programs that watch the scheduler: the state of each thread, the
 * rings, the cache of stacks, and scratch space.
 *
 * The programs share this state with nobody but the recorder, which maps the rings and the
 * control block (waits-layout.h). */

#pragma once

/* What a thread's stacks depend on is kept, and looked at the next time: where the program stands at the same place, and all words that
 * were return addresses, or that the walk has read, are what they were, so is the stack. Of the kernel's part they are counted from
 * where it stands, as each of its calls may begin somewhere else; its outermost function is called from one place. */
#define MOST_KERNEL_SLOTS 64u
#define KERNEL_WORDS      192u /* of its stack */
#define USER_WORDS        1024u
#define MEMO_BITS         5
#define MEMO_WAYS         4u     /* for the same place */
#define STACK_SIZE        16384u /* of the kernel's, of each thread */

#define TOLD_BITS            16
#define SKIPPED_FRAMES       2 /* the program itself, and what runs it */
#define TASK_UNINTERRUPTIBLE 0x0002u
#define TASK_DEAD            0x0080u
#define TASK_NOLOAD          0x0400u
#define MOST_CGROUPS         32u /* in each other */

/* How much earlier than it left its CPU a thread can have been woken: both are told by different CPUs. */
#define WAKING_BEFORE 20000u /* ns */

#define FUTEX_WAIT            0u
#define FUTEX_LOCK_PI         6u
#define FUTEX_WAIT_BITSET     9u
#define FUTEX_WAIT_REQUEUE_PI 11u
#define FUTEX_LOCK_PI2        13u
#define FUTEX_COMMAND         0x7fu
#define FUTEX_TID             0x3fffffffu
#define CONTENDED             2u /* what a lock of glibc's says while somebody waits for it */
#define OWNER_OFFSET          8u /* from there to the thread that has it */

enum
{
  UNDECIDED,
  WANTED,
  UNWANTED
};

/* Of each thread. `waking` … are written by who wakes it, the others by itself as it leaves or comes to a CPU. */
typedef struct
{
  uint64_t left;    /* ns: since when it waits; 0 = it runs */
  uint64_t arrived; /* ns: since when it runs; 0 = since before the recording */
  uint64_t ran;
  uint64_t stack;
  uint64_t lock;
  uint64_t waking;
  uint64_t waker_stack;
  uint64_t group; /* for which `wanted` is */
  uint64_t comm[2];
  uint64_t first_stack; /* where it waited when the recording began, if `has_first` */
  uint32_t tid;
  uint32_t pid;
  uint32_t uid;
  uint32_t holder;
  uint32_t waker;
  int32_t call;
  uint16_t cpu;
  uint8_t reason;
  uint8_t flags;
  uint8_t waker_flags;
  uint8_t inherited; /* WANTED, UNWANTED */
  uint8_t wanted;
  uint8_t has_first;
  int32_t first_call;
  uint16_t first_cpu;
  uint8_t first_reason;
  uint8_t first_flags;
} ThreadState;

struct
{
  __uint (type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint (map_flags, BPF_F_NO_PREALLOC);
  __type (key, int);
  __type (value, ThreadState);
} waits_threads SEC (".maps");

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __uint (map_flags, BPF_F_MMAPABLE);
  __type (key, uint32_t);
  __type (value, WaitsControl);
} waits_control SEC (".maps");

/* Number and size of its values: set by the loader. */
struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __uint (map_flags, BPF_F_MMAPABLE);
  __uint (key_size, sizeof (uint32_t));
  __uint (value_size, WAITS_RING_SIZE (4096));
} waits_rings SEC (".maps");

typedef struct
{
  uint64_t hash[1 << TOLD_BITS];
} Told;

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __type (key, uint32_t);
  __type (value, Told);
} waits_told SEC (".maps");

/* Kernel stacks: of each CPU. */
typedef struct
{
  uint64_t address[WAITS_MOST_KERNEL + 1];
} KernelStack;

struct
{
  __uint (type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint (max_entries, 1);
  __type (key, uint32_t);
  __type (value, KernelStack);
} waits_kernel SEC (".maps");

/* Of what goes through all threads. */
typedef struct
{
  KernelStack kernel;
  WalkInput input;
  ThreadState first;
} EachScratch;

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __type (key, uint32_t);
  __type (value, EachScratch);
} waits_each SEC (".maps");

/* Frozen when the programs are loaded: size of a ring's data, a power of two, less 1; and which ring is no CPU's. */
const volatile struct
{
  uint64_t ring_mask;
  uint64_t each_ring;
} waits_constants SEC (".rodata.waits") = { 4095, 0 };
#define waits_ring_mask waits_constants.ring_mask

typedef struct
{
  uint64_t ip; /* of the program; 0 = it has none */
  uint64_t sp;
  uint64_t fp;
  uint64_t memory;
  uint64_t stack; /* 0 = nothing is kept here */
  uint32_t tid;
  uint32_t call;
  uint32_t exec_id;
  uint32_t n_changes;
  uint32_t version;
  uint32_t has_fault;
  uint32_t site;        /* which of the programs */
  uint32_t kernel_size; /* bytes up from where the kernel stands */
  uint32_t user_size;   /* and from SP */
  uint32_t n_kernel;
  uint32_t n_user;
  uint16_t kernel[MOST_KERNEL_SLOTS]; /* where the words are, and what they were */
  uint16_t user[MOST_USER_SLOTS];
  uint64_t kernel_word[MOST_KERNEL_SLOTS];
  uint64_t user_word[MOST_USER_SLOTS];
} Memo;

/* One of each CPU. */
typedef struct
{
  Memo memo[MEMO_WAYS << MEMO_BITS];
  Memo now;
  uint64_t position; /* where the kernel stands */
  uint32_t set;      /* where what is kept of the place begins */
  uint32_t turn;
  uint64_t word[KERNEL_WORDS];
  uint64_t user_word[USER_WORDS];
} Memos;

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1); /* as many as there can be CPUs: set by the loader */
  __type (key, uint32_t);
  __type (value, Memos);
} waits_memos SEC (".maps");
