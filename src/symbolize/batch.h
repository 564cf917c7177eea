// SPDX-License-Identifier: GPL-3.0-or-later

/* The open user addresses of a capture by file: each distinct (file, offset) is asked for once, all of a file
 * together. */

#pragma once

#include "symbolize/symbolizer.h"

typedef struct
{
  uint64_t offset; /* to look up, in the file */
  AddressId address;
  uint32_t file; /* index into FileBatches.row */
} BatchItem;

/* One file, as the processes that mapped it see it. Equal paths with another inode or build id are other files. */
typedef struct
{
  const char *path;
  const char *
      section; /* of a module of the kernel, from whose beginning offsets count; else NULL or "" */
  const char *build_id;   /* lower-case hex, "" = unknown */
  uint64_t inode;         /* 0 = unknown, or do not compare */
  const BatchItem *items; /* [n_items] by offset */
  uint32_t n_items;
  const uint64_t *offsets; /* [n_offsets] the distinct ones, ascending */
  uint32_t n_offsets;
} FileBatch;

typedef struct
{
  FileBatch *row; /* [n] those that may be of the same file next to each other */
  uint32_t n;
  BatchItem *items;
  uint64_t *offsets;
} FileBatches;

/* Whether what lies at a path can be compared with what was recorded. */
static inline bool
sysprof_file_batch_is_identified (const FileBatch *self)
{
  return self->inode != 0 || self->build_id[0] != 0;
}

/* Of the addresses that nobody named yet and whose mapping `is_wanted`. */
FileBatches *sysprof_file_batches_new (const Symbolization *self,
                                       bool (*is_wanted) (const char *path));
void sysprof_file_batches_free (FileBatches *batches);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FileBatches, sysprof_file_batches_free)
