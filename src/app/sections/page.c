// SPDX-License-Identifier: GPL-3.0-or-later

/* Pages of sections. */

#include "app/sections/page.h"

#include "app/widgets/table.h"

#include <adwaita.h>
#include <glib/gi18n.h>

static GtkWidget *
make_missing (const Section *section)
{
  GtkWidget *status = adw_status_page_new ();
  g_autofree char *title = g_strdup_printf (_ ("%s: Not Recorded"), _ (section->title));

  gtk_widget_set_vexpand (status, TRUE);
  adw_status_page_set_icon_name (ADW_STATUS_PAGE (status), section->icon);
  adw_status_page_set_title (ADW_STATUS_PAGE (status), title);
  adw_status_page_set_description (ADW_STATUS_PAGE (status), _ (section->missing));
  return status;
}

static void
on_selected (AppTable *table, guint row, AppSession *session)
{
  app_session_choose (session, app_table_get_result (table), row);
}

GtkWidget *
app_section_table_new (AppSession *session, const SectionView *view)
{
  GtkWidget *table;

  table = app_table_new (session, &view->query, _ (view->title));
  app_table_set_columns (APP_TABLE (table), view->columns);
  app_table_set_titles (APP_TABLE (table), view->titles);
  g_signal_connect (table, "selected", G_CALLBACK (on_selected), session);
  if (view->filter != NULL)
    app_table_show_filter (APP_TABLE (table), _ (view->filter));
  return table;
}

/* The view is hidden while it is not on the screen: in each frame GTK looks at the styles of
 * all visible widgets, also of those on pages that are not shown. */
static GtkWidget *
make_view (AppSession *session, const SectionView *view)
{
  GtkWidget *holder = adw_bin_new ();
  GtkWidget *widget =
      view->make != NULL ? view->make (session, view) : app_section_table_new (session, view);

  adw_bin_set_child (ADW_BIN (holder), widget);
  g_signal_connect_object (holder, "map", G_CALLBACK (gtk_widget_show), widget,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (holder, "unmap", G_CALLBACK (gtk_widget_hide), widget,
                           G_CONNECT_SWAPPED);
  return holder;
}

static AdwViewStack *
get_stack (GtkWidget *page)
{
  return g_object_get_data (G_OBJECT (page), "views");
}

GtkWidget *
app_section_page_new (AppSession *session, const Section *section)
{
  GtkWidget *page = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *stack, *bar;

  if (section->count (app_session_get_store (session)) == 0)
    {
      gtk_box_append (GTK_BOX (page), make_missing (section));
      return page;
    }
  stack = adw_view_stack_new ();
  bar = adw_view_switcher_bar_new ();
  gtk_widget_set_vexpand (stack, TRUE);
  for (const SectionView *view = section->views; view->id != NULL; view++)
    adw_view_stack_add_titled (ADW_VIEW_STACK (stack), make_view (session, view), view->id,
                               _ (view->title));
  for (const SectionView *view = section->views; view->id != NULL; view++)
    adw_view_stack_page_set_icon_name (
        adw_view_stack_get_page (ADW_VIEW_STACK (stack), adw_view_stack_get_child_by_name (
                                                             ADW_VIEW_STACK (stack), view->id)),
        view->icon);
  adw_view_switcher_bar_set_stack (ADW_VIEW_SWITCHER_BAR (bar), ADW_VIEW_STACK (stack));
  adw_view_switcher_bar_set_reveal (ADW_VIEW_SWITCHER_BAR (bar), section->views[1].id != NULL);
  gtk_box_append (GTK_BOX (page), stack);
  gtk_box_append (GTK_BOX (page), bar);
  g_object_set_data (G_OBJECT (page), "views", stack);
  return page;
}

void
app_section_page_show (GtkWidget *page, const char *view)
{
  AdwViewStack *stack = get_stack (page);

  if (stack != NULL && adw_view_stack_get_child_by_name (stack, view) != NULL)
    adw_view_stack_set_visible_child_name (stack, view);
}

void
app_section_page_step (GtkWidget *page, int step)
{
  AdwViewStack *stack = get_stack (page);
  g_autoptr (GtkSelectionModel) pages = NULL;
  guint n;

  if (stack == NULL)
    return;
  pages = adw_view_stack_get_pages (stack);
  n = g_list_model_get_n_items (G_LIST_MODEL (pages));
  for (guint i = 0; i < n; i++)
    if (gtk_selection_model_is_selected (pages, i))
      {
        gtk_selection_model_select_item (pages, (i + n + (guint) step) % n, TRUE);
        return;
      }
}

GtkWidget *
app_section_page_get_view (GtkWidget *page)
{
  AdwViewStack *stack = get_stack (page);

  return stack != NULL ? adw_bin_get_child (ADW_BIN (adw_view_stack_get_visible_child (stack)))
                       : NULL;
}
