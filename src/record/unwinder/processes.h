// SPDX-License-Identifier: GPL-3.0-or-later

/* Which process has which code mapped, as far as the kernel has told; published so that walks find it. *Owned* by the
 * unwinder's thread. */

#pragma once

#include "record/perf/task-events.h"
#include "record/unwinder/files.h"
#include "record/unwinder/told.h"

typedef struct CodeProcesses CodeProcesses;

/* All borrowed. With `told`, which may be NULL, a process is published only when it is asked for, as walks do without. */
CodeProcesses *sysprof_code_processes_new (UnwindPublisher *publisher,
                                           CodeFiles *files,
                                           Privilege *privilege,
                                           Told *told);
void sysprof_code_processes_free (CodeProcesses *self);

/* Only `pid`, those that were named before, and what they start. */
void sysprof_code_processes_narrow (CodeProcesses *self, int32_t pid);
/* Of all others, the files that they execute are looked at as well, or, where walks take processes from lists, they are wanted, too. */
void sysprof_code_processes_widen (CodeProcesses *self);

/* Those, of int32_t; NULL = all. *(full)* */
GArray *sysprof_code_processes_list_wanted (const CodeProcesses *self);

/* The kernel could not tell all: nothing that is known is certain any more. Processes are to be read again; stacks from before
 * `now_nsec` are not walked with what is found then. */
void sysprof_code_processes_forget (CodeProcesses *self, int64_t now_nsec);

/* Has the tables built of all files that a running process has mapped, before other tables. The walker met `file` there. */
void sysprof_code_processes_build_tables (CodeProcesses *self,
                                          int32_t pid,
                                          const UnwindFileKey *file);

/* Reads what a running process has mapped. */
void sysprof_code_processes_read (CodeProcesses *self, int32_t pid);

/* Has the tables made of what an event maps, and keeps in mind what happened, unless the pump `is_told` and does. TRUE: it is to be
 * applied as well, in the order of time. */
bool sysprof_code_processes_note (CodeProcesses *self,
                                  const TaskEvent *event,
                                  bool is_told,
                                  int64_t now);

void sysprof_code_processes_apply (CodeProcesses *self, const TaskEvent *event);

typedef enum
{
  CODE_READY,      /* walk with what is published */
  CODE_PENDING,    /* a table is being built */
  CODE_UNHEARD_OF, /* nobody has told of the process */
  CODE_GONE,       /* it has executed other programs since: what it had is not known any more */
} CodeState;

/* Whether a stack of `pid`, taken at `time` (ns), can be walked now. What its parent left it is published for that, and what it
 * had before it executed its program: until the next call it is walked as process `walk_as`. */
CodeState
sysprof_code_processes_ask (CodeProcesses *self, int32_t pid, int64_t time, uint32_t *walk_as);

/* The same, and changes nothing. CODE_READY: what the process executes now was published before `time`, perhaps without tables
 * that are being built, which walks tell; else ask. */
CodeState sysprof_code_processes_look (const CodeProcesses *self, int32_t pid, int64_t time);

/* Publishes what has changed; after `tables_came`, all that waited for one. `now` in microseconds. Returns in how many
 * microseconds there is something to do without any event; -1 = never. */
int64_t sysprof_code_processes_publish (CodeProcesses *self, bool tables_came, int64_t now);
