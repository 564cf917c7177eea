// SPDX-License-Identifier: GPL-3.0-or-later

/* Menu, export and search of the flame graph. */

#include "app/charts/flame-private.h"

#include "app/widgets/row-menu.h"
#include "app/widgets/table-copy.h"

#include <glib/gi18n.h>

static void
show_menu (AppFlame *self, uint32_t node, double x, double y)
{
  g_autoptr (GMenu) more = g_menu_new ();

  self->menu_at = node;
  g_menu_append (more, _ ("_Export Flame Graph…"), "view.export");
  app_row_menu_popup (self->area, node != 0 ? self->picture.result : NULL,
                      node != 0 ? node - 1 : 0, G_MENU_MODEL (more), x, y);
}

static void
on_secondary_click (GtkGestureClick *gesture, int n, double x, double y, AppFlame *self)
{
  if (self->picture.result != NULL)
    show_menu (self, app_flame_picture_find (&self->picture, x, y, app_flame_get_height (self)),
               x, y);
}

static void
on_menu_key (GtkWidget *widget, const char *name, GVariant *parameter)
{
  AppFlame *self = APP_FLAME (widget);

  if (self->picture.result != NULL)
    show_menu (self, self->cursor_at, 40, app_flame_get_height (self) - 40);
}

static void
on_row_action (GtkWidget *widget, const char *name, GVariant *parameter)
{
  AppFlame *self = APP_FLAME (widget);

  if (self->picture.result != NULL && self->menu_at != 0)
    app_row_menu_run (self->session, self->picture.result, self->menu_at - 1,
                      g_variant_get_string (parameter, NULL));
}

/* As a page, a picture or folded stacks: the suffix of the file decides. */
static void
on_export (GtkWidget *widget, const char *name, GVariant *parameter)
{
  AppFlame *self = APP_FLAME (widget);

  if (self->picture.result != NULL)
    app_table_export_rows (widget, self->picture.result);
}

void
app_flame_apply_search (gpointer flame)
{
  AppFlame *self = flame;
  g_autofree char *share = NULL;

  if (self->picture.result == NULL)
    return;
  share = g_strdup_printf (
      _ ("matches %.1f %%"),
      app_flame_picture_search (&self->picture, app_search_get_text (&self->search)));
  app_search_show_count (&self->search, share);
  gtk_widget_queue_draw (self->area);
}

/* Keeps the stacks with a matching function, as a filter that can be removed. */
static void
on_only_matching (GtkWidget *widget, const char *name, GVariant *parameter)
{
  AppFlame *self = APP_FLAME (widget);
  g_autofree char *text = g_strdup (app_search_get_text (&self->search));

  if (text[0] == '\0')
    return;
  gtk_search_bar_set_search_mode (GTK_SEARCH_BAR (self->search.bar), FALSE);
  app_session_add_filter (self->session, "symbol", text);
}

static void
on_find (GtkWidget *widget, const char *name, GVariant *parameter)
{
  app_search_open (&APP_FLAME (widget)->search);
}

void
app_flame_add_menu (AppFlame *self)
{
  GtkGesture *secondary = gtk_gesture_click_new ();

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (secondary), GDK_BUTTON_SECONDARY);
  g_signal_connect (secondary, "pressed", G_CALLBACK (on_secondary_click), self);
  gtk_widget_add_controller (self->area, GTK_EVENT_CONTROLLER (secondary));
}

void
app_flame_class_add_actions (GtkWidgetClass *class)
{
  gtk_widget_class_install_action (class, "view.find", NULL, on_find);
  gtk_widget_class_install_action (class, "view.only-matching", NULL, on_only_matching);
  gtk_widget_class_install_action (class, "view.row", "s", on_row_action);
  gtk_widget_class_install_action (class, "view.export", NULL, on_export);
  gtk_widget_class_install_action (class, "view.menu", NULL, on_menu_key);
  gtk_widget_class_add_binding_action (class, GDK_KEY_F10, GDK_SHIFT_MASK, "view.menu", NULL);
}
