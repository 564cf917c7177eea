// SPDX-License-Identifier: GPL-3.0-or-later

/* AppFlame: the flame graph of the view "flame" for the focus of a session: root at the bottom,
 * or at the top as an icicle graph. A click makes a frame full width, its ancestors stay as
 * bread crumbs; arrow keys move a cursor; a search fades the rest and shows the share of what
 * matches. Action of the widget: view.find. */

#pragma once

#include "app/session/row-query.h"

#define APP_TYPE_FLAME (app_flame_get_type ())
G_DECLARE_FINAL_TYPE (AppFlame, app_flame, APP, FLAME, GtkWidget)

GtkWidget *app_flame_new (AppSession *session, const RowQuery *query);
