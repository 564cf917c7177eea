// SPDX-License-Identifier: GPL-3.0-or-later

/* Keeps a walker supplied, that in the kernel or workers of ours to whom samples bring copies of their stacks: on a thread of
 * its own, which the kernel wakes with every mapping, fork, exec and exit, it sees to it that the code of all processes has
 * its tables.
 *
 * *Guarded*: the thread owns everything; from outside come only the calls below, on the pump thread. */

#pragma once

#include "bpf/bpf.h"
#include "record/privilege.h"
#include "record/unwinder/copies.h"
#include "record/unwinder/told.h"
#include "record/unwinder/unfinished.h"

typedef struct Unwinder Unwinder;

typedef struct
{
  unsigned
      call_depth; /* how many frames the program finds at most; 0 = all that a record holds */
  bool by_lists; /* it looks mappings up in lists of ours, also where it could ask the kernel */
  bool without_program; /* it is not loaded: others walk with the same maps */
} UnwinderOptions;

/* Has the program loaded, on another thread. NULL with `error`: DENIED without the rights, UNSUPPORTED where kernel or build
 * cannot. */
Unwinder *
sysprof_unwinder_new (Privilege *privilege, const UnwinderOptions *options, GError **error);

/* Walks copies: needs no rights. NULL with `error`: UNSUPPORTED on machines whose stacks are not known here. */
Unwinder *sysprof_unwinder_new_for_copies (Privilege *privilege, GError **error);

/* For sessions that sample; at first only its maps are there. NULL: they are to bring copies. */
const WalkProgram *sysprof_unwinder_get_program (const Unwinder *self);

/* Readable when the program is loaded, or refused. */
int sysprof_unwinder_get_loaded_fd (const Unwinder *self);
/* Waits until it is; once. Then the program is complete. FALSE with `error`, as of sysprof_unwinder_new(). */
bool sysprof_unwinder_finish_loading (Unwinder *self, GError **error);

/* Events on, then what runs already is read. `only`: [n_only] processes, with what they start; none = all. FALSE with `error`. */
bool
sysprof_unwinder_start (Unwinder *self, const int32_t *only, unsigned n_only, GError **error);

/* The same with what the kernel tells of [n_tasks] threads and what they start, which needs rights to these alone. Of
 * each process all threads are to be among them. `only` as above, whose mappings are read. */
bool sysprof_unwinder_start_for_tasks (Unwinder *self,
                                       const pid_t *tasks,
                                       unsigned n_tasks,
                                       const int32_t *only,
                                       unsigned n_only,
                                       GError **error);

/* Whoever walks with the same maps walks other processes than those that were named, too: from now on the code of all is looked at. */
void sysprof_unwinder_widen (Unwinder *self);
/* Whether there is such a one. */
bool sysprof_unwinder_is_widened (const Unwinder *self);

/* Until what runs already has its tables, but not for ever. */
void sysprof_unwinder_wait_until_ready (Unwinder *self, int64_t patience_msec);

/* What a decoder is to tell of that is told of inodes, on all processes; NULL: the unwinder can do with its own rings alone. */
Told *sysprof_unwinder_get_told (const Unwinder *self);
/* When that decoder's session is on: from now on nothing else is heard. */
void sysprof_unwinder_rely_on_pump (Unwinder *self);

/* The walker copies at most `n_bytes` of stacks into each ring, and as many again each time that the rings were drained. */
void sysprof_unwinder_set_copy_budget (Unwinder *self, size_t n_bytes);
void sysprof_unwinder_note_drained (Unwinder *self);

/* Has the unwinder walk a copy, or finish what a walk in the kernel could not: a decoder's TakeUnfinishedFunc, `data` is the unwinder. */
bool sysprof_unwinder_take_unfinished (const WalkedSample *sample, void *data);
/* Writes those that are finished, and sees to the others. */
void sysprof_unwinder_write_finished (Unwinder *self, PerfDecoder *decoder);

/* Before it starts: files of whose code stacks are walked are kept open (util/kept-files.h). */
void sysprof_unwinder_keep_files (Unwinder *self, unsigned most);
/* Once it is stopped: those that were; the caller's. NULL: none were to be. */
KeptFiles *sysprof_unwinder_steal_kept_files (Unwinder *self);

/* Ends the thread; sessions with the program are closed before. */
void sysprof_unwinder_free (Unwinder *self);

typedef struct
{
  CodeFilesStatus files;
  UnwindUse use;
  UnfinishedStatus unfinished;
  CopiedStatus copies;
  int64_t ready_nsec; /* from the start until what ran then had its tables; 0 = not yet */
  int64_t cpu_nsec;   /* of the thread */
  uint64_t n_events;
  uint64_t n_wake_ups;
  uint64_t n_lost; /* records that the kernel could not tell */
} UnwinderStatus;

/* Ends the thread; what was taken is finished, and waits to be written. */
void sysprof_unwinder_stop (Unwinder *self, UnwinderStatus *status);
