// SPDX-License-Identifier: GPL-3.0-or-later

/* Where Podman keeps the files of its containers: the directories whose overlay a container sees, by what its storage says of it. *Owned* by
 * one thread. */

#pragma once

#include "util/util.h"

#include <glib.h>

typedef struct
{
  Opener opener;
  ConfinedChild parser; /* reads what its user wrote, without rights */
  GHashTable *found; /* container and user → GArray of OverlayLayer, NULL = nobody knows it */
  int64_t left_msec; /* for all that is still asked */
  int64_t deadline_msec; /* of what is being asked */
} ContainerStorage;

/* `stop_fd` (borrowed, -1 = none): once it is readable, nothing is waited for any more. */
void sysprof_container_storage_init (ContainerStorage *self, int stop_fd);
void sysprof_container_storage_clear (ContainerStorage *self);

/* The layers of the container in which a process of that /proc/PID/cgroup is, topmost first: GArray of OverlayLayer, borrowed.
 * NULL: it is in none, or no storage that may be read knows it. Each container is asked for once, and all of them for ten seconds. */
GArray *sysprof_container_storage_find (ContainerStorage *self, Text cgroup);
