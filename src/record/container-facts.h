// SPDX-License-Identifier: GPL-3.0-or-later

/* The files in which containers describe themselves, at the root of their processes: which application, which image.
 *
 * A container controls these files, and may keep them on a file system that never answers. So they are opened with the rights of
 * the process's user (util/process-files.h), by a child of a child: the pump sends requests, adds the answers to the capture, and
 * waits only when the recording ends. *Owned* by the pump thread. */

#pragma once

#include "record/pump.h"
#include "util/util.h"

typedef struct
{
  Pump *pump; /* borrowed */
  ConfinedChild child;
  bool is_broken;      /* the child is not asked again */
  uint64_t own_mounts; /* inode of our mount namespace */
  uint64_t n_waiting;  /* answers that are still to come */
  uint8_t *input;      /* [n_input], room for one answer */
  size_t n_input;
} ContainerFacts;

void sysprof_container_facts_init (ContainerFacts *self, Pump *pump);

/* Asks about a process whose mount namespace has the inode `mounts`; one in ours is in no container. */
void
sysprof_container_facts_ask (ContainerFacts *self, int32_t pid, int64_t time, uint64_t mounts);

/* When the recording stops: what has been asked for is waited for a moment. */
void sysprof_container_facts_finish (ContainerFacts *self);
