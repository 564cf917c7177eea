// SPDX-License-Identifier: GPL-3.0-or-later

/* The unresolved user-space addresses of a capture, grouped by file, so that each distinct pair
 * of file and offset is looked up once and each file is opened once. */

#pragma once

#include "symbolize/symbolizer.h"

typedef struct
{
  FileBatch *row; /* [n] batches that may be of the same file are adjacent */
  uint32_t n;
  BatchItem *items;
  uint64_t *offsets;
} FileBatches;

/* Lists the addresses that are not resolved yet and whose mapping `is_wanted`. */
FileBatches *sysprof_file_batches_new (const Symbolization *self,
                                       bool (*is_wanted) (const char *path));
void sysprof_file_batches_free (FileBatches *batches);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FileBatches, sysprof_file_batches_free)
