// SPDX-License-Identifier: GPL-3.0-or-later

/* How a column of a view looks in a table. */

#pragma once

#include "app/widgets/cell.h"
#include "app/widgets/rows-model.h"

/* "Pid" → "PID", "CONTROL GROUP" → "Control Group". *(full)* */
char *app_column_dup_title (const Column *column,
                            const char *const *columns, /* that have titles of their own */
                            const char *const *titles); /* translatable; NULL = none */
/* Width in px, for texts that of the longest of the first rows; 0 = the column takes the rest.
 * */
int app_column_get_width (const Rows *rows, uint32_t column);
/* Whether tables show the column: a function has its binary in its own cell. */
bool app_column_is_shown (const Rows *rows, uint32_t column);
void app_cell_bind (AppCell *cell, AppRow *row, uint32_t column, bool is_first);
/* Text of a cell with its share. *(full)* */
char *app_row_dup_text (const RowResult *result, uint32_t row, uint32_t column);
/* All shown cells, for screen readers. *(full)* */
char *app_row_dup_label (const RowResult *result, uint32_t row);
/* Gives the column the width that the user gave it before, else `width` (0 = its own), and
 * remembers changes. */
void app_column_remember_width (GtkColumnViewColumn *column,
                                const RowQuery *query,
                                const char *name,
                                int width);
