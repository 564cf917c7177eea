// SPDX-License-Identifier: GPL-3.0-or-later

/* Which build of the kernel runs, and of its modules: by it debug files are found later, on any machine. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of notes as the kernel shows them, which are those of its ELF file: in hex; NULL where there is none. *(full)* */
char *sysprof_dup_build_id_of_notes (const uint8_t *notes, size_t size);

/* Of the running kernel. *(full)* NULL where it does not tell. */
char *sysprof_dup_kernel_build_id (void);

/* Of one of its modules, in a directory like MODULES_DIR. *(full)* NULL where it does not tell. */
char *sysprof_dup_module_build_id (const char *modules_dir, const char *name);

/* Of its modules that have one, lines `NAME BUILD-ID` by name. *(full)* NULL without any. */
char *sysprof_dup_module_build_ids (void);
