// SPDX-License-Identifier: GPL-3.0-or-later

/* Maps and types of the BPF programs that watch the scheduler: the state of each thread, the
 * rings, the cache of stacks, and scratch space. Of these, the recorder maps the rings and the
 * control block (waits-layout.h). */

#pragma once

/* The cache of stacks stores the words of memory on which a stack depends: all that may be
 * return addresses, and all that the walk has read. If the thread is at the same instruction
 * again and these words have the same values, the stack is the same. Words of the kernel stack
 * are counted from the current stack pointer upwards, as each system call may begin at another
 * depth. */
#define MOST_KERNEL_SLOTS 64u
#define KERNEL_WORDS      192u /* of the kernel stack */
#define USER_WORDS        1024u
#define CACHE_BITS        5
#define CACHE_WAYS        4u     /* entries for the same location */
#define STACK_SIZE        16384u /* size of a thread's kernel stack */

#define REPORTED_BITS        16
#define SKIPPED_FRAMES       2 /* the program itself, and the kernel function that runs it */
#define TASK_UNINTERRUPTIBLE 0x0002u
#define TASK_DEAD            0x0080u
#define TASK_NOLOAD          0x0400u
#define MOST_CGROUPS         32u /* nested cgroups */

/* A thread can seem to be woken before it left its CPU, because two CPUs report the two events.
 * By at most: */
#define WAKING_BEFORE 20000u /* ns */

#define FUTEX_WAIT            0u
#define FUTEX_LOCK_PI         6u
#define FUTEX_WAIT_BITSET     9u
#define FUTEX_WAIT_REQUEUE_PI 11u
#define FUTEX_LOCK_PI2        13u
#define FUTEX_COMMAND         0x7fu
#define FUTEX_TID             0x3fffffffu
#define CONTENDED             2u /* value of a glibc mutex with waiting threads */
#define OWNER_OFFSET          8u /* from the lock word to the ID of the owner */

enum
{
  UNDECIDED,
  WANTED,
  UNWANTED
};

/* The state of a thread. Its waker writes the members `waking` and `waker…`; the thread itself
 * writes the others, when it leaves or gets a CPU. */
typedef struct
{
  uint64_t left;    /* ns: start of the wait; 0 = running */
  uint64_t arrived; /* ns: start of its current turn on a CPU; 0 = before the recording */
  uint64_t ran;
  uint64_t stack;
  uint64_t lock;
  uint64_t waking;
  uint64_t waker_stack;
  uint64_t group; /* the cgroup for which `wanted` was computed */
  uint64_t comm[2];
  uint64_t initial_stack; /* where it waited when the recording began, if `has_initial` */
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
  uint8_t inherited; /* WANTED, UNWANTED or UNDECIDED */
  uint8_t wanted;
  uint8_t has_initial;
  int32_t initial_call;
  uint16_t initial_cpu;
  uint8_t initial_reason;
  uint8_t initial_flags;
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

/* The loader sets the number and size of the values. */
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
  uint64_t hash[1 << REPORTED_BITS];
} ReportedStacks;

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __type (key, uint32_t);
  __type (value, ReportedStacks);
} waits_reported SEC (".maps");

/* Per CPU. */
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

/* Scratch space of the iterators. */
typedef struct
{
  KernelStack kernel;
  WalkInput input;
  ThreadState first;
} IteratorScratch;

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1);
  __type (key, uint32_t);
  __type (value, IteratorScratch);
} waits_iterator SEC (".maps");

/* The loader sets these, and the kernel freezes them: the size of a ring's data (a power of
 * two) less 1, and the index of the ring that belongs to the iterators. */
const volatile struct
{
  uint64_t ring_mask;
  uint64_t iterator_ring;
} waits_constants SEC (".rodata.waits") = { 4095, 0 };
#define waits_ring_mask waits_constants.ring_mask

typedef struct
{
  uint64_t ip; /* of the user code; 0 = a kernel thread */
  uint64_t sp;
  uint64_t fp;
  uint64_t memory;
  uint64_t stack; /* hash; 0 = unused entry */
  uint32_t tid;
  uint32_t call;
  uint32_t exec_id;
  uint32_t n_changes;
  uint32_t version;
  uint32_t has_fault;
  uint32_t site;        /* which program took it */
  uint32_t kernel_size; /* bytes from the kernel's stack pointer */
  uint32_t user_size;   /* bytes from SP */
  uint32_t n_kernel;
  uint32_t n_user;
  uint16_t kernel[MOST_KERNEL_SLOTS]; /* offsets of the words, in words */
  uint16_t user[MOST_USER_SLOTS];
  uint64_t kernel_word[MOST_KERNEL_SLOTS];
  uint64_t user_word[MOST_USER_SLOTS];
} CachedStack;

/* The cache of one CPU. */
typedef struct
{
  CachedStack entry[CACHE_WAYS << CACHE_BITS];
  CachedStack now;
  uint64_t position; /* the kernel's stack pointer */
  uint32_t set;      /* first entry of the current location */
  uint32_t turn;
  uint64_t word[KERNEL_WORDS];
  uint64_t user_word[USER_WORDS];
} StackCache;

struct
{
  __uint (type, BPF_MAP_TYPE_ARRAY);
  __uint (max_entries, 1); /* the loader sets this to the number of possible CPUs */
  __type (key, uint32_t);
  __type (value, StackCache);
} waits_cache SEC (".maps");
