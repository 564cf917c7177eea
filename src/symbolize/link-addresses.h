// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds link-time addresses for a file of which only the debug file is available. In a debug
 * file, objcopy keeps the addresses of segments but not their file offsets. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/elf-worker.h"

/* Returns the link-time addresses of the batch's offsets, [n_offsets], or NULL if they are
 * uncertain. Offsets outside of the file's code get 0 or UINT64_MAX. Free with g_free(). */
uint64_t *sysprof_find_link_addresses (const Symbolization *self,
                                       const FileBatch *batch,
                                       const ElfFacts *facts);
