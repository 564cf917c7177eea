// SPDX-License-Identifier: GPL-3.0-or-later

/* The parts of the flame graph widget: flame.c has the drawing and the rows, flame-actions.c
 * the menu and the search. */

#pragma once

#include "app/charts/cursor.h"
#include "app/charts/flame-picture.h"
#include "app/charts/flame.h"
#include "app/widgets/search.h"

/* The area inside of the scrolled window. */
#define APP_TYPE_FLAME_AREA (app_flame_area_get_type ())
G_DECLARE_FINAL_TYPE (AppFlameArea, app_flame_area, APP, FLAME_AREA, GtkWidget)

struct _AppFlameArea
{
  GtkWidget parent_instance;
  AppFlame *flame; /* borrowed: its ancestor */
  AppCursor *cursor;
};

struct _AppFlame
{
  GtkWidget parent_instance;
  AppSession *session;
  AppQuery *query;
  RowQuery *rows_query;
  FlamePicture picture;
  uint32_t hovered, cursor_at, menu_at; /* nodes; 0 = none */
  bool is_at_root;                      /* scrolled to the root */
  guint scroll_idle;
  char *zoomed_name; /* function that stays zoomed when rows change */
  GtkWidget *area;
  GtkWidget *hover; /* layer */
  GtkWidget *scroller;
  GtkWidget *stack;
  GtkWidget *status;
  GtkWidget *line;
  AppSearch search;
};

int app_flame_get_height (AppFlame *self);
void app_flame_apply_search (gpointer flame);
void app_flame_add_menu (AppFlame *self);
void app_flame_class_add_actions (GtkWidgetClass *class);
