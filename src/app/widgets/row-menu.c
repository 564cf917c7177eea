// SPDX-License-Identifier: GPL-3.0-or-later

/* Menus and keys of rows. */

#include "app/widgets/row-menu.h"

#include <glib/gi18n.h>
#include <string.h>

static GMenuModel *
make_menu (const RowResult *result, uint32_t row, GMenuModel *more)
{
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenu) rows = g_menu_new ();

  for (const RowAction *action = app_row_actions; result != NULL && action->name; action++)
    if (action->applies (result, row))
      {
        g_autofree char *target = g_strdup_printf ("view.row('%s')", action->name);

        g_menu_append (rows, _ (action->title), target);
      }
  g_menu_append_section (menu, NULL, G_MENU_MODEL (rows));
  g_menu_append_section (menu, NULL, more);
  return G_MENU_MODEL (menu);
}

static gboolean
unparent_later (gpointer popover)
{
  if (gtk_widget_get_parent (popover) != NULL) /* its action may remove the parent */
    gtk_widget_unparent (popover);
  return G_SOURCE_REMOVE;
}

static void
on_closed (GtkPopover *popover, gpointer data)
{
  /* Its action still runs. */
  g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, unparent_later, g_object_ref (popover),
                   g_object_unref);
}

void
app_row_menu_popup (GtkWidget *widget,
                    const RowResult *result,
                    uint32_t row,
                    GMenuModel *more,
                    double x,
                    double y)
{
  g_autoptr (GMenuModel) menu = make_menu (result, row, more);
  GtkWidget *popover = gtk_popover_menu_new_from_model (menu);

  gtk_widget_set_parent (popover, widget);
  gtk_popover_set_has_arrow (GTK_POPOVER (popover), FALSE);
  gtk_widget_set_halign (popover, GTK_ALIGN_START);
  gtk_popover_set_pointing_to (GTK_POPOVER (popover),
                               &(GdkRectangle){ (int) x, (int) y, 1, 1 });
  g_signal_connect (popover, "closed", G_CALLBACK (on_closed), NULL);
  gtk_popover_popup (GTK_POPOVER (popover));
}

void
app_row_menu_run (AppSession *session, const RowResult *result, uint32_t row, const char *name)
{
  for (const RowAction *action = app_row_actions; action->name != NULL; action++)
    if (strcmp (action->name, name) == 0 && action->applies (result, row))
      {
        action->run (session, result, row);
        return;
      }
}

bool
app_row_menu_press (AppSession *session, const RowResult *result, uint32_t row, guint key)
{
  for (const RowAction *action = app_row_actions; action->name != NULL; action++)
    if (action->key != 0 && action->key == key && action->applies (result, row))
      {
        action->run (session, result, row);
        return true;
      }
  return false;
}
