// SPDX-License-Identifier: GPL-3.0-or-later

/* Where functions begin of which nothing tells but who calls them, or takes their address: hand-written assembly in a file whose
 * symbols were taken away. x86-64. */

#pragma once

#include "elf/elf.h"

/* The places in the gaps, which ascend, that code of the file outside of them calls directly, or takes the address of where
 * functions may begin. Ascending, each once; free with free(). NULL: there are none. */
uint64_t *sysprof_called_find (ElfImage *image, const ElfCode *gaps, size_t n_gaps, size_t *n);
