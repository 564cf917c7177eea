// SPDX-License-Identifier: GPL-3.0-or-later

/* Files that may have vanished when somebody wants to read them: replaced, deleted, or on a file system that is gone. Each is kept
 * in an envelope (util/opener.h), which costs a descriptor.
 *
 * There is room for so many. Of more, those are let go that have not been changed for longest: what was installed years ago will be
 * there in a minute, what a compiler has just written may not. *Owned* by one thread at a time. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct
{
  uint64_t inode; /* as the kernel tells it of mappings; in overlays stat() has another one */
  uint32_t device_major;
  uint32_t device_minor;
  char *path; /* as who mapped it first sees it */
  int envelope;
  struct stat info;
} KeptFile;

typedef struct KeptFiles KeptFiles;

/* Room for `most`, but no more than half of the descriptors that this process may have. */
KeptFiles *sysprof_kept_files_new (unsigned most);
void sysprof_kept_files_free (KeptFiles *self);

/* Keeps a duplicate of the envelope, and a copy of the path. */
void sysprof_kept_files_add (KeptFiles *self, const KeptFile *file);

/* The nth of the files that may be the one of that inode (0 = unknown: then of that path), the last one first; NULL = there are no more. */
const KeptFile *
sysprof_kept_files_find (const KeptFiles *self, uint64_t inode, const char *path, unsigned n);

unsigned sysprof_kept_files_get_n (const KeptFiles *self);
/* How many were let go, or could not be kept. */
unsigned sysprof_kept_files_get_n_let_go (const KeptFiles *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KeptFiles, sysprof_kept_files_free)
