// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofElfSymbolizer: reads symbols from ELF files and their debug files. */

#pragma once

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_ELF_SYMBOLIZER (sysprof_elf_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofElfSymbolizer,
                      sysprof_elf_symbolizer,
                      ELF_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_elf_symbolizer_new (void);

/* Directories of debug files like /usr/lib/debug, with paths of the recorded processes.
 * NULL-terminated. *(none, nullable)* Property "debug-dirs". */
SYSPROF_AVAILABLE_IN_ALL
const char *const *sysprof_elf_symbolizer_get_debug_dirs (SysprofElfSymbolizer *self);

/* Copied; NULL for none. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_elf_symbolizer_set_debug_dirs (SysprofElfSymbolizer *self,
                                            const char *const *debug_dirs);

/* The same, with paths of this program. *(none, nullable)* Property "external-debug-dirs". */
SYSPROF_AVAILABLE_IN_ALL
const char *const *sysprof_elf_symbolizer_get_external_debug_dirs (SysprofElfSymbolizer *self);

/* Copied; NULL for none. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_elf_symbolizer_set_external_debug_dirs (SysprofElfSymbolizer *self,
                                                     const char *const *debug_dirs);

G_END_DECLS
