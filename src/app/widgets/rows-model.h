// SPDX-License-Identifier: GPL-3.0-or-later

/* AppRowsModel: the rows of a view as a GListModel. Items are made on demand; sorting and
 * filtering permute numbers of rows. Of a tree, the model has the rows whose ancestors are
 * expanded. */

#pragma once

#include "app/session/row-query.h"

#define APP_TYPE_ROW (app_row_get_type ())
G_DECLARE_FINAL_TYPE (AppRow, app_row, APP, ROW, GObject)

RowResult *app_row_get_result (AppRow *self); /* *(none)* */
uint32_t app_row_get_row (AppRow *self);
uint32_t app_row_get_depth (AppRow *self); /* 0 for roots and in flat tables */
bool app_row_is_expandable (AppRow *self);
bool app_row_is_expanded (AppRow *self);

#define APP_TYPE_ROWS_MODEL (app_rows_model_get_type ())
G_DECLARE_FINAL_TYPE (AppRowsModel, app_rows_model, APP, ROWS_MODEL, GObject)

AppRowsModel *app_rows_model_new (RowResult *result);
RowResult *app_rows_model_get_result (AppRowsModel *self); /* *(none)* */
/* Takes `order`, [rows] numbers of rows as from sysprof_rows_order(); NULL = the order of the
 * view. Children stay below their parents. */
void app_rows_model_set_order (AppRowsModel *self, uint32_t *order, bool is_reversed);
/* Keeps rows with a text that contains `text`, case ignored, and their ancestors; NULL or ""
 * keeps all. Returns the number of rows that contain it. */
uint32_t app_rows_model_filter (AppRowsModel *self, const char *text);
void app_rows_model_set_expanded (AppRowsModel *self, guint position, bool is_expanded);
/* Expands the heaviest descendants of a row, while one child has most of the weight. */
void app_rows_model_expand_heaviest (AppRowsModel *self, guint position);
/* Expands the rows that were expanded in an earlier model with the same columns, and returns
 * the position of the row that has the texts of its row at `position`, or of none. */
guint app_rows_model_restore (AppRowsModel *self, AppRowsModel *earlier, guint position);
/* Position of the parent of a row; GTK_INVALID_LIST_POSITION if there is none. */
guint app_rows_model_get_parent_position (AppRowsModel *self, guint position);
