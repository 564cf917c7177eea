// SPDX-License-Identifier: GPL-3.0-or-later

/* bpf: the programs that run in the kernel, their loader, and the layout of the memory that
 * they share with the recorder. Plain C and libbpf.
 *
 *   layout.h        unwind tables, mappings, processes, reasons, and the walker's records
 *   walk-step.h     one step of a walk, from a frame to its caller. The BPF programs and, if
 *                   WALK_STEP_WANTED is defined, a walker in user space are compiled from it
 *   walk-kernel.h   the walker in the kernel
 *   walk/           parts of these two
 *   walk.bpf.c      runs the walker with each sample
 *   waits.bpf.c     watches the scheduler, and walks the stacks of waiting threads and wakers
 *   waits/          parts of waits.bpf.c
 *   waits-layout.h  the rings and the control block of waits.bpf.c
 *   registers.h     the registers of each machine, as far as the programs use them
 *   reasons.c       names of the reasons why a walk ends
 *   code-mask.c     the bits of an arm64 address that are not a signature
 *   loader.c        makes the maps and loads walk.bpf.c
 *   waits-loader.c  loads waits.bpf.c
 *
 * The loaders need CAP_BPF and CAP_PERFMON, and read no file but the kernel's description of
 * its types (BTF). The descriptors that they return can be used without these capabilities.
 *
 *   WalkProgram program = WALK_PROGRAM_INIT;
 *   if (sysprof_walk_program_make_maps (&program) &&
 *       sysprof_walk_program_load (&program, NULL))
 *     {
 *       sysprof_walk_program_set_output (&program, WALK_OUTPUT_INDEX (cpu, …), event);
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

/* The name of a reason in reports: "end", "no-mapping" … Static. */
const char *sysprof_walk_reason_to_string (WalkReason reason);
/* Whether the stack is complete. */
bool sysprof_walk_reason_is_whole (WalkReason reason);

/* arm64: the bits of a return address that pointer authentication does not use, on this
 * machine. */
uint64_t sysprof_walk_code_mask (void);

/* The walker, loaded. *Owned* by one thread; the descriptors can be passed on. */
typedef struct
{
  int fd;        /* for PERF_EVENT_IOC_SET_BPF; -1 = not loaded yet */
  int index_fd;  /* an UnwindIndex, to be mapped */
  int slabs_fd;  /* an array of slabs */
  int events_fd; /* the output events of each CPU */
} WalkProgram;

#define WALK_PROGRAM_INIT                                     \
  {                                                           \
    .fd = -1, .index_fd = -1, .slabs_fd = -1, .events_fd = -1 \
  }

typedef struct
{
  uint32_t most_addresses; /* 0 = WALK_MOST_ADDRESSES */
  /* use lists of mappings per process, even if sysprof_walk_program_asks_kernel() */
  bool by_lists;
  char *log; /* [log_size] receives the verifier's log; NULL = no log */
  size_t log_size;
} WalkProgramOptions;

/* Whether the program finds the file of a mapping in the kernel's own data. Then the recorder
 * publishes only files; otherwise it publishes the mappings of each process. */
bool sysprof_walk_program_asks_kernel (void);

/* Makes the maps, so that tables can be laid out and outputs set before the program is loaded.
 * FALSE with errno: EPERM without the capabilities, which loading needs, too; ENOSYS if this
 * was built without BPF. */
bool sysprof_walk_program_make_maps (WalkProgram *self);

/* Loads the program with these maps. Takes about 30 ms, half of them for the verifier.
 * `options` may be NULL. FALSE with errno: EPERM without the capabilities, other values if the
 * kernel is too old (before 5.17) or has no BPF. */
bool sysprof_walk_program_load (WalkProgram *self, const WalkProgramOptions *options);
void sysprof_walk_program_clear (WalkProgram *self);

/* Makes slab `index` and adds it to the program's slabs. Returns its descriptor, which is the
 * caller's and can be mapped (UNWIND_SLAB_SIZE bytes). -1 with errno. */
int sysprof_walk_program_add_slab (const WalkProgram *self, uint32_t index);

/* Connects output `index`, a WALK_OUTPUT_INDEX(), to the ring of `event_fd`, a BPF_OUTPUT event
 * of the same CPU. FALSE with errno. */
bool sysprof_walk_program_set_output (const WalkProgram *self, uint32_t index, int event_fd);

/* The programs that watch the scheduler. *Owned* by one thread; the descriptors can be passed
 * on. */
typedef enum
{
  WAITS_CONTROL_FD, /* a WaitsControl, to be mapped */
  /* one ring per possible CPU and one for the iterators, contiguous, to be mapped */
  WAITS_RINGS_FD,
  WAITS_SWITCH_FD, /* the three programs run while these are open */
  WAITS_WAKING_FD,
  WAITS_WAKEUP_NEW_FD,
  /* an iterator: reading it to its end allocates the state of each thread, before the programs
   * are enabled */
  WAITS_PREPARE_FD,
  /* an iterator, read once the programs are enabled: records what each thread does */
  WAITS_BEGIN_FD,
  /* an iterator, read after the programs are disabled: reports what has not ended */
  WAITS_END_FD,
  N_WAITS_FDS
} WaitsFd;

typedef struct
{
  int fd[N_WAITS_FDS]; /* -1 = closed */
} WaitsProgram;

/* Size of the data of each ring, in bytes: a power of two, smaller on machines with many
 * CPUs. */
uint32_t sysprof_waits_ring_size (void);
/* The number of rings; 0 with errno if it is unknown. */
unsigned sysprof_waits_n_rings (void);

/* Loads and starts the programs, which share the index and the slabs of `maps`. They write
 * nothing until the control block enables them. FALSE with errno, as
 * sysprof_walk_program_load(); they need Linux 5.18. */
bool sysprof_waits_program_load (WaitsProgram *self, const WalkProgram *maps);
/* Stops and unloads the programs. */
void sysprof_waits_program_clear (WaitsProgram *self);
