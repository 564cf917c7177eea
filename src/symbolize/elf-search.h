// SPDX-License-Identifier: GPL-3.0-or-later

/* The search for ELF files and their debug files, and the parser that has one of them open. */

#pragma once

#include "inspect/inspect.h"
#include "symbolize/symbolizer.h"

/* *Owned* by the thread that symbolizes. */
typedef struct
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

/* The reader for files that the open file names and that are searched below `root`. */
uint32_t sysprof_elf_search_reader (const ElfSearch *self, int root);

/* Opens `path` below `root` with the rights of `reader`, and adds it to the open file. `i`:
 * index into the missing split units of the answer. */
typedef ElfStatus (
    *AddPartFunc) (ElfSearch *self, uint32_t reader, int root, const char *path, uint32_t i);

/* A search for one part of the debug information. */
typedef struct
{
  ElfSearch *search;
  AddPartFunc add;
  uint32_t i;
  ElfStatus status; /* the result; starts as ELF_ABSENT */
} PartSearch;

/* A TryPathFunc: tries to add the part, which is found at `path` at last. */
bool sysprof_part_search_try (int root, const char *path, void *part_search);
