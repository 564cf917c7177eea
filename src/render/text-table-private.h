// SPDX-License-Identifier: GPL-3.0-or-later

/* The state of a table, shared by text-table.c and text-table-columns.c. */

#pragma once

#include "render/text-table.h"
#include "text/text.h"
#include "views/views.h"

#define SHARE_COLUMNS 8 /* "100.00 %" */

typedef struct
{
  TextWriter *writer;
  const ViewRequest *request;
  const Rows *rows;
  const RowTree *tree;              /* NULL for a flat table */
  uint32_t order[VIEW_MAX_COLUMNS]; /* [n] figures, then texts, then a long text */
  uint32_t n;
  size_t width[VIEW_MAX_COLUMNS]; /* [n] without the share; 0 for a long text */
  size_t long_width;              /* needed by the long text */
  unsigned squeeze;               /* values of a graph per column */
  int kind;                       /* column with the kind of function, or -1 */
  SourceLocations locations;      /* shown after function names where they fit */
  int below;                      /* column shown below its row, or -1 */
  const char *last_below;         /* last text shown there */
  const Cell *last_cells;         /* cells of the row before; NULL = none */
  bool has_headings;
  bool has_heading[MOST_HEADING + 1]; /* by level: whether the rows have a heading */
  bool is_section;
  GString *line; /* the current line */
} TextTable;

static inline const Column *
sysprof_text_table_column (const TextTable *table, uint32_t position)
{
  return &table->rows->columns[table->order[position]];
}

/* Text of a cell. *(full)* */
static inline char *
sysprof_text_table_dup_shown (const TextTable *table, const Column *column, Cell cell)
{
  return column->kind == COLUMN_GRAPH ? sysprof_dup_graph (cell.graph, table->squeeze)
                                      : sysprof_dup_cell (column, cell);
}

/* Selects, orders and measures the columns, and fits them into the terminal, if there is one. */
void sysprof_text_table_fit (TextTable *table);
