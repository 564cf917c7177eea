// SPDX-License-Identifier: GPL-3.0-or-later

/* One ELF file with what belongs to it, asked as the child that parses is (elf-sandbox.h); but what it has answered before, in this
 * process or in another one, is remembered (symbol-cache.h). Then the child gets the file only once something is asked that is new.
 *
 * Files are opened by the caller all the same: that they are there, and still the same, is never remembered. *Owned* by one
 * thread. */

#pragma once

#include "symbolize/elf-sandbox.h"
#include "symbolize/symbol-cache.h"

typedef struct
{
  ElfSandbox sandbox;
  FileBudget *budget; /* borrowed: for files of untrusted owners; NULL = unlimited */
  SymbolCache *cache; /* or NULL: nothing is remembered */
  bool
      is_by_address; /* all is asked by address: then that is remembered, and offsets are not asked for */
  /* What is open. */
  bool is_open;
  bool is_in_child;  /* the child has it, and what belongs to it */
  bool has_changed;  /* the entry is to be stored */
  CacheEntry *entry; /* or NULL: nothing is remembered of this file */
  bool is_for_lines;
  int envelope; /* ours; -1: there was no descriptor left for one */
  struct stat info;
  GArray *parts; /* of those in use */
  guint failed;  /* the one that the child could not be handed; G_MAXUINT = none */
  /* Whose file the child has read last, and on which device; and whether it has read others' as well. */
  uid_t child_owner;
  dev_t child_device;
  bool is_child_mixed;
} RememberedElf;

#define REMEMBERED_ELF_INIT                     \
  {                                             \
    .sandbox = ELF_SANDBOX_INIT, .envelope = -1 \
  }

/* As those of the sandbox. ELF_SKIPPED: the file's owner is not trusted, and the budget of such files is used up. */
ElfStatus sysprof_remembered_elf_open (RememberedElf *self,
                                       int envelope,
                                       const struct stat *info,
                                       bool is_for_lines,
                                       ElfFacts *facts);
ElfStatus sysprof_remembered_elf_add_debug (RememberedElf *self,
                                            int envelope,
                                            const struct stat *info,
                                            ElfFacts *facts);
ElfStatus sysprof_remembered_elf_add_supplement (RememberedElf *self,
                                                 int envelope,
                                                 const struct stat *info);
/* Nor is what split units say: the answers that lack some end the remembering of that file. */
ElfStatus
sysprof_remembered_elf_add_package (RememberedElf *self, int envelope, const struct stat *info);
ElfStatus sysprof_remembered_elf_add_split (RememberedElf *self,
                                            int envelope,
                                            const struct stat *info,
                                            uint32_t i);
/* What is asked by address is not remembered, unless all is. */
ElfStatus sysprof_remembered_elf_resolve (RememberedElf *self,
                                          bool are_addresses,
                                          const uint64_t *offsets,
                                          size_t n,
                                          ElfAnswers *answers);
ElfStatus sysprof_remembered_elf_resolve_lines (RememberedElf *self,
                                                bool are_addresses,
                                                const uint64_t *offsets,
                                                size_t n,
                                                ElfLines *lines);

/* Whether the file is untrusted, and no time is left for such files. */
bool sysprof_remembered_elf_is_over_budget (const RememberedElf *self);
/* Whether there are a debug file or a supplement in use. */
bool sysprof_remembered_elf_has_parts (const RememberedElf *self);
/* Where the child could not answer: has another one what is open, but for the part that came last, or that it could not be handed.
 * Tells which one that was, and the facts without it. FALSE: it cannot be asked without it, either. */
bool
sysprof_remembered_elf_drop_part (RememberedElf *self, struct stat *dropped, ElfFacts *facts);
/* Where the child died of a part that it was to add: has another one what is open. FALSE: it is open no more. */
bool sysprof_remembered_elf_start_again (RememberedElf *self, ElfFacts *facts);

/* Whether what was opened last can still be asked. */
bool sysprof_remembered_elf_is_open (const RememberedElf *self);

/* Stores what is new, frees the cache, and ends the child. */
void sysprof_remembered_elf_clear (RememberedElf *self);
