// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds link-time addresses for a file of which only the debug file is available. In a debug
 * file, objcopy keeps the addresses of segments but not their file offsets. */

#pragma once

#include "locate/recorded-file.h"

/* Returns the link-time addresses of the batch's offsets, [n_offsets], or NULL if they are
 * uncertain. The code of the file has `text_size` bytes at the link-time address
 * `text_address`. Offsets outside of the code get 0 or UINT64_MAX. Free with g_free(). */
uint64_t *sysprof_find_link_addresses (const Store *store,
                                       const FileBatch *batch,
                                       uint64_t text_address,
                                       uint64_t text_size);
