// SPDX-License-Identifier: GPL-3.0-or-later

/* The directory of a user in which entries (cache-entry.h) are kept: one file for each ELF file's names, and one for its lines.
 *
 * Others' files are not believed, nor is a directory into which others write. Files come into it whole, by renaming, so that
 * any number of programs may read and write at once. What cannot be written is not kept, and that is no failure. *Owned* by one
 * thread. */

#pragma once

#include "symbolize/cache-entry.h"

#define SYMBOL_CACHE_VARIABLE   "SYSPROF_SYMBOL_CACHE" /* another directory; empty = none */
#define SYMBOL_CACHE_MOST_BYTES (UINT64_C (1) << 30)

typedef struct SymbolCache SymbolCache;

/* The user's; NULL = none is to be used. */
SymbolCache *sysprof_symbol_cache_new (void);
/* What has come too much is removed. */
void sysprof_symbol_cache_free (SymbolCache *self);

/* The entry of that very file, or NULL. */
CacheEntry *sysprof_symbol_cache_load (SymbolCache *self,
                                       const FileIdentity *file,
                                       bool is_for_lines,
                                       bool is_by_address);
void sysprof_symbol_cache_store (SymbolCache *self, const CacheEntry *entry);

/* Removes what was not used for longest until the rest has `most_bytes`, and what writers have left behind. */
void sysprof_symbol_cache_trim (SymbolCache *self, uint64_t most_bytes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SymbolCache, sysprof_symbol_cache_free)
