// SPDX-License-Identifier: GPL-3.0-or-later

/* What running programs say about the code that they generate, brought into the capture: for each process that says anything an
 * embedded file `/proc/PID/jit-code` of the lines of jit/jit.h. Names are needed after the process has ended, its /tmp is
 * gone, and on other machines. *Owned* by the pump thread. */

#pragma once

#include "record/jit-finder.h"
#include "record/pump.h"

typedef struct
{
  Pump *pump; /* borrowed */
  JitFinder finder;
} JitFiles;

void sysprof_jit_files_init (JitFiles *self, Pump *pump);
/* `pid` maps executable memory under that name (as the kernel tells it, "" for none). Does not wait. */
void sysprof_jit_files_note (JitFiles *self, int32_t pid, const char *path);
/* The same for all that kernel events told of. */
void sysprof_jit_files_take_log (JitFiles *self);
/* For *augment*: reads them, which takes a while, and adds what they say. */
void sysprof_jit_files_add (JitFiles *self);
void sysprof_jit_files_clear (JitFiles *self);
