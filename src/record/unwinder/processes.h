// SPDX-License-Identifier: GPL-3.0-or-later

/* Which process has which code mapped, as far as the kernel has told; published so that walks find it. *Owned* by the
 * unwinder's thread. */

#pragma once

#include "record/perf/task-events.h"
#include "record/unwinder/files.h"

typedef struct CodeProcesses CodeProcesses;

/* All borrowed. */
CodeProcesses *
sysprof_code_processes_new (UnwindPublisher *publisher, CodeFiles *files, Privilege *privilege);
void sysprof_code_processes_free (CodeProcesses *self);

/* Only `pid`, those that were named before, and what they start. */
void sysprof_code_processes_narrow (CodeProcesses *self, int32_t pid);

/* Reads what a running process has mapped. */
void sysprof_code_processes_read (CodeProcesses *self, int32_t pid);

void sysprof_code_processes_apply (CodeProcesses *self, const TaskEvent *event);

/* Publishes what has changed; after `tables_came`, all that waited for one. `now` in microseconds. Returns in how many
 * microseconds there is something to do without any event; -1 = never. */
int64_t sysprof_code_processes_publish (CodeProcesses *self, bool tables_came, int64_t now);
