// SPDX-License-Identifier: GPL-3.0-or-later

/* Recognizes files of other programs that a user may take for a capture. */

#pragma once

#include <stddef.h>

/* Returns what the file is and what to do with it, as "perf.data: convert it with …"; NULL if
 * it is unknown. `bytes` [size] are its first bytes or all of them, without compression. */
const char *sysprof_foreign_file_describe (const void *bytes, size_t size);
