// SPDX-License-Identifier: GPL-3.0-or-later

/* The build IDs of the running kernel and its modules. They identify debug files later, on any
 * machine. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* The build ID in hex from ELF notes as the kernel shows them; NULL if there is none.
 * *(full)* */
char *sysprof_dup_build_id_of_notes (const uint8_t *notes, size_t size);

/* The build ID of the running kernel; NULL if the kernel does not provide it. *(full)* */
char *sysprof_dup_kernel_build_id (void);

/* The build ID of one module, from a directory like MODULES_DIR; NULL if the kernel does not
 * provide it. *(full)* */
char *sysprof_dup_module_build_id (const char *modules_dir, const char *name);

/* Lines `NAME BUILD-ID` of all modules that have one, sorted by name; NULL if there are none.
 * *(full)* */
char *sysprof_dup_module_build_ids (void);
