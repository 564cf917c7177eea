// SPDX-License-Identifier: GPL-3.0-or-later

/* What one ELF file has answered, with its debug file: what an entry of the cache on disk (symbol-cache.h) holds, and its bytes. Names
 * and lines have entries of their own.
 *
 * An answer holds for the files alone that gave it, as they were then. A build ID does not tell that: any file may claim that of
 * another one. So entries say of each file what fstat() says of it. *Owned* by one thread. */

#pragma once

#include "symbolize/elf-worker.h"

#include <glib.h>
#include <sys/stat.h>

/* A file as it was. All zero: none. */
typedef struct
{
  uint64_t device;
  uint64_t inode;
  uint64_t size;
  int64_t modified_nsec; /* since 1970 */
  int64_t changed_nsec;  /* likewise, of the inode: nobody can set it */
  uint64_t
      boot; /* which start of this machine, where device numbers are given anew with each mount; else 0 */
} FileIdentity;

/* FALSE: the file cannot be told from others, or may be changed without a trace. */
bool sysprof_file_identity_init (FileIdentity *self, const struct stat *info);

/* Another file that was handed to the worker. */
typedef struct
{
  FileIdentity file;
  uint32_t call;    /* as what; the caller numbers them */
  uint32_t status;  /* ElfStatus: what came of it */
  uint32_t is_used; /* for the answers */
  uint32_t beside;  /* 1 + number of the debug file that was in use; 0 = none */
  ElfFacts facts;   /* afterwards */
} CachedPart;

#define CACHE_ENTRY_MOST_PARTS 256
#define CACHE_ENTRY_MOST_BYTES (UINT32_C (64) << 20) /* larger ones are not kept */

typedef struct
{
  bool is_for_lines;
  bool is_by_address; /* what it was asked for are link-time addresses, not offsets */
  FileIdentity file;
  ElfFacts facts;
  GArray *parts; /* of CachedPart */
  /* Answers to `offset` [n], ascending and distinct; of one kind. */
  uint64_t *offset;
  size_t n;
  ElfAnswers names;
  ElfLines lines;
} CacheEntry;

CacheEntry *
sysprof_cache_entry_new (bool is_for_lines, const FileIdentity *file, const ElfFacts *facts);
void sysprof_cache_entry_free (CacheEntry *self);

/* Forgets the answers, and which parts they came from. */
void sysprof_cache_entry_clear_answers (CacheEntry *self);

/* Those of `offsets` [n], which ascend, that are not answered yet. Returns how many it has put into `missing` [n]. */
size_t sysprof_cache_entry_find_missing (const CacheEntry *self,
                                         const uint64_t *offsets,
                                         size_t n,
                                         uint64_t *missing);

/* Adds answers to `offsets`, which ascend and were all missing. FALSE, without answers then, where they are too many. */
bool sysprof_cache_entry_add_names (CacheEntry *self,
                                    const uint64_t *offsets,
                                    const ElfAnswers *names);
bool sysprof_cache_entry_add_lines (CacheEntry *self,
                                    const uint64_t *offsets,
                                    const ElfLines *lines);

/* Copies of the answers to `offsets` [n], which ascend; none is missing. */
void sysprof_cache_entry_get_names (const CacheEntry *self,
                                    const uint64_t *offsets,
                                    size_t n,
                                    ElfAnswers *names);
void sysprof_cache_entry_get_lines (const CacheEntry *self,
                                    const uint64_t *offsets,
                                    size_t n,
                                    ElfLines *lines);

/* As it is written to a file; of this machine's byte order. */
GByteArray *sysprof_cache_entry_pack (const CacheEntry *self);

/* Writes down in them their size, and their checksum: who changes bytes as a disk does not. */
void sysprof_cache_entry_seal (uint8_t *bytes, size_t size);

/* NULL: that is no entry of that kind, was written by another version, or is damaged. What it holds keeps to the rules of what the
 * worker answers; whether it is true nobody can tell from the bytes. */
CacheEntry *sysprof_cache_entry_parse (const uint8_t *bytes, size_t size, bool is_for_lines);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CacheEntry, sysprof_cache_entry_free)
