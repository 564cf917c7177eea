// SPDX-License-Identifier: GPL-3.0-or-later

/* The memory layout that the programs that watch the scheduler share with the recorder: a
 * control block with the recorder's settings, and a ring for each CPU and one for the
 * iterators, both mapped. In the byte order of the machine.
 *
 * The recorder has no privileges, so the programs must not trust any number that it can write.
 * If the recorder writes into a ring, only the contents of that ring become wrong.
 *
 *   ring      head: bytes written so far; tail: bytes read so far; data[size], followed by
 *             space for one record, so that no record wraps around
 *   record    a WaitsHead, then the members of its kind; aligned to 8 */

#pragma once

#ifndef __bpf__
#  include <stdint.h>
#endif

/* --- settings --- */

#define WAITS_MOST_IDS     1024u
#define WAITS_MOST_CPUS    4096u
#define WAITS_N_INTERRUPTS 4u
#define WAITS_N_EXITS      4u

/* A range of kernel code. */
typedef struct
{
  uint64_t start;
  uint64_t end; /* exclusive; 0 = unknown */
} WaitsRange;

typedef struct
{
  uint32_t is_enabled;
  /* the selection is set: the programs follow forks, even before they are enabled */
  uint32_t is_chosen;
  uint32_t n_ids;  /* 0 = all */
  uint32_t n_pids; /* the first of the IDs are those of processes, the others of threads */
  uint64_t begin;  /* ns, CLOCK_MONOTONIC: earlier events are not reported */
  uint64_t end;    /* ns: end of the recording */
  /* ID of a cgroup in the hierarchy of perf events, which includes its descendants; 0 = all */
  uint64_t cgroup;
  uint32_t has_no_cgroups; /* set by the program: the kernel cannot select by cgroup */
  uint32_t has_user;
  uint32_t uid; /* effective */
  uint32_t has_cpus;
  uint32_t follows_forks;   /* includes all descendants of the threads in `id` */
  uint32_t follows_threads; /* includes at least their new threads */
  WaitsRange interrupts[WAITS_N_INTERRUPTS]; /* entry code of interrupts */
  WaitsRange exits[WAITS_N_EXITS];           /* code that returns to user space */
  WaitsRange faults;                         /* entry code of page faults */
  /* code that calls the BPF programs of a tracepoint, if there are several */
  WaitsRange tracing;
  uint32_t id[WAITS_MOST_IDS];  /* of processes and threads */
  uint8_t cpu[WAITS_MOST_CPUS]; /* with has_cpus: only waits that begin or end on these CPUs */
} WaitsControl;

/* --- the rings --- */

#define WAITS_MOST_KERNEL     127u
#define WAITS_MOST_USER       3968u /* addresses */
#define WAITS_MOST_RECORD     33792u
#define WAITS_RING_DATA       256u /* offset of the data */
#define WAITS_RING_SIZE(size) (WAITS_RING_DATA + (size) + WAITS_MOST_RECORD)

typedef struct
{
  uint64_t head;      /* written by the program */
  uint64_t n_lost;    /* records for which the ring had no space */
  uint64_t n_unknown; /* switches of threads whose state could not be allocated */
  uint64_t n_unseen;  /* switches for which the kernel did not run the program */
  /* 1 + the current thread of this CPU, as of the last switch; 0 = no switch yet */
  uint64_t current;
  uint64_t padding[11];
  uint64_t tail; /* written by the recorder */
  uint64_t padding2[15];
  uint8_t data[];
} WaitsRing;

typedef enum
{
  WAITS_THREAD = 1,
  WAITS_STACK,
  WAITS_WAIT,
  WAITS_RAN,
} WaitsRecordKind;

typedef struct
{
  uint16_t kind;
  uint16_t size; /* of the record, including this head */
  uint32_t tid;
} WaitsHead;

/* Comes before the first event of a thread, and again after each change. */
typedef struct
{
  WaitsHead head;
  uint32_t pid;
  uint32_t padding;
  uint64_t time; /* latest possible time of the change */
  char comm[16];
} WaitsThread;

/* Comes before the first wait with that stack, possibly repeatedly. */
typedef struct
{
  WaitsHead head;
  uint64_t hash;
  uint8_t reason; /* WalkReason */
  uint8_t used;   /* WALK_USED_… */
  uint16_t n_kernel;
  uint16_t n_user;
  uint16_t padding;
  uint64_t address[]; /* [n_kernel], then [n_user] */
} WaitsStack;

/* The numbers are those of the file that is embedded into the capture. */
typedef enum
{
  WAIT_PAGE_FAULT = 1,
  WAIT_CHILD,
  WAIT_SLEEP,
  WAIT_FUTEX,
  WAIT_IO,
  WAIT_SYSCALL,
  WAIT_OTHER,
  WAIT_PREEMPTED,
  N_WAIT_REASONS
} WaitReason;

#define WAIT_NOT_ENDED       1u
#define WAIT_HAS_LOCK        2u
#define WAIT_BY_INTERRUPT    4u
#define WAIT_UNINTERRUPTIBLE 8u
#define WAIT_BEGAN_BEFORE    16u

/* Written when the wait is over. */
typedef struct
{
  WaitsHead head;
  uint64_t begin; /* ns, CLOCK_MONOTONIC */
  uint64_t end;
  uint64_t woken; /* 0 = unknown; if before `begin`, the thread was able to run all the time */
  uint64_t ran;   /* ns on a CPU since the previous wait */
  uint64_t stack; /* 0 = none */
  uint64_t waker_stack;
  uint64_t lock; /* 0 = none */
  uint32_t holder;
  uint32_t waker; /* 0 = not known */
  int32_t call;   /* number of the system call; -1 = none */
  uint16_t cpu;   /* that the thread left */
  uint8_t reason; /* WaitReason */
  uint8_t flags;  /* WAIT_… */
} WaitsWait;

/* The running time of a thread since its last wait, when it exits or the recording ends. */
typedef struct
{
  WaitsHead head;
  uint64_t time;
  uint64_t ran;
} WaitsRan;
