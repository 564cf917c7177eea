// SPDX-License-Identifier: GPL-3.0-or-later

/* The rows of Store.mappings, and who maps what at the moment that the walk through the frames has reached.
 * *Owned* by one thread, as is the store whose rows it completes; several threads go through the same frames, each with
 * its own. */

#pragma once

#include "store/builder.h"
#include "store/stacks/address-space.h"

typedef struct
{
  Store *store;
  Regions regions;
  AddressSpace *now;   /* [processes.n] */
  AddressSpace *later; /* [processes.n] made for the processes that need it */
  bool *has_exited;    /* [processes.n] */
  /* [processes.n] forked while recording: the kernel told of all it mapped, in time */
  bool *is_complete;
  MappingId *before;  /* [n_mappings] the process's mapping before this one in time */
  MappingId *last;    /* [processes.n] */
  MappingId *same_as; /* [n_mappings] for one that repeats another: which; else itself */
  /* [processes.n] of generated code, whose Region.mapping is a JitCodeId; NULL = there is
   * none */
  AddressSpace *code;
  AddressSpace *later_code; /* [processes.n] */
  JitCodeId *next_code;     /* [processes.n] the first that is from after now; 0 = no more */
  int64_t time;             /* now, of the process that was looked at last */
  MappingId n_seen;         /* mappings up to this one are from before now */
} Mappings;

/* Makes a row of each map frame, in order of time. */
void sysprof_mappings_read (const Builder *builder);

/* At the beginning of time, over the rows of `store`. */
void sysprof_mappings_init (Mappings *self, Store *store);
void sysprof_mappings_clear (Mappings *self);

/* The next map frame has come. */
void sysprof_mappings_advance (Mappings *self);
void sysprof_mappings_fork (Mappings *self, ProcessId parent, ProcessId child);
void sysprof_mappings_exit (Mappings *self, ProcessId process);

/* What `process` has at `address` now; if nothing, what it maps there first from now on; 0 if
 * never. */
MappingId sysprof_mappings_find (Mappings *self, ProcessId process, uint64_t address);

/* The mapping at `address`, or the nearest one before it that may be of the same file; 0 =
 * none. */
MappingId
sysprof_mappings_find_before (const Mappings *self, ProcessId process, uint64_t address);

/* Is it known what the process has mapped, now or later? */
static inline bool
sysprof_mappings_has_any (const Mappings *self, ProcessId process)
{
  return self->now[process].root != 0 || self->last[process] != 0;
}

/* Applies what `process` reported about its code until `time`. */
void sysprof_mappings_take_code (Mappings *self, ProcessId process, int64_t time);

/* Call this before looking up addresses of `process` at another time. */
static inline void
sysprof_mappings_go_to (Mappings *self, ProcessId process, int64_t time)
{
  if (self->code != NULL)
    sysprof_mappings_take_code (self, process, time);
}

/* The generated code at `address` in `mapping`; 0 = none. */
JitCodeId sysprof_mappings_find_code (Mappings *self,
                                      ProcessId process,
                                      MappingId mapping,
                                      uint64_t address);

/* Changes when an answer for `process` may. */
static inline uint32_t
sysprof_mappings_version (const Mappings *self, ProcessId process)
{
  return self->now[process].version +
         (self->code != NULL ? self->code[process].version : 0); /* neither goes back */
}

/* Drops the rows that repeat others and renumbers `mapping` [n]. */
void sysprof_mappings_compact (Mappings *self, MappingId *mapping, uint32_t n);
