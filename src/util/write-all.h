// SPDX-License-Identifier: GPL-3.0-or-later

/* write() that goes on where the kernel took a part. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes all `size` bytes to a descriptor that blocks. FALSE with errno; what was written until then is. */
bool sysprof_write_all (int fd, const void *bytes, size_t size);
