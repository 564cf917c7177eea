// SPDX-License-Identifier: GPL-3.0-or-later

/* The executable mappings of each process, as far as the kernel has reported them. They are
 * published so that the BPF walker and the worker threads can unwind stacks with them. *Owned*
 * by the unwinder's thread. */

#pragma once

#include "perf/perf.h"
#include "unwinder/files.h"
#include "unwinder/mapping-events.h"

typedef struct CodeProcesses CodeProcesses;

/* All arguments are borrowed. With `mapping_events`, which may be NULL, a process is published
 * only when a sample needs it, because the BPF walker does not use the published processes
 * then. */
CodeProcesses *sysprof_code_processes_new (UnwindPublisher *publisher,
                                           CodeFiles *files,
                                           Privilege *privilege,
                                           MappingEvents *mapping_events);
void sysprof_code_processes_free (CodeProcesses *self);

/* Limits the state to `pid`, the processes that were named before, and their descendants. */
void sysprof_code_processes_narrow (CodeProcesses *self, int32_t pid);
/* From now on also look at the files that other processes execute. Where the walker looks
 * processes up in published lists, all processes become wanted. */
void sysprof_code_processes_widen (CodeProcesses *self);

/* The wanted processes, of int32_t; NULL = all. *(full)* */
GArray *sysprof_code_processes_list_wanted (const CodeProcesses *self);

/* Drops all processes, because the kernel has dropped records and the state may be wrong. Read
 * the processes again afterwards. Stacks from before `now_nsec` are not unwound with mappings
 * that are read then. */
void sysprof_code_processes_forget (CodeProcesses *self, int64_t now_nsec);

/* Queues, with precedence, the tables of all files that a running process maps. `file` is the
 * one that the walker met. */
void sysprof_code_processes_build_tables (CodeProcesses *self,
                                          int32_t pid,
                                          const UnwindFileKey *file);

/* Reads the mappings of a running process from /proc. */
void sysprof_code_processes_read (CodeProcesses *self, int32_t pid);

/* Queues the table of the file that an event maps, and keeps the event for a while unless it
 * came from the pump (`is_told`), which keeps it itself. TRUE: the caller must apply the event,
 * too, in the order of time. `now` in microseconds. */
bool sysprof_code_processes_note (CodeProcesses *self,
                                  const TaskEvent *event,
                                  bool is_told,
                                  int64_t now);

void sysprof_code_processes_apply (CodeProcesses *self, const TaskEvent *event);

typedef enum
{
  CODE_READY,      /* unwind with the published mappings */
  CODE_PENDING,    /* a table is being built */
  CODE_UNHEARD_OF, /* no event and no file in /proc describes the process */
  CODE_GONE,       /* its program at that time is no longer known */
} CodeState;

/* Reports whether a stack of `pid`, taken at `time` (ns), can be unwound now. If it can, this
 * function publishes the mappings that the process had at that time: inherited ones, or those
 * of a program that it executed before. Until the next call, unwind the stack as process
 * `walk_as`. */
CodeState
sysprof_code_processes_ask (CodeProcesses *self, int32_t pid, int64_t time, uint32_t *walk_as);

/* The same without changing or publishing anything. CODE_READY: the current program was
 * published before `time`, though a table may still be missing, which the unwinder then
 * reports. For any other result call sysprof_code_processes_ask(). */
CodeState sysprof_code_processes_look (const CodeProcesses *self, int32_t pid, int64_t time);

/* Publishes processes that have changed; after `tables_came`, also those that wait for a table.
 * `now` in microseconds. Returns the microseconds until the next deadline; -1 = none. */
int64_t sysprof_code_processes_publish (CodeProcesses *self, bool tables_came, int64_t now);
