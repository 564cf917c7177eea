// SPDX-License-Identifier: GPL-3.0-or-later

/* Files that are held open because they may have vanished when they are needed: replaced,
 * deleted, or on an unmounted file system. Each is kept in an envelope
 * (util/children/opener.h), which uses a descriptor.
 *
 * The number of files is limited. Beyond it, the files that have been unchanged for longest are
 * released: a file that was installed years ago will still exist in a minute, while a file that
 * a compiler has just written may not. *Owned* by one thread at a time. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct
{
  /* as the kernel reports it for mappings; stat() returns another number on overlayfs */
  uint64_t inode;
  uint32_t device_major;
  uint32_t device_minor;
  char *path; /* as seen by the process that mapped it first */
  int envelope;
  struct stat info;
} PinnedFile;

typedef struct PinnedFiles PinnedFiles;

/* At most `most` files, and at most half of the descriptors that this process may have. */
PinnedFiles *sysprof_pinned_files_new (unsigned most);
void sysprof_pinned_files_free (PinnedFiles *self);

/* Keeps a duplicate of the envelope and a copy of the path. */
void sysprof_pinned_files_add (PinnedFiles *self, const PinnedFile *file);

/* The nth file that may have that inode (0 = unknown: then that path), latest first; NULL = no
 * more. */
const PinnedFile *sysprof_pinned_files_find (const PinnedFiles *self,
                                             uint64_t inode,
                                             const char *path,
                                             unsigned n);

/* The number of files that were released, or could not be kept. */
unsigned sysprof_pinned_files_get_n_released (const PinnedFiles *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PinnedFiles, sysprof_pinned_files_free)
