// SPDX-License-Identifier: GPL-3.0-or-later

/* Cells of rows as text. */

#pragma once

#include "text/text.h"
#include "views/views.h"

/* The cell as people read it, without its share: one line of valid UTF-8. *(full)* */
char *sysprof_dup_cell (const Column *column, Cell cell);
/* Same, but copies only if necessary, because a tree may have millions of cells. Valid until
 * `room` is cleared. */
typedef struct
{
  char number[SYSPROF_GROUPED_SIZE];
  char *owned; /* or NULL */
} CellText;

const char *sysprof_cell_text (const Column *column, Cell cell, CellText *room);
void sysprof_cell_text_clear (CellText *room);
/* The functions of a stack without source locations, with short or whole names. *(full)* */
char *sysprof_dup_bare_stack (const StackText *stack, bool is_short);
bool sysprof_column_is_figure (const Column *column);
/* Whether the cell has no value: "-" for people, null in JSON, empty in CSV. */
bool sysprof_cell_is_none (const Column *column, Cell cell);
/* For programs: exact, without a decimal point if whole. */
const char *sysprof_format_real (double value, char buffer[G_ASCII_DTOSTR_BUF_SIZE]);
/* The graph as block characters of eight heights, each the mean of `squeeze` values.
 * *(full)* */
char *sysprof_dup_graph (const GraphValues *graph, unsigned squeeze);
/* Position of a value between `least` and `most`, from 0 to 1; 0 if they are equal. */
double sysprof_graph_share (double value, double least, double most);
/* Index of a graph column that people see; -1 if there is none. */
int sysprof_rows_graph_column (const Rows *rows);
/* Values at the bottom and top of the drawing; `least` > `most` if the graph has no values. */
void sysprof_graph_limits (const GraphValues *graph, double *least, double *most);

/* Writes one row; `depth` is 0 for roots and for rows without a tree. */
typedef void RowWriter (TextWriter *writer,
                        const Rows *rows,
                        uint32_t row,
                        uint32_t depth,
                        const void *data);
/* Writes all rows, those of a tree with each parent before its children, until the writer is
 * closed. */
void sysprof_write_each_row (TextWriter *writer,
                             const Rows *rows,
                             RowWriter *write_row,
                             const void *data);
