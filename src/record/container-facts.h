// SPDX-License-Identifier: GPL-3.0-or-later

/* What containers say about themselves, in files at the root of their processes: which application, which image.
 *
 * A container may put there what it likes, on a file system that never answers. So a child opens and reads it; the pump asks, and
 * adds what comes, and waits for nothing. *Owned* by the pump thread. */

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
