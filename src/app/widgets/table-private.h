// SPDX-License-Identifier: GPL-3.0-or-later

/* The parts of tables: table.c has columns and rows, table-actions.c has keys, menu and
 * actions. */

#pragma once

#include "app/widgets/rows-model.h"
#include "app/widgets/search.h"
#include "app/widgets/table.h"

struct _AppTable
{
  GtkWidget parent_instance;
  AppSession *session;
  AppQuery *query;
  AppQuery *sort_query;
  RowQuery *rows_query; /* NULL = no rows */
  char *title;
  const char *const *columns;
  const char *const *titles; /* of `columns`, translatable; NULL = those of the view */
  int64_t picked;            /* time of the row to select once it is there; -1 = none */
  AppRowsModel *model;       /* NULL before the first rows */
  GtkSingleSelection *selection;
  GtkWidget *view; /* GtkColumnView */
  GtkWidget *stack;
  GtkWidget *status;
  GtkWidget *note;
  AppSearch search;
  int sort_column; /* found by compare_nothing() */
};

/* Selects the row that was picked, once. */
void app_table_select_picked (AppTable *self);
void app_table_class_add_actions (GtkWidgetClass *class);
void app_table_add_controllers (AppTable *self);
