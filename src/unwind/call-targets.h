// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds functions that have no symbol and no call-frame information, by the calls to them and
 * the references to their address: hand-written assembly in stripped files. x86-64. */

#pragma once

#include "elf/elf.h"

/* The addresses in the gaps (ascending) that other code of the file calls directly, or whose
 * address it takes if a function may begin there. Ascending and unique; free with free(). NULL:
 * none. */
uint64_t *
sysprof_call_targets_find (ElfImage *image, const ElfCode *gaps, size_t n_gaps, size_t *n);
