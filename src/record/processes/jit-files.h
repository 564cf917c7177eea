// SPDX-License-Identifier: GPL-3.0-or-later

/* Symbols of the code that running programs generate. For each process that has such code, an
 * embedded file `/proc/PID/jit-code` with the lines of jit/jit.h is added. Symbols are needed
 * on other machines, and after the process has exited and its /tmp has gone. *Owned* by the
 * pump thread. */

#pragma once

#include "access/access.h"
#include "record/recording-context.h"

typedef struct
{
  RecordingContext *context; /* borrowed */
  JitFinder finder;
} JitFiles;

void sysprof_jit_files_init (JitFiles *self, RecordingContext *context);
/* Call this when `pid` maps executable memory. `path` is the name from the kernel, "" for none.
 * Does not wait. */
void sysprof_jit_files_note (JitFiles *self, int32_t pid, const char *path);
/* The same for all mappings that kernel events have reported. */
void sysprof_jit_files_take_log (JitFiles *self);
/* For *augment*: reads the files, which takes some time, and adds their symbols. */
void sysprof_jit_files_add (JitFiles *self);
void sysprof_jit_files_clear (JitFiles *self);
