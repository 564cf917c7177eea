// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds where Podman keeps the files of its containers: the overlay directories of a container,
 * according to Podman's storage. *Owned* by one thread. */

#pragma once

#include "util/util.h"

#include <glib.h>

typedef struct
{
  Opener opener;
  ConfinedChild parser; /* parses the users' lists, without privileges */
  GHashTable *found; /* container and user → GArray of OverlayLayer, NULL = unknown container */
  int64_t left_msec;     /* remaining time for all further lookups */
  int64_t deadline_msec; /* of the current lookup */
} ContainerStorage;

/* `stop_fd` (borrowed, -1 = none): once it is readable, waiting ends. */
void sysprof_container_storage_init (ContainerStorage *self, int stop_fd);
void sysprof_container_storage_clear (ContainerStorage *self);

/* Returns the layers of the container that a process with this /proc/PID/cgroup is in, topmost
 * first: GArray of OverlayLayer, borrowed. Returns NULL if it is in no container, or no
 * readable storage contains the container. Each container is looked up once, and all lookups
 * together may take ten seconds. */
GArray *sysprof_container_storage_find (ContainerStorage *self, Text cgroup);
