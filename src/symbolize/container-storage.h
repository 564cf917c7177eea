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
} ContainerStorage;

void sysprof_container_storage_init (ContainerStorage *self);
void sysprof_container_storage_clear (ContainerStorage *self);

/* The layers of the container in which a process of that /proc/PID/cgroup is, topmost first: GArray of OverlayLayer, to be freed with its
 * elements. NULL: it is in none, or no storage that may be read knows it. */
GArray *sysprof_container_storage_find (ContainerStorage *self, Text cgroup);
