// SPDX-License-Identifier: GPL-3.0-or-later

/* A mapped file that another process may truncate while we read it.
 *
 * Mapping takes a tenth of the time of reading: no copy, no second set of pages. But reading
 * truncated pages raises SIGBUS. A handler, installed with the first mapping, maps zeros there
 * and records that the file was truncated; the reader continues. Faults elsewhere go to the
 * handler that was installed before. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps the first `size` bytes, at least 1, read-only. NULL where that cannot be, for which
 * there may be good reasons: the caller then reads. */
uint8_t *sysprof_mapped_file_map (int fd, size_t size);
void sysprof_mapped_file_unmap (uint8_t *bytes, size_t size);

/* Whether something of it was cut off since; reads of that part give zeros. */
bool sysprof_mapped_file_was_cut (const uint8_t *bytes);
