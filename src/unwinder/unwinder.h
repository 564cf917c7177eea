// SPDX-License-Identifier: GPL-3.0-or-later

/* Unwinds user stacks with unwind tables while the recording runs. The BPF walker unwinds in
 * the kernel; where samples carry copies of their stacks, worker threads of this process unwind
 * the copies.
 *
 * The unwinder has a thread of its own. Records of mappings, forks, execs and exits wake the
 * thread, which has unwind tables built and publishes them for the code of all processes.
 *
 * *Guarded*: the thread owns the state. Other code uses only the functions below, on the pump's
 * thread. */

#pragma once

#include "access/access.h"
#include "bpf/bpf.h"
#include "unwinder/copies.h"
#include "unwinder/mapping-events.h"
#include "unwinder/pending-samples.h"

typedef struct Unwinder Unwinder;

typedef struct
{
  /* Most frames that the BPF program finds per stack; 0 = as many as a record holds. */
  unsigned call_depth;
  /* Look mappings up in published lists, even if the program could query the kernel. */
  bool by_lists;
  /* Do not load the program: another program uses the same maps. */
  bool without_program;
} UnwinderOptions;

/* Starts to load the BPF program on another thread. Returns NULL with `error`: DENIED without
 * the privileges, UNSUPPORTED if the kernel or this build does not support BPF. */
Unwinder *
sysprof_unwinder_new (Privilege *privilege, const UnwinderOptions *options, GError **error);

/* Makes an unwinder for stack copies, which needs no privileges. Returns NULL with `error`:
 * UNSUPPORTED on machines other than x86-64 and arm64. */
Unwinder *sysprof_unwinder_new_for_copies (Privilege *privilege, GError **error);

/* The program for sessions that sample. At first only its maps exist. NULL: the sessions must
 * copy stacks instead. */
const WalkProgram *sysprof_unwinder_get_program (const Unwinder *self);

/* A descriptor that becomes readable when the program is loaded or loading has failed. */
int sysprof_unwinder_get_loaded_fd (const Unwinder *self);
/* Waits until the program is loaded. Call it once; after success the program is complete.
 * Returns FALSE with the `error` codes of sysprof_unwinder_new(). */
bool sysprof_unwinder_finish_loading (Unwinder *self, GError **error);

/* Enables the events, then reads the processes that run already. `only`: [n_only] processes to
 * unwind, together with their descendants; none = all. Returns FALSE with `error`. */
bool
sysprof_unwinder_start (Unwinder *self, const int32_t *only, unsigned n_only, GError **error);

/* Like sysprof_unwinder_start(), but opens the events for [n_tasks] threads and their
 * descendants only, which needs privileges for these threads alone. `tasks` must contain all
 * threads of each process. `only` as above. */
bool sysprof_unwinder_start_for_tasks (Unwinder *self,
                                       const pid_t *tasks,
                                       unsigned n_tasks,
                                       const int32_t *only,
                                       unsigned n_only,
                                       GError **error);

/* From now on look at the code of all processes, because another user of the maps unwinds
 * processes that are not in `only`. */
void sysprof_unwinder_widen (Unwinder *self);
/* TRUE after sysprof_unwinder_widen(). */
bool sysprof_unwinder_is_widened (const Unwinder *self);

/* Waits until the processes that ran at the start have their tables, at most
 * `patience_msec`. */
void sysprof_unwinder_wait_until_ready (Unwinder *self, int64_t patience_msec);

/* The event queue that the decoder must fill with mapping records, which contain inodes, of all
 * processes. NULL: the unwinder reads only its own rings. */
MappingEvents *sysprof_unwinder_get_mapping_events (const Unwinder *self);
/* Call it when that decoder's session is enabled. From now on the unwinder reads events only
 * from the pump. */
void sysprof_unwinder_rely_on_pump (Unwinder *self);

/* Limits the stack bytes that the walker copies into each ring to `n_bytes`. The budget starts
 * again each time that sysprof_unwinder_note_drained() is called. */
void sysprof_unwinder_set_copy_budget (Unwinder *self, size_t n_bytes);
void sysprof_unwinder_note_drained (Unwinder *self);

/* Queues a stack copy to unwind, or a sample that the walker could not finish. This is the
 * decoder's TakePendingFunc; `data` is the unwinder. */
bool sysprof_unwinder_take_pending (const WalkedSample *sample, void *data);
/* Writes the samples that are finished, and sends new stack copies to the workers. */
void sysprof_unwinder_write_finished (Unwinder *self, PerfDecoder *decoder);

/* Keep at most `most` files open whose code stacks are unwound through (see util/pinned-files.h).
 * Call it before the start. */
void sysprof_unwinder_keep_files (Unwinder *self, unsigned most);
/* The files that were held open; *(full)*. NULL: none were requested. Call it after the
 * unwinder has stopped. */
PinnedFiles *sysprof_unwinder_steal_pinned_files (Unwinder *self);

/* Ends the thread. Close all sessions that use the program before. */
void sysprof_unwinder_free (Unwinder *self);

typedef struct
{
  CodeFilesStatus files;
  UnwindUse use;
  PendingStatus pending;
  CopiedStatus copies;
  /* From the start until the processes that ran then had their tables; 0 = not reached. */
  int64_t ready_nsec;
  int64_t cpu_nsec; /* of the thread */
  uint64_t n_events;
  uint64_t n_wake_ups;
  uint64_t n_lost; /* records that the kernel dropped */
} UnwinderStatus;

/* Ends the thread. Samples that were taken are finished and can be written afterwards. */
void sysprof_unwinder_stop (Unwinder *self, UnwinderStatus *status);
