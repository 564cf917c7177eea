// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "symbolize/symbolize.h"

SymbolTable *sysprof_symbol_table_new (uint32_t n_addresses);

/* The row with these (name, binary, kind), which is added if it is new. */
SymbolId sysprof_symbol_table_add (SymbolTable *self, const Symbol *symbol);

/* Interns a text from an untrusted file: control characters and what is no UTF-8 are replaced. */
StringId sysprof_symbol_table_intern (SymbolTable *self, const char *text);

/* Notes it, unless it is noted for that binary already. */
void sysprof_symbol_table_note_gap (SymbolTable *self, const DebugGap *gap);

/* The lines of the kernel's symbol list that the samples touch, and the line behind each. Taken. */
void sysprof_symbol_table_take_kallsyms (SymbolTable *self, GBytes *lines);

/* [n_addresses] by address; taken. 0 = unknown. */
void sysprof_symbol_table_take_link_addresses (SymbolTable *self, uint64_t *link_address);
/* All columns of addresses get `n_inner[address]` rows behind the `n` that they have, in the order of these, that say the same. */
void sysprof_symbol_table_extend (SymbolTable *self, uint32_t n, const uint16_t *n_inner);
uint64_t sysprof_symbol_table_get_link_address (const SymbolTable *self, AddressId address);

/* Who looks for lines meanwhile; taken, and NULL where nobody does. */
typedef struct LinesAhead LinesAhead;
void sysprof_symbol_table_take_ahead (SymbolTable *self, LinesAhead *ahead);
LinesAhead *sysprof_symbol_table_steal_ahead (SymbolTable *self);

/* A short word for a reason, as stored in captures, and back; N_UNNAMED where it is none. */
const char *sysprof_unnamed_reason_word (UnnamedReason reason);
UnnamedReason sysprof_unnamed_reason_from_word (Text word);
