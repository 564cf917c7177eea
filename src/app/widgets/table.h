// SPDX-License-Identifier: GPL-3.0-or-later

/* AppTable: the rows of a view as a sortable table or tree that follows the focus of a session.
 * The only maker of column views: columns, alignment, bars and expanders come from the kinds of
 * the view's columns.
 *
 * Signals: "selected" (row) after the user chose a row, "activated" (row) for Enter and double
 * clicks, "loaded" () after new rows. Without a handler of "activated", a row becomes the root
 * or its time is zoomed to. Actions of the widget: view.find, view.copy, view.copy-markdown,
 * view.export. */

#pragma once

#include "app/session/row-query.h"

#define APP_TYPE_TABLE (app_table_get_type ())
G_DECLARE_FINAL_TYPE (AppTable, app_table, APP, TABLE, GtkWidget)

/* `title` is the accessible name. */
GtkWidget *app_table_new (AppSession *session, const RowQuery *query, const char *title);
/* Takes other rows. NULL: shows no rows, but `placeholder`. */
void app_table_set_query (AppTable *self, const RowQuery *query, const char *placeholder);
/* Shows only these columns, in this order; NULL-terminated, static. */
void app_table_set_columns (AppTable *self, const char *const *columns);
/* Titles of these columns instead of those of the view; NULL-terminated, static. */
void app_table_set_titles (AppTable *self, const char *const *titles);
/* Selects the first row of the time of an event, also if the rows are still loaded. */
void app_table_pick (AppTable *self, int64_t time);
/* Shows the search entry always, below the table. */
void app_table_show_filter (AppTable *self, const char *placeholder);
RowResult *app_table_get_result (AppTable *self); /* *(none)*; NULL before rows were loaded */
bool app_table_get_selected (AppTable *self, uint32_t *row);
void app_table_select (AppTable *self, uint32_t row);
