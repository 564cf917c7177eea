// SPDX-License-Identifier: GPL-3.0-or-later

/* One ELF file with its debug files, with the same calls as the child that parses it
 * (elf-sandbox.h). In addition, answers are cached, also across processes (symbol-cache.h). The
 * file is only passed to the child for requests that are not in the cache.
 *
 * The caller always opens the files, so whether they exist and are unchanged is never taken
 * from the cache. *Owned* by one thread. */

#pragma once

#include "inspect/elf-sandbox.h"
#include "inspect/symbol-cache.h"

typedef struct
{
  ElfSandbox sandbox;
  FileBudget *budget; /* borrowed: for files of untrusted owners; NULL = unlimited */
  SymbolCache *cache; /* NULL: answers are not cached */
  bool is_by_address; /* all requests are by address; only then are answers by address cached */
  /* The open file. */
  bool is_open;
  bool is_in_child;  /* the child has read it with all its parts */
  bool has_changed;  /* the entry must be stored */
  CacheEntry *entry; /* NULL: answers for this file are not cached */
  bool is_for_lines;
  int envelope; /* owned; -1: no descriptor was available for it */
  struct stat info;
  GArray *parts; /* of Part: those in use */
  guint failed;  /* index of the part that could not be passed to the child; G_MAXUINT = none */
  /* Owner and device of the file that the child has read, and whether it has read files of
   * other owners or devices. */
  uid_t child_owner;
  dev_t child_device;
  bool is_child_mixed;
} ElfCache;

#define REMEMBERED_ELF_INIT                     \
  {                                             \
    .sandbox = ELF_SANDBOX_INIT, .envelope = -1 \
  }

/* Like the functions of the sandbox. ELF_SKIPPED: the file's owner is not trusted, and the
 * budget for such files is used up. */
ElfStatus sysprof_elf_cache_open (ElfCache *self,
                                  int envelope,
                                  const struct stat *info,
                                  bool is_for_lines,
                                  ElfFacts *facts);
/* Split units are not cached: once an answer is missing some, caching ends for this file. */
ElfStatus sysprof_elf_cache_add_part (ElfCache *self,
                                      const ElfPart *part,
                                      int envelope,
                                      const struct stat *info,
                                      ElfFacts *facts);
/* Answers by address are only cached if `is_by_address` is set. */
ElfStatus
sysprof_elf_cache_resolve (ElfCache *self, const ElfQuery *query, ElfAnswers *answers);

/* Whether the file is untrusted, and the budget for such files is used up. */
bool sysprof_elf_cache_is_over_budget (const ElfCache *self);
/* Whether a debug file or a supplement is in use. */
bool sysprof_elf_cache_has_parts (const ElfCache *self);
/* Call this after the child failed to answer. Starts another child with the same files, except
 * for the last part, or the part that could not be passed. Sets `dropped` to that part and
 * `facts` to those of the rest. Returns FALSE if the file cannot be used without it, either. */
bool sysprof_elf_cache_drop_part (ElfCache *self, struct stat *dropped, ElfFacts *facts);
/* Call this after the child died while it added a part. Starts another child with the same
 * files. Returns FALSE if the file could not be opened again. */
bool sysprof_elf_cache_start_again (ElfCache *self, ElfFacts *facts);

/* Whether the last opened file can still be queried. */
bool sysprof_elf_cache_is_open (const ElfCache *self);

/* Stores new answers, frees the cache, and ends the child. */
void sysprof_elf_cache_clear (ElfCache *self);
