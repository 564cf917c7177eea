// SPDX-License-Identifier: GPL-3.0-or-later

/* AppCell: one cell of a table: an expander, a color, a text with a dim addition, a bar for a
 * share, or a small graph. */

#pragma once

#include "views/views.h"

#include <gtk/gtk.h>

#define APP_TYPE_CELL (app_cell_get_type ())
G_DECLARE_FINAL_TYPE (AppCell, app_cell, APP, CELL, GtkWidget)

AppCell *app_cell_new (bool is_figure);
/* `addition` may be NULL. */
void app_cell_set_text (AppCell *self, const char *text, const char *addition);
/* 0 to 1; negative: no bar. */
void app_cell_set_share (AppCell *self, double share);
void
app_cell_set_graph (AppCell *self,
                    const GraphValues *graph); /* borrowed until it is replaced; may be NULL */
void app_cell_set_color (AppCell *self, const GdkRGBA *color); /* may be NULL */
void app_cell_set_icon (AppCell *self, const char *name);      /* before the text */
/* Kind of a row of a call tree, as a class of style for the text: process, thread, root,
 * marker. */
void app_cell_set_kind (AppCell *self, const char *kind); /* may be NULL */
/* Depth of the row in its tree, and its expander. Signal "toggled". */
void app_cell_set_level (AppCell *self, uint32_t depth, bool is_expandable, bool is_expanded);
