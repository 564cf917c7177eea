// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts records of the BPF programs to the embedded file of waits: it assigns numbers to
 * threads and stacks, and adds up how long each thread ran. *Owned* by the pump thread. */

#pragma once

#include "bpf/bpf.h"
#include "waits/wait-stream.h"

typedef struct WaitLog WaitLog;

/* Returns the address that marks a stack truncated for `reason`; 0 = none. */
typedef uint64_t (*WaitMarkerFunc) (WalkReason reason, void *data);

WaitLog *sysprof_wait_log_new (WaitStreamFunc func, WaitMarkerFunc marker, void *data);
void sysprof_wait_log_free (WaitLog *self);

/* Takes one complete record of a ring. */
void sysprof_wait_log_take (WaitLog *self, const WaitsHead *record);
/* Sets the total number of lost records, up to `time` (ns). Returns the increase since the last
 * call. */
uint64_t sysprof_wait_log_set_lost (WaitLog *self, uint64_t n, int64_t time);
/* Passes the pending entries to the writer. Threads that exited some time ago are forgotten. */
void sysprof_wait_log_flush (WaitLog *self);
/* Adds how long each thread ran, and ends the file. */
void sysprof_wait_log_finish (WaitLog *self);

typedef struct
{
  uint64_t n_waits;
  uint64_t n_stacks;
  uint64_t n_nameless; /* waits whose stack was not recorded */
  /* Waits with a truncated stack, because a table or the mappings were not published yet. */
  uint64_t n_unfinished;
  uint64_t n_refused; /* stacks over the limit; count them as lost */
} WaitLogStatus;

WaitLogStatus sysprof_wait_log_get_status (const WaitLog *self);
