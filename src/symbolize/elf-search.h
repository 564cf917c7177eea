// SPDX-License-Identifier: GPL-3.0-or-later

/* The search for ELF files and their debug files, and the parser that has one of them open. */

#pragma once

#include "inspect/inspect.h"
#include "symbolize/symbolizer.h"

/* *Owned* by the thread that symbolizes. */
typedef struct ElfSearch
{
  Symbolization *symbolization;
  FileLocator locator;
  ElfParser parser;
  uint32_t reader; /* for files that the open file names; see sysprof_find_reader() */
} ElfSearch;

/* `is_fetched`: files are parsed without privileges, independent of the user. */
void sysprof_elf_search_init (ElfSearch *self, Symbolization *symbolization, bool is_fetched);
void sysprof_elf_search_clear (ElfSearch *self);

/* Opens the file in the envelope, which was found below `root` at `path`, in the parser. */
ElfStatus sysprof_elf_search_open (ElfSearch *self,
                                   int envelope,
                                   const struct stat *info,
                                   int root,
                                   const char *path,
                                   ElfFacts *facts);

/* Searches the debug file of the open file, which was found at `path` below `root`. If that is
 * not the path of the batch, also searches where the file's processes, which have exited, saw
 * the debug file. ELF_ABSENT: there is none. ELF_MISMATCH, ELF_TOO_LARGE: the file found cannot
 * be used. */
ElfStatus sysprof_elf_search_find_debug (ElfSearch *self,
                                         const FileBatch *batch,
                                         int root,
                                         const char *path,
                                         const ElfFacts *facts);
/* Adds a debug file of this machine. */
ElfStatus sysprof_elf_search_add_debug (ElfSearch *self, const char *path);

/* Resolves lines and inlined functions of the batch with the open file, whose supplement and
 * split units are searched. The keys are link-time `addresses`, or offsets if NULL. Missing
 * parts are noted. Returns FALSE if the file gives no answer. */
bool sysprof_elf_search_resolve_lines (ElfSearch *self,
                                       const FileBatch *batch,
                                       const uint64_t *addresses,
                                       ElfAnswers *lines);

/* Whether this is the build ID of the file, as lower-case hex. */
bool sysprof_elf_has_build_id (const ElfFacts *facts, const char *hex);
