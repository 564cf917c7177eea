// SPDX-License-Identifier: GPL-3.0-or-later

/* What files say of lines and inlined functions, as it comes in. *Owned* by the thread that loads them. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/elf-worker.h"

/* A function that was inlined where an address is. */
typedef struct
{
  SymbolId symbol;
  StringId file; /* where it was, or called what is inside of it; 0 = unknown */
  uint32_t line;
} InlinedCall;

typedef struct LineCollection
{
  uint8_t *is_known;       /* [addresses.n] a file with debug information was asked for it */
  uint32_t *first_inlined; /* [addresses.n] index into `inlined`, of the outermost one */
  uint16_t *n_inlined;     /* [addresses.n] */
  GArray *inlined;         /* of InlinedCall */
  GString *packed; /* NULL; else what is found is written there alone (packed-lines.h) */
} LineCollection;

/* Whether lines are still to be found for an address. */
static inline bool
sysprof_line_collection_wants (const Symbolization *self, AddressId address)
{
  const SymbolTable *table = self->table;
  uint8_t kind = table->row[table->of_address[address]].kind;

  return !self->lines->is_known[address] && (kind == SYMBOL_USER || kind == SYMBOL_KERNEL);
}

/* Takes what was found for the offsets of a batch. */
void sysprof_line_collection_add (Symbolization *self,
                                  const FileBatch *batch,
                                  const ElfLines *lines);

/* Notes why what files say of a batch is not all; `what` is untrusted, or NULL. */
void sysprof_line_collection_note_gap (const Symbolization *self,
                                       const FileBatch *batch,
                                       DebugGapKind kind,
                                       uint32_t n,
                                       const char *what);
