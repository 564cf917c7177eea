// SPDX-License-Identifier: GPL-3.0-or-later

/* A file that the capture names and that is searched for, and the settings of the search. */

#pragma once

#include "store/store.h"

/* *Frozen*; all pointers are borrowed. */
typedef struct
{
  Store *store;
  GCancellable *cancellable;
  const char *sysroot; /* look for files below this directory; NULL = "/" */
  /* additional directories like /usr/lib/debug; NULL-terminated or NULL */
  const char *const *debug_dirs;
  const char *const *inner_debug_dirs; /* likewise, as seen by the process of the file */
  /* recorded on this machine during this boot: its processes may be queried */
  bool is_this_boot;
  /* the capture states that it was recorded on another machine, or during another boot */
  bool is_elsewhere;
} LocateOptions;

typedef struct
{
  uint64_t offset; /* in the file */
  AddressId address;
  uint32_t file; /* index into FileBatches.row */
} BatchItem;

/* One file as the processes that mapped it see it. Files with equal paths but different inodes
 * or build IDs are different files. */
typedef struct
{
  const char *path;
  /* of a kernel module: offsets count from the start of this section; else NULL or "" */
  const char *section;
  const char *build_id;   /* lower-case hex, "" = unknown */
  uint64_t inode;         /* 0 = unknown, or must not be compared */
  const BatchItem *items; /* [n_items] sorted by offset */
  uint32_t n_items;
  const uint64_t *offsets; /* [n_offsets] distinct, ascending */
  uint32_t n_offsets;
} FileBatch;

/* Whether a file found at the path can be compared with the recorded one. */
static inline bool
sysprof_file_batch_is_identified (const FileBatch *self)
{
  return self->inode != 0 || self->build_id[0] != 0;
}
