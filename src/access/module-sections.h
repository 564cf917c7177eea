// SPDX-License-Identifier: GPL-3.0-or-later

/* The load addresses of the kernel's modules. Module files do not contain them, because they
 * are relocatable. */

#pragma once

#define MODULES_DIR "/sys/module"

/* Lines `NAME BUILD-ID SECTION=ADDRESS …` of the modules in a directory like MODULES_DIR that
 * have visible code sections. The build ID is `-` if there is none. NULL if there are no such
 * modules. *(full)* */
char *sysprof_dup_module_sections (const char *modules_dir);
