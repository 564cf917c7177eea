// SPDX-License-Identifier: GPL-3.0-or-later

/* The unresolved user-space addresses of a capture, grouped by file, so that each distinct pair
 * of file and offset is looked up once and each file is opened once. */

#pragma once

#include "symbolize/symbolizer.h"

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

typedef struct
{
  FileBatch *row; /* [n] batches that may be of the same file are adjacent */
  uint32_t n;
  BatchItem *items;
  uint64_t *offsets;
} FileBatches;

/* Whether a file found at the path can be compared with the recorded one. */
static inline bool
sysprof_file_batch_is_identified (const FileBatch *self)
{
  return self->inode != 0 || self->build_id[0] != 0;
}

/* Lists the addresses that are not resolved yet and whose mapping `is_wanted`. */
FileBatches *sysprof_file_batches_new (const Symbolization *self,
                                       bool (*is_wanted) (const char *path));
void sysprof_file_batches_free (FileBatches *batches);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FileBatches, sysprof_file_batches_free)
