// SPDX-License-Identifier: GPL-3.0-or-later

/* Packs rows, given in the order of their addresses, into pages. */

#pragma once

#include "unwind/unwind.h"

typedef struct TableBuilder TableBuilder;

/* For these segments, at most UNWIND_MOST_SEGMENTS, which ascend, do not overlap, and lie at most UNWIND_MOST_PAGES pages apart.
 * NULL: no memory. */
TableBuilder *sysprof_table_builder_new (const ElfCode *code, size_t n_code);
void sysprof_table_builder_free (TableBuilder *self);

/* `rule` is in force from `address` to the next one's. Addresses do not descend; of two rules for the same address the
 * later holds. Before the first one nothing is known. */
void sysprof_table_builder_add (TableBuilder *self, uint64_t address, uint32_t rule);

/* The rule that the last add() put in force. */
uint32_t sysprof_table_builder_rule (const TableBuilder *self);

/* Fills in what it knows of `header` (pages, start, rows) and gives the bytes away. */
ElfStatus
sysprof_table_builder_finish (TableBuilder *self, UnwindTableHeader header, UnwindTable *table);
