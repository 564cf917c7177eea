// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions that build a SymbolTable. Only symbolizers call them, before the table is
 * frozen. */

#pragma once

#include "symbolize/symbolize.h"

SymbolTable *sysprof_symbol_table_new (uint32_t n_addresses);

/* Returns the row with these (name, binary, kind), which is added if it is new. */
SymbolId sysprof_symbol_table_add (SymbolTable *self, const Symbol *symbol);

/* Interns a text from an untrusted file; replaces control characters and invalid UTF-8. */
StringId sysprof_symbol_table_intern (SymbolTable *self, const char *text);

/* Notes the gap, unless one of its kind is noted for that binary already. */
void sysprof_symbol_table_note_gap (SymbolTable *self, const DebugGap *gap);

/* The lines of the kernel's symbol list that the samples need, and the line after each of them.
 * Takes ownership. */
void sysprof_symbol_table_take_kallsyms (SymbolTable *self, GBytes *lines);

/* [n_addresses] by address, 0 = unknown. Takes ownership. */
void sysprof_symbol_table_take_link_addresses (SymbolTable *self, uint64_t *link_address);
/* Appends rows to all address columns: for each address, in order, `n_inner[address]` copies of
 * its row. `n` is the previous number of rows. */
void sysprof_symbol_table_extend (SymbolTable *self, uint32_t n, const uint16_t *n_inner);
uint64_t sysprof_symbol_table_get_link_address (const SymbolTable *self, AddressId address);

/* The thread that looks up lines in the meantime. The setter takes ownership; the getter
 * returns NULL if there is none. */
typedef struct LinesAhead LinesAhead;
void sysprof_symbol_table_take_ahead (SymbolTable *self,
                                      LinesAhead *ahead,
                                      void (*free_ahead) (LinesAhead *));
LinesAhead *sysprof_symbol_table_steal_ahead (SymbolTable *self);

/* Converts a reason to the short word that captures store, and back; N_UNNAMED if the word is
 * unknown. */
const char *sysprof_unnamed_reason_word (UnnamedReason reason);
UnnamedReason sysprof_unnamed_reason_from_word (Text word);
