// SPDX-License-Identifier: GPL-3.0-or-later

/* write() that continues after a short write. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes all `size` bytes to a blocking descriptor. FALSE with errno; the bytes before the
 * error are written. */
bool sysprof_write_all (int fd, const void *bytes, size_t size);

/* Whether a regular file has fewer than `size` bytes. A writer of that many bytes finds out
 * that another program has truncated the file. */
bool sysprof_is_truncated (int fd, uint64_t size);
