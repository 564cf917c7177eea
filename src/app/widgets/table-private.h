// SPDX-License-Identifier: GPL-3.0-or-later

/* The parts of tables: table.c has columns, table-rows.c fills, sorts and filters rows,
 * table-actions.c has keys, menu and actions. */

#pragma once

#include "app/widgets/rows-model.h"
#include "app/widgets/search.h"
#include "app/widgets/table.h"

struct _AppTable
{
  GtkWidget parent_instance;
  AppSession *session;
  AppQuery *query;
  RowQuery *rows_query; /* NULL = no rows */
  char *title;
  const char *const *columns;
  const char *const *titles; /* of `columns`, translatable; NULL = those of the view */
  bool is_loading;           /* the rows that are shown are not those of the query yet */
  guint n_changes;           /* of the expanded and selected rows since the query began */
  int64_t picked;            /* time of the row to select once it is there; -1 = none */
  AppRowsModel *model;       /* NULL before the first rows */
  GtkSingleSelection *selection;
  GtkWidget *view; /* GtkColumnView */
  guint fill_idle;
  GtkWidget *stack;
  GtkWidget *status;
  GtkWidget *note;
  AppSearch search;
  int sort_column; /* found by compare_nothing() */
};

/* table.c */

/* The column of the rows by which the header sorts, its name and direction; -1 = none. */
int app_table_find_sorted (AppTable *self, const char **name, bool *is_descending);
/* Shows the columns of a model. If they are others, the table takes it and shows no rows. */
void app_table_update_columns (AppTable *self, AppRowsModel *model);
/* The widget of a row; the others are its siblings. NULL = no row. */
GtkWidget *app_table_get_first_line (AppTable *self);
/* Moves the widgets of rows to those that are at their positions now. */
void app_table_move_rows (AppTable *self);

/* table-rows.c */

void app_table_init_rows (AppTable *self);
void app_table_refresh (AppTable *self);
/* Sorts and filters the rows as the header and the search entry say. */
void app_table_arrange (gpointer table);
void app_table_set_expanded (AppTable *self, guint position, bool is_expanded);

/* table-actions.c */

/* Selects the row that was picked, once. */
void app_table_select_picked (AppTable *self);
void app_table_class_add_actions (GtkWidgetClass *class);
void app_table_add_controllers (AppTable *self);
