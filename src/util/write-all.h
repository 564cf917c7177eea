// SPDX-License-Identifier: GPL-3.0-or-later

/* write() that goes on where the kernel took a part. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes all `size` bytes to a descriptor that blocks. FALSE with errno; what was written until then is. */
bool sysprof_write_all (int fd, const void *bytes, size_t size);

/* Whether a regular file has fewer than `size` bytes. Who has written so many learns that another program truncated it. */
bool sysprof_is_truncated (int fd, uint64_t size);
