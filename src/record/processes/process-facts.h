// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads facts about processes in /proc, and adds them to the capture: command line, mappings,
 * cgroup, namespaces, mounts, names of threads. *Owned* by the pump thread. */

#pragma once

#include "record/processes/container-ids.h"
#include "record/processes/jit-files.h"

typedef struct
{
  /* inode → GArray of OverlayLayer, or NULL: the mount namespaces whose mount table has been
   * written. */
  GHashTable *mount_namespaces;
  ContainerIds container_ids;
  JitFiles jit_files;
  char *text; /* [text_size] the file read last */
  size_t text_size;
} ProcessFacts;

void sysprof_process_facts_init (ProcessFacts *self, RecordingContext *context);
void sysprof_process_facts_clear (ProcessFacts *self);

/* Adds the mounts of the recorder. */
void sysprof_process_facts_add_mounts (ProcessFacts *self, RecordingContext *context);
/* Adds everything about a process that was running before the recording. */
void
sysprof_process_facts_add_running (ProcessFacts *self, RecordingContext *context, int32_t pid);
/* Adds what kernel events do not contain about a process that was started. */
void sysprof_process_facts_add_started (ProcessFacts *self,
                                        RecordingContext *context,
                                        const StartedProcess *process);
