// SPDX-License-Identifier: GPL-3.0-or-later

/* How a column of a view looks in a table. */

#pragma once

#include "app/widgets/cell.h"
#include "app/widgets/rows-model.h"

/* Contents of cells of a column with shares. */
typedef enum
{
  COLUMN_SHOWS_ALL,
  COLUMN_SHOWS_SHARE,
  COLUMN_SHOWS_AMOUNT,
} ColumnPart;

typedef struct
{
  uint32_t column; /* of the rows */
  ColumnPart part;
  char *title;
} ShownColumn;

/* The columns that a table shows, in their order; an array of ShownColumn. `columns`: names,
 * NULL = all that text has. A name that is there twice means its share, then its amount.
 * `titles`: of `columns`, translatable, NULL = those of the view. *(full)* */
GArray *
app_columns_choose (const Rows *rows, const char *const *columns, const char *const *titles);
/* The title of the view, translated. */
const char *app_column_get_title (const Column *column);
/* Width in px of the longest text and the title in the font of the widget. */
int
app_column_get_width (GtkWidget *widget, const RowResult *result, const ShownColumn *column);
void app_cell_bind (AppCell *cell, AppRow *row, const ShownColumn *column, bool is_first);
/* Text of a cell with its share. *(full)* */
char *app_row_dup_text (const RowResult *result, uint32_t row, uint32_t column);
/* Symbol, binary and source of a function; other texts if they are long; NULL = none.
 * *(full)* */
char *app_row_dup_tooltip (const RowResult *result, uint32_t row, uint32_t column);
/* All shown cells, for screen readers. *(full)* */
char *app_row_dup_label (const RowResult *result, uint32_t row);
/* Gives the column the width that the user gave it before, else `width` (0 = its own), and
 * remembers changes. */
void app_column_remember_width (GtkColumnViewColumn *column,
                                const RowQuery *query,
                                const char *name, /* static */
                                int width);
