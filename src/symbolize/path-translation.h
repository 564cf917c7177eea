// SPDX-License-Identifier: GPL-3.0-or-later

/* From a path as a process saw it to where that file may be on this machine. Nothing is looked at here but texts: whether there is such
 * a file, and whether it is the one, is asked elsewhere. */

#pragma once

#include "util/util.h"

#include <glib.h>

#define TRANSLATION_MOST_PATHS \
  256 /* that one is translated to; overlays have up to 128 layers */

/* What a process has mounted. *Frozen* once it is made. */
typedef struct
{
  GArray *mounts; /* of Mount */
  GArray *layers; /* of OverlayLayer, of the overlays among them; or NULL */
  GArray *order;  /* of guint: the mounts, those first that are to be tried first */
} MountTable;

/* Of a /proc/PID/mountinfo. */
MountTable *sysprof_mount_table_new (Text mountinfo);
void sysprof_mount_table_free (MountTable *self);

typedef struct
{
  const MountTable *process; /* NULL = unknown */
  const MountTable *own;     /* ours, now */
  const GArray
      *layers; /* of OverlayLayer: told by the recorder or by a container's storage; or NULL */
  Text flatpak_info; /* the process's /.flatpak-info; empty = it has none */
  bool
      has_same_devices; /* recorded since this machine was started: device numbers mean the same */
  bool is_elsewhere;    /* another machine, or another start of it, was recorded */
  bool
      is_identified; /* what is found is compared with what was recorded; else only what cannot be another file is wanted */
  const char *
      host_prefix; /* where we see the host's files, if we run in a container ourselves; or NULL */
} PathFacts;

/* Where `path` may be, the likeliest first, without repetitions; GPtrArray of char*, which frees them. It may be empty. */
GPtrArray *sysprof_translate_path (const PathFacts *facts, const char *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MountTable, sysprof_mount_table_free)
