// SPDX-License-Identifier: GPL-3.0-or-later

/* AppCursor: the keyboard cursor of a chart, for screen readers as well. GTK 4.8 announces
 * widgets only, so that two invisible children of the chart take turns: the cursor moves by
 * labeling the other one and giving it the focus. */

#pragma once

#include <gtk/gtk.h>

typedef struct AppCursor AppCursor;

AppCursor *app_cursor_new (GtkWidget *chart);
void app_cursor_free (AppCursor *self); /* in the chart's dispose */
/* Moves to an item of the chart, whose name is `text`. */
void app_cursor_move (AppCursor *self, const GdkRectangle *area, const char *text);
/* The item lies elsewhere now; in the chart's size_allocate. */
void app_cursor_place (AppCursor *self, const GdkRectangle *area);
/* To be called in the chart's size_allocate. */
void app_cursor_allocate (AppCursor *self);
/* Whether the chart or its cursor has the focus. */
bool app_cursor_is_active (const AppCursor *self);
