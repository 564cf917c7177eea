// SPDX-License-Identifier: GPL-3.0-or-later

/* The files in which containers describe themselves, in the root directory of their processes:
 * which application, which image.
 *
 * A container controls these files, and may keep them on a file system that never answers. So
 * they are opened with the privileges of the process's user (util/children/process-files.h), by
 * a child of a child process. The pump sends requests and adds the replies to the capture. It
 * only waits for replies when the recording ends. *Owned* by the pump thread. */

#pragma once

#include "record/recording-context.h"
#include "util/util.h"

typedef struct
{
  RecordingContext *context; /* borrowed */
  ConfinedChild child;
  bool is_broken;      /* no more requests are sent to the child */
  uint64_t own_mounts; /* inode of our mount namespace */
  uint64_t n_waiting;  /* pending replies */
  ChildReply reply;    /* that is being received */
} ContainerIds;

void sysprof_container_ids_init (ContainerIds *self, RecordingContext *context);

/* Requests the files of a process whose mount namespace has the inode `mounts`. A process in
 * our own mount namespace is not in a container, and is skipped. */
void
sysprof_container_ids_request (ContainerIds *self, int32_t pid, int64_t time, uint64_t mounts);

/* Call this when the recording stops: waits a short time for pending replies. */
void sysprof_container_ids_finish (ContainerIds *self);
