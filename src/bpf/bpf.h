// SPDX-License-Identifier: GPL-3.0-or-later

/* bpf: the programs that run in the kernel, their loader, and the layout of the memory that they share
 * with the recorder. Plain C and libbpf.
 *
 *   layout.h        unwind tables, mappings, processes, reasons, and the records that the walker sends
 *   walk-step.h, walk/   one step of a walk, from a frame to its caller. The same source is compiled into
 *                   the BPF programs and, if WALK_STEP_WANTED is defined, into a walker in user space
 *   walk-kernel.h   the walker in the kernel
 *   walk.bpf.c      runs the walker with each sample
 *   waits.bpf.c, waits/   watch the scheduler, and walk the stacks of threads that wait and that wake others
 *   waits-layout.h  the rings and the control block of waits.bpf.c
 *   registers.h     the registers of each machine, as far as the programs use them
 *   reasons.c       names of the reasons why a walk ends
 *   code-mask.c     removes the bits of pointer authentication from an address
 *   loader.c, waits-loader.c   make maps and load programs. They need CAP_BPF and CAP_PERFMON, and read
 *                   no file but the kernel's description of its types (BTF). The descriptors that they
 *                   return can be used without these capabilities
 *
 *   WalkProgram program = WALK_PROGRAM_INIT;
 *   if (sysprof_walk_program_make_maps (&program) && sysprof_walk_program_load (&program, NULL))
 *     {
 *       sysprof_walk_program_set_output (&program, WALK_OUTPUT_INDEX (cpu, …), event_of_that_cpu);
 *       ioctl (sampling_event, PERF_EVENT_IOC_SET_BPF, program.fd);
 *       … map program.index_fd, lay out tables …
 *       sysprof_walk_program_clear (&program);
 *     } */

#pragma once

#include "bpf/layout.h"
#include "bpf/waits-layout.h"

#ifdef WALK_STEP_WANTED
#  include "bpf/walk-step.h"
#endif

#include <stddef.h>

/* Codes of reports: "end", "no-mapping" … Static. */
const char *sysprof_walk_reason_to_string (WalkReason reason);
/* Nothing is missing. */
bool sysprof_walk_reason_is_whole (WalkReason reason);

/* Arm64: those bits of a return address that pointer authentication leaves alone, on the machine that we run on. */
uint64_t sysprof_walk_code_mask (void);

/* The walker, loaded. *Owned* by one thread; the descriptors can be passed on. */
typedef struct
{
  int fd;        /* for PERF_EVENT_IOC_SET_BPF; -1 = not loaded yet */
  int index_fd;  /* an UnwindIndex, to be mapped */
  int slabs_fd;  /* of the slabs that there are */
  int events_fd; /* where the program of each CPU writes to */
} WalkProgram;

#define WALK_PROGRAM_INIT                                     \
  {                                                           \
    .fd = -1, .index_fd = -1, .slabs_fd = -1, .events_fd = -1 \
  }

typedef struct
{
  uint32_t most_addresses; /* 0 = WALK_MOST_ADDRESSES */
  bool by_lists;           /* of processes, also where sysprof_walk_program_asks_kernel() */
  char *log; /* [log_size] what the kernel has to say about the program; NULL = nothing */
  size_t log_size;
} WalkProgramOptions;

/* Whether the program finds out by itself which file is mapped where, and needs to be told of files alone; else of processes. */
bool sysprof_walk_program_asks_kernel (void);

/* Makes all but the program, at once: tables can be laid out and outputs set before there is one. FALSE with errno: EPERM without
 * the rights, to load as well; ENOSYS where this was built without BPF. */
bool sysprof_walk_program_make_maps (WalkProgram *self);

/* Loads the program, with the maps that were made: some 30 ms, half of them the kernel's, which verifies it. `options` may be NULL.
 * FALSE with errno: EPERM without the rights, others where the kernel is too old (before 5.17) or has no BPF. */
bool sysprof_walk_program_load (WalkProgram *self, const WalkProgramOptions *options);
void sysprof_walk_program_clear (WalkProgram *self);

/* Makes slab `index` and gives it to the program. The descriptor, UNWIND_SLAB_SIZE bytes to be mapped, is the caller's. -1
 * with errno. */
int sysprof_walk_program_add_slab (const WalkProgram *self, uint32_t index);

/* The program writes output `index`, a WALK_OUTPUT_INDEX(), to the ring of `event_fd`, an event of type BPF_OUTPUT of that CPU. FALSE
 * with errno. */
bool sysprof_walk_program_set_output (const WalkProgram *self, uint32_t index, int event_fd);

/* What watches the scheduler. *Owned* by one thread; the descriptors can be passed on. */
typedef enum
{
  WAITS_CONTROL_FD, /* a WaitsControl, to be mapped */
  WAITS_RINGS_FD,   /* a ring per possible CPU and one more, behind each other, to be mapped */
  WAITS_SWITCH_FD,  /* the others run for as long as these are open */
  WAITS_WAKING_FD,
  WAITS_WAKEUP_NEW_FD,
  WAITS_MEET_FD, /* read to its end, before they are on, it makes room for what is noted of each thread */
  WAITS_BEGIN_FD, /* the same as soon as they are on: notes what every thread does */
  WAITS_END_FD,   /* the same when they are off: tells what has not ended */
  N_WAITS_FDS
} WaitsFd;

typedef struct
{
  int fd[N_WAITS_FDS]; /* -1 = not there */
} WaitsProgram;

/* Bytes of the data of each ring: a power of two. Where there are many CPUs each has less. */
uint32_t sysprof_waits_ring_size (void);
/* How many rings there are; 0 with errno where that cannot be known. */
unsigned sysprof_waits_n_rings (void);

/* Loads the programs, which walk with the index and the slabs of `maps`, and has them run; they tell nothing until the control block
 * says so. FALSE with errno, as of sysprof_walk_program_load(); before kernel 5.18 it is too old. */
bool sysprof_waits_program_load (WaitsProgram *self, const WalkProgram *maps);
/* Ends them. */
void sysprof_waits_program_clear (WaitsProgram *self);
