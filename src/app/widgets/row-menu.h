// SPDX-License-Identifier: GPL-3.0-or-later

/* The context menu of a row of a table or of a frame of a flame graph, and its keys. The widget
 * has the action view.row, whose parameter is the name of an action of row-actions.h. */

#pragma once

#include "app/widgets/row-actions.h"

/* `result` NULL: there is no row. `more` has the items of the widget. */
void app_row_menu_popup (GtkWidget *widget,
                         const RowResult *result,
                         uint32_t row,
                         GMenuModel *more,
                         double x,
                         double y);
void
app_row_menu_run (AppSession *session, const RowResult *result, uint32_t row, const char *name);
/* Whether an action has the key and applies to the row. */
bool app_row_menu_press (AppSession *session, const RowResult *result, uint32_t row, guint key);
