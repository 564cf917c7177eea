// SPDX-License-Identifier: GPL-3.0-or-later

/* Where code of a file was linked, for who has its debug file alone: objcopy keeps in it where segments are in memory, and not where they
 * were in the file. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/elf-worker.h"

/* The link-time addresses of the batch's offsets, [n_offsets]; NULL where nothing is certain. Those that are not in the file's code are 0
 * or UINT64_MAX. Free with g_free(). */
uint64_t *sysprof_find_link_addresses (const Symbolization *self,
                                       const FileBatch *batch,
                                       const ElfFacts *facts);
