// SPDX-License-Identifier: GPL-3.0-or-later

/* What the programs that watch the scheduler and the recorder agree on, byte for byte: a block with which the recorder says what
 * is wanted, and a ring for each CPU and one more, both mapped. In the byte order of the machine.
 *
 * The recorder has no rights: the programs take each number that it can write as possibly wrong. A ring that is written by
 * others than its program holds nonsense, and that is all.
 *
 *   ring      head ──► bytes written so far · tail ──► bytes read so far · data[size], and behind it room for one record, so that
 *             none is cut at the end
 *   record    a WaitsHead, then what its kind has; 8-aligned
 */

#pragma once

#ifndef __bpf__
#  include <stdint.h>
#endif

/* --- what is wanted --- */

#define WAITS_MOST_IDS     1024u
#define WAITS_MOST_CPUS    4096u
#define WAITS_N_INTERRUPTS 4u
#define WAITS_N_EXITS      4u

/* Code of the kernel, by address. */
typedef struct
{
  uint64_t start;
  uint64_t end; /* first address behind; 0 = not known */
} WaitsRange;

typedef struct
{
  uint32_t is_enabled;
  uint32_t
      is_chosen;   /* what is wanted has been said: who starts whom is followed, also before */
  uint32_t n_ids;  /* 0 = all */
  uint32_t n_pids; /* of these, the first are of processes, the others of threads */
  uint64_t begin;  /* ns, CLOCK_MONOTONIC: nothing before is told */
  uint64_t end;    /* the same, when it is over */
  uint64_t
      cgroup; /* id of one in the hierarchy that perf events follow, with those below it; 0 = all */
  uint32_t lacks_groups; /* the program's: this kernel has none to choose by */
  uint32_t has_user;
  uint32_t uid; /* effective */
  uint32_t has_cpus;
  uint32_t follows_forks;   /* what the threads in `id` start is wanted as well */
  uint32_t follows_threads; /* at least threads of theirs */
  WaitsRange interrupts[WAITS_N_INTERRUPTS]; /* where the kernel is entered by interrupts */
  WaitsRange exits[WAITS_N_EXITS];           /* what it does on its way back to a program */
  WaitsRange faults;                         /* and by page faults */
  WaitsRange tracing;          /* that calls programs like ours, where there are several */
  uint32_t id[WAITS_MOST_IDS]; /* of processes and threads */
  uint8_t
      cpu[WAITS_MOST_CPUS]; /* where a thread must have waited, or come to run, with has_cpus */
} WaitsControl;

/* --- the rings --- */

#define WAITS_MOST_KERNEL     127u
#define WAITS_MOST_USER       3968u /* addresses */
#define WAITS_MOST_RECORD     33792u
#define WAITS_RING_DATA       256u /* where the data begins */
#define WAITS_RING_SIZE(size) (WAITS_RING_DATA + (size) + WAITS_MOST_RECORD)

typedef struct
{
  uint64_t head;      /* the program's */
  uint64_t n_lost;    /* records that found no room */
  uint64_t n_unknown; /* switches of threads for which there was no memory */
  uint64_t n_unseen;  /* switches that the program was not run for */
  uint64_t current;   /* 1 + the thread that this CPU came to, as last told; 0 = not told yet */
  uint64_t padding[11];
  uint64_t tail; /* the recorder's */
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
  uint16_t size; /* of the record, this head included */
  uint32_t tid;
} WaitsHead;

/* Before anything else of a thread, and again where a word of it has changed. */
typedef struct
{
  WaitsHead head;
  uint32_t pid;
  uint32_t padding;
  uint64_t time; /* since when, at the latest */
  char comm[16];
} WaitsThread;

/* Before the first wait with that stack, maybe more than once. */
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

/* As the embedded file has them. */
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

/* Told when it is over. */
typedef struct
{
  WaitsHead head;
  uint64_t begin; /* ns, CLOCK_MONOTONIC */
  uint64_t end;
  uint64_t
      woken;    /* 0 = not known; where it is before `begin`, it was able to run all the time */
  uint64_t ran; /* ns on a CPU before, since the last wait */
  uint64_t stack; /* 0 = none */
  uint64_t waker_stack;
  uint64_t lock; /* 0 = none */
  uint32_t holder;
  uint32_t waker; /* 0 = not known */
  int32_t call;   /* number of the system call; -1 = none */
  uint16_t cpu;   /* that it left */
  uint8_t reason; /* WaitReason */
  uint8_t flags;  /* WAIT_… */
} WaitsWait;

/* The last of a thread, or at the end. */
typedef struct
{
  WaitsHead head;
  uint64_t time;
  uint64_t ran;
} WaitsRan;
