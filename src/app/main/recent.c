// SPDX-License-Identifier: GPL-3.0-or-later

/* Recent recordings, as the desktop remembers them for all applications. */

#include "app/main/recent.h"

#include <gtk/gtk.h>

#define MOST_ITEMS 10

static int
compare_newest_first (gconstpointer a, gconstpointer b)
{
  return g_date_time_compare (gtk_recent_info_get_modified ((GtkRecentInfo *) b),
                              gtk_recent_info_get_modified ((GtkRecentInfo *) a));
}

GMenu *
app_recent_menu_new (void)
{
  GMenu *menu = g_menu_new ();
  GList *items = gtk_recent_manager_get_items (gtk_recent_manager_get_default ());

  items = g_list_sort (items, compare_newest_first);
  for (GList *at = items; at != NULL; at = at->next)
    if (gtk_recent_info_has_application (at->data, g_get_application_name ()) &&
        gtk_recent_info_exists (at->data) &&
        g_menu_model_get_n_items (G_MENU_MODEL (menu)) < MOST_ITEMS)
      {
        g_autoptr (GMenuItem) item =
            g_menu_item_new (gtk_recent_info_get_display_name (at->data), NULL);

        g_menu_item_set_action_and_target (item, "app.open-uri", "s",
                                           gtk_recent_info_get_uri (at->data));
        g_menu_append_item (menu, item);
      }
  g_list_free_full (items, (GDestroyNotify) gtk_recent_info_unref);
  return menu;
}
