// SPDX-License-Identifier: GPL-3.0-or-later

/* What files say of lines and inlined functions, as it comes in. *Owned* by the thread that loads them. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/elf-worker.h"
#include "symbolize/lines-ahead.h"

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
  LinesAhead *
      ahead; /* NULL; else what is found is kept there alone, and the other fields are not used (lines-ahead.c) */
} LineCollection;

/* Whether lines are still to be found for an address. */
static inline bool
sysprof_line_collection_wants (const Symbolization *self, AddressId address)
{
  const SymbolTable *table = self->table;
  uint8_t kind;

  if (self->lines->ahead != NULL)
    return true; /* names are not known yet */
  kind = table->row[table->of_address[address]].kind;
  return !self->lines->is_known[address] && (kind == SYMBOL_USER || kind == SYMBOL_KERNEL);
}

/* Takes what was found for the offsets of a batch, for those of its addresses whose lines are still to be found. May take
 * over what is in `lines`, which is then empty. */
void sysprof_line_collection_add (Symbolization *self, const FileBatch *batch, ElfLines *lines);

/* For LineCollection.ahead: takes over what is answered for a batch. Called by its thread. */
void sysprof_lines_ahead_keep (LinesAhead *self, const FileBatch *batch, ElfLines *lines);
/* Waits until all files are asked, and adds what they say. */
void sysprof_lines_ahead_take (LinesAhead *self, Symbolization *symbolization);

/* Asks all files of this machine. The batches are those in terms of which answers were taken. */
FileBatches *sysprof_elf_find_lines (Symbolization *self);

/* Whether one of the chain is asked. */
bool sysprof_symbolize_asks (const SymbolizeOptions *options, SymbolizerKind kind);

/* Notes why what files say of a batch is not all; `what` is untrusted, or NULL. */
void sysprof_line_collection_note_gap (const Symbolization *self,
                                       const FileBatch *batch,
                                       DebugGapKind kind,
                                       uint32_t n,
                                       const char *what);
