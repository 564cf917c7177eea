// SPDX-License-Identifier: GPL-3.0-or-later

/* The user's directory of cache entries (cache-entry.h): for each ELF file, one entry with
 * symbols and one with lines.
 *
 * Files of other users are not trusted, and a directory that others can write to is not used.
 * Entries are renamed into place when they are complete, so that several programs can read and
 * write at the same time. If an entry cannot be written it is dropped, which is not an error.
 * *Owned* by one thread. */

#pragma once

#include "inspect/cache-entry.h"

#define SYMBOL_CACHE_VARIABLE   "SYSPROF_SYMBOL_CACHE" /* another directory; empty = no cache */
#define SYMBOL_CACHE_MOST_BYTES (UINT64_C (1) << 30)

typedef struct SymbolCache SymbolCache;

/* Opens the user's cache; NULL = no cache is to be used. */
SymbolCache *sysprof_symbol_cache_new (void);
/* Trims the directory if it has grown too large. */
void sysprof_symbol_cache_free (SymbolCache *self);

/* Returns the entry of exactly this file, or NULL. */
CacheEntry *sysprof_symbol_cache_load (SymbolCache *self,
                                       const FileIdentity *file,
                                       bool is_for_lines,
                                       bool is_by_address);
void sysprof_symbol_cache_store (SymbolCache *self, const CacheEntry *entry);

/* Removes the least recently used entries until the rest has at most `most_bytes`, and all
 * temporary files that writers left behind. */
void sysprof_symbol_cache_trim (SymbolCache *self, uint64_t most_bytes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SymbolCache, sysprof_symbol_cache_free)
