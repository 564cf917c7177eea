// SPDX-License-Identifier: GPL-3.0-or-later

/* The answers of one ELF file and its debug file: the content of an entry of the cache on disk
 * (symbol-cache.h), and its serialization. Symbols and lines have separate entries.
 *
 * An answer is valid only for exactly the files that gave it. A build ID does not prove this,
 * because any file can claim the build ID of another one. So an entry stores for each file what
 * fstat() returns. *Owned* by one thread. */

#pragma once

#include "inspect/elf-worker.h"

#include <glib.h>
#include <sys/stat.h>

/* Identifies one state of a file. All zero: no file. */
typedef struct
{
  uint64_t device;
  uint64_t inode;
  uint64_t size;
  int64_t modified_nsec; /* since 1970 */
  int64_t changed_nsec;  /* likewise, of the inode: it cannot be set by users */
  uint64_t boot;         /* the boot, if the device number is assigned at mount time; else 0 */
} FileIdentity;

/* Returns FALSE if the file cannot be distinguished from others, or may change without a
 * visible difference. */
bool sysprof_file_identity_init (FileIdentity *self, const struct stat *info);

/* Another file that was passed to the worker. */
typedef struct
{
  FileIdentity file;
  uint32_t kind;    /* ElfPartKind */
  uint32_t status;  /* ElfStatus: the result of adding it */
  uint32_t is_used; /* whether the answers used it */
  uint32_t beside;  /* 1 + index of the debug file that was in use; 0 = none */
  ElfFacts facts;   /* of the worker after the call */
} CachedPart;

#define CACHE_ENTRY_MOST_PARTS 256
#define CACHE_ENTRY_MOST_BYTES (UINT32_C (64) << 20) /* larger entries are not cached */

typedef struct
{
  bool is_for_lines;
  bool is_by_address; /* keys are link-time addresses instead of offsets */
  FileIdentity file;
  ElfFacts facts;
  GArray *parts;    /* of CachedPart */
  uint64_t *offset; /* [answers.n] ascending and distinct */
  ElfAnswers answers;
} CacheEntry;

CacheEntry *
sysprof_cache_entry_new (bool is_for_lines, const FileIdentity *file, const ElfFacts *facts);
void sysprof_cache_entry_free (CacheEntry *self);

/* Removes the answers and the parts that gave them. */
void sysprof_cache_entry_clear_answers (CacheEntry *self);

/* Stores those of the ascending `offsets` [n] without an answer in `missing` [n]. Returns their
 * number. */
size_t sysprof_cache_entry_find_missing (const CacheEntry *self,
                                         const uint64_t *offsets,
                                         size_t n,
                                         uint64_t *missing);

/* Adds answers to the ascending `offsets`, which were all missing. If there are too many,
 * returns FALSE and removes all answers. */
bool
sysprof_cache_entry_add (CacheEntry *self, const uint64_t *offsets, const ElfAnswers *answers);

/* Copies the answers to the ascending `offsets` [n]; none may be missing. */
void sysprof_cache_entry_get (const CacheEntry *self,
                              const uint64_t *offsets,
                              size_t n,
                              ElfAnswers *answers);

/* Serializes the entry for a file, in the byte order of this machine. */
GByteArray *sysprof_cache_entry_pack (const CacheEntry *self);

/* Writes the size and the checksum into the bytes. Fuzzers and tests that modify bytes call it,
 * too. */
void sysprof_cache_entry_seal (uint8_t *bytes, size_t size);

/* Returns NULL if the bytes are not an entry of that kind, were written by another version, or
 * are damaged. The result satisfies the same constraints as answers of the worker. Whether the
 * answers are true cannot be checked. */
CacheEntry *sysprof_cache_entry_parse (const uint8_t *bytes, size_t size, bool is_for_lines);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CacheEntry, sysprof_cache_entry_free)
