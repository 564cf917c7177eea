// SPDX-License-Identifier: GPL-3.0-or-later

/* A file in our address space that another process may cut while we read.
 *
 * Mapping costs a tenth of reading: no copy, no second set of pages. The price is that touching what
 * was cut off raises SIGBUS. A handler, installed with the first mapping, puts zeros where the file ended,
 * remembers that, and the reader goes on; faults elsewhere go to whoever handled SIGBUS before. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps the first `size` bytes, at least 1, read-only. NULL where that cannot be, for which there may be good reasons:
 * the caller then reads. */
uint8_t *sysprof_mapped_file_map (int fd, size_t size);
void sysprof_mapped_file_unmap (uint8_t *bytes, size_t size);

/* Whether something of it was cut off since; reads of that part give zeros. */
bool sysprof_mapped_file_was_cut (const uint8_t *bytes);
