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
/* Makes the item that of the row at a position. */
void app_row_move (AppRow *self, guint position);

#define APP_TYPE_ROWS_MODEL (app_rows_model_get_type ())
G_DECLARE_FINAL_TYPE (AppRowsModel, app_rows_model, APP, ROWS_MODEL, GObject)

typedef struct
{
  int column; /* by whose values the rows are sorted; -1 = the order of the view */
  bool is_reversed;
  const char
      *text; /* keeps rows that contain it, case ignored, and their ancestors; "" = all */
} RowsOrder;

/* The rows of a model that are expanded, and the selected one. */
typedef struct RowsState RowsState;

RowsState *app_rows_model_save (AppRowsModel *self, guint selected);
void app_rows_state_free (RowsState *self);

/* On any thread, which may be canceled by the current GCancellable. Expands the rows that have
 * the texts of those that were expanded; `state` may be NULL. Children stay below their
 * parents. */
AppRowsModel *
app_rows_model_new (RowResult *result, const RowsOrder *order, const RowsState *state);
/* Takes the rows of another model, which may only be freed then. "items-changed" tells the
 * difference of their number: who has items moves them, which costs less than new widgets. */
void app_rows_model_take (AppRowsModel *self, AppRowsModel *other);
RowResult *app_rows_model_get_result (AppRowsModel *self); /* *(none)* */
/* Number of rows that contain the text of the order. */
uint32_t app_rows_model_get_n_found (AppRowsModel *self);
/* Position of the row that was selected in `state`; GTK_INVALID_LIST_POSITION if there is none,
 * for this and all other positions. */
guint app_rows_model_get_selected (AppRowsModel *self);
guint app_rows_model_find (AppRowsModel *self, uint32_t row);
void app_rows_model_set_expanded (AppRowsModel *self, guint position, bool is_expanded);
/* Expands the heaviest descendants of a row, while one child has most of the weight. */
void app_rows_model_expand_heaviest (AppRowsModel *self, guint position);
/* Position of the parent of a row. */
guint app_rows_model_get_parent_position (AppRowsModel *self, guint position);
