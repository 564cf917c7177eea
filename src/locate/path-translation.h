// SPDX-License-Identifier: GPL-3.0-or-later

/* Translates a path as a recorded process saw it to paths of the same file on this machine. It
 * only computes texts; the caller checks whether the files exist and are the recorded ones. */

#pragma once

#include "util/util.h"

#include <glib.h>

#define TRANSLATION_MOST_PATHS \
  256 /* paths per translated path; overlays have up to 128 layers */

/* The mounts of a process. *Frozen* once it is made. */
typedef struct
{
  GArray *mounts; /* of Mount */
  GArray *layers; /* of OverlayLayer, of the overlays in `mounts`; or NULL */
  GArray *order;  /* of guint: indices of the mounts, in the order in which they are tried */
} MountTable;

/* Parses the contents of /proc/PID/mountinfo. */
MountTable *sysprof_mount_table_new (Text mountinfo);
void sysprof_mount_table_free (MountTable *self);

typedef struct
{
  const MountTable *process; /* NULL = unknown */
  const MountTable *own;     /* current mounts of this process */
  /* of OverlayLayer: from the recorder or from a container's storage; or NULL */
  const GArray *layers;
  Text flatpak_info; /* the process's /.flatpak-info; empty = none */
  /* recorded during the current boot, so device numbers are still valid */
  bool has_same_devices;
  bool is_elsewhere; /* recorded on another machine, or during another boot */
  /* files found will be compared with the recorded one; else only paths that cannot lead to
   * another file are wanted */
  bool is_identified;
  /* where this process sees the host's files, if it runs in a container; or NULL */
  const char *host_prefix;
} PathFacts;

/* Lists the paths where `path` may be, the most likely first, without duplicates; may be empty.
 * Returns a GPtrArray of char*, which owns them. */
GPtrArray *sysprof_translate_path (const PathFacts *facts, const char *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MountTable, sysprof_mount_table_free)
