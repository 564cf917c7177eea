// SPDX-License-Identifier: GPL-3.0-or-later

/* Where the kernel has put the code of its modules: their files say nothing of it, as they are not linked. */

#pragma once

#define MODULES_DIR "/sys/module"

/* `NAME BUILD-ID SECTION=ADDRESS …` by line, of the modules in a directory like MODULES_DIR whose sections with code may be seen; the
 * build ID is `-` where there is none. *(full)* NULL: there are none. */
char *sysprof_dup_module_sections (const char *modules_dir);
