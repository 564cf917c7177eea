// SPDX-License-Identifier: GPL-3.0-or-later

/* Cells of rows as text. */

#pragma once

#include "text/text.h"
#include "views/views.h"

/* The cell as people read it, without its share; one line of valid UTF-8. *(full)* */
char *sysprof_dup_cell (const Column *column, Cell cell);
/* The same without a copy where none is needed, as for numbers and plain names, of which a tree may have millions: valid
 * until `room` is cleared. */
typedef struct
{
  char number[SYSPROF_GROUPED_SIZE];
  char *owned; /* or NULL */
} CellText;

const char *sysprof_cell_text (const Column *column, Cell cell, CellText *room);
void sysprof_cell_text_clear (CellText *room);
/* The functions of a stack without their places, with names as short as they can be or whole. *(full)* */
char *sysprof_dup_bare_stack (const StackText *stack, bool is_short);
bool sysprof_column_is_figure (const Column *column);
/* Whether there is no number: "-" for people, null in JSON, empty in CSV. */
bool sysprof_cell_is_none (const Column *column, Cell cell);
/* For programs: whole numbers without a point, others with all their figures. */
const char *sysprof_format_real (double value, char buffer[G_ASCII_DTOSTR_BUF_SIZE]);
/* As blocks of eight heights, a column for so many values each: their mean. *(full)* */
char *sysprof_dup_graph (const GraphValues *graph, unsigned squeeze);
/* 0 … 1: how high a value stands between these; 0 where nothing lies between them. */
double sysprof_graph_share (double value, double least, double most);
/* Index of a column of graphs that people see, -1 without one. */
int sysprof_rows_graph_column (const Rows *rows);
/* What the lowest and the highest value are drawn as: `least` > `most` if there is none. */
void sysprof_graph_limits (const GraphValues *graph, double *least, double *most);
