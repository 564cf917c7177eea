// SPDX-License-Identifier: GPL-3.0-or-later

/* From records of the programs to the embedded file: numbers threads and stacks, adds up how long each thread ran.
 * *Owned* by the pump thread. */

#pragma once

#include "bpf/bpf.h"
#include "record/waits/wait-stream.h"

typedef struct WaitLog WaitLog;

/* The entry under which a stack stands that was cut for that reason; 0 = none. */
typedef uint64_t (*WaitMarkerFunc) (WalkReason reason, void *data);

WaitLog *sysprof_wait_log_new (WaitStreamFunc func, WaitMarkerFunc marker, void *data);
void sysprof_wait_log_free (WaitLog *self);

/* A record of a ring, whole. */
void sysprof_wait_log_take (WaitLog *self, const WaitsHead *record);
/* `n` in all are missing, up to `time` (ns). Returns how many more than the last time. */
uint64_t sysprof_wait_log_set_lost (WaitLog *self, uint64_t n, int64_t time);
/* What has been noted is to be written; threads that have ended can be forgotten soon. */
void sysprof_wait_log_flush (WaitLog *self);
/* How long each thread ran, and the end. */
void sysprof_wait_log_finish (WaitLog *self);

typedef struct
{
  uint64_t n_waits;
  uint64_t n_stacks;
  uint64_t n_nameless; /* waits whose stack nobody has told */
  uint64_t
      n_unfinished; /* waits whose stack is cut, as a table or the mappings were not there yet */
  uint64_t n_refused; /* of these stacks, as there were too many; to be counted as lost */
} WaitLogStatus;

WaitLogStatus sysprof_wait_log_get_status (const WaitLog *self);
