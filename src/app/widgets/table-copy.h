// SPDX-License-Identifier: GPL-3.0-or-later

/* Copies and exports rows in the formats of sysprof-report. */

#pragma once

#include "app/session/row-query.h"
#include "render/render.h"

/* Copies one row, or all rows if `row` is NULL, to the clipboard of the widget. */
void app_table_copy_rows (GtkWidget *widget,
                          RowResult *result,
                          const uint32_t *row,
                          RenderFormat format);
/* Lets the user choose a file; its suffix chooses the format. */
void app_table_export_rows (GtkWidget *widget, RowResult *result);
