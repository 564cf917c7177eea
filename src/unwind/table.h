// SPDX-License-Identifier: GPL-3.0-or-later

/* Packs rows, in ascending order of their addresses, into pages. */

#pragma once

#include "unwind/unwind.h"

typedef struct TableBuilder TableBuilder;

/* Makes a builder for these segments. There are at most UNWIND_MOST_SEGMENTS; they ascend, do
 * not overlap, and span at most UNWIND_MOST_PAGES pages. NULL: no memory. */
TableBuilder *sysprof_table_builder_new (const ElfCode *code, size_t n_code);
void sysprof_table_builder_free (TableBuilder *self);

/* `rule` applies from `address` up to the next row. Addresses must not descend; of two rules
 * for the same address, the later one applies. Before the first row there is no rule. */
void sysprof_table_builder_add (TableBuilder *self, uint64_t address, uint32_t rule);

/* The rule of the last row. */
uint32_t sysprof_table_builder_rule (const TableBuilder *self);

/* Fills in `header` (pages, start, rows) and returns the bytes, which the caller owns. */
ElfStatus
sysprof_table_builder_finish (TableBuilder *self, UnwindTableHeader header, UnwindTable *table);
