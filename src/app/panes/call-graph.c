// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions at the top left, their callers below, their descendants at the right. A chosen
 * function shows its callers and becomes the root of the tree; the root of the focus is left
 * alone. */

#include "app/panes/panes.h"
#include "app/widgets/row-actions.h"
#include "app/widgets/table.h"

#include <glib/gi18n.h>

#define LEFT_SHARE 0.42

typedef struct
{
  AppSession *session;
  RowQuery base; /* weight and switches of the view */
  GtkWidget *functions;
  GtkWidget *callers;
  GtkWidget *descendants;
  char *chosen; /* function; NULL = none */
} CallGraph;

static const char *const function_columns[] = { "symbol", "self", "total", NULL };
static const char *const tree_columns[] = { "symbol", "self", "total", "total", NULL };

static void
call_graph_free (gpointer data)
{
  CallGraph *self = data;

  g_free (self->chosen);
  g_free (self);
}

static void
choose (CallGraph *self, const char *function)
{
  RowQuery callers = self->base, tree = self->base;

  if (g_strcmp0 (self->chosen, function) == 0)
    return;
  g_free (self->chosen);
  self->chosen = g_strdup (function);
  callers.view = "callers";
  callers.root = tree.root = self->chosen;
  tree.view = "tree";
  app_table_set_query (APP_TABLE (self->callers), function != NULL ? &callers : NULL,
                       _ ("Choose a Function"));
  app_table_set_query (APP_TABLE (self->descendants), &tree, NULL);
}

static void
on_selected (AppTable *table, guint row, CallGraph *self)
{
  const char *function = app_row_get_function (app_table_get_result (table), row);

  app_session_choose (self->session, app_table_get_result (table), row);
  if (function != NULL)
    choose (self, function);
}

static void
on_descendant (AppTable *table, guint row, CallGraph *self)
{
  app_session_choose (self->session, app_table_get_result (table), row);
}

static GtkWidget *
new_table (AppSession *session,
           const RowQuery *query,
           const char *const *columns,
           const char *const *titles)
{
  GtkWidget *table = app_table_new (session, query, _ (titles[0]));

  app_table_set_columns (APP_TABLE (table), columns);
  app_table_set_titles (APP_TABLE (table), titles);
  return table;
}

/* The tree gets more than half of the width. Later the handle stays where the user moves it. */
static void
place_handle (GtkPaned *paned, GParamSpec *spec, gpointer data)
{
  int width = gtk_widget_get_width (GTK_WIDGET (paned));

  if (width <= 1)
    return;
  gtk_paned_set_position (paned, (int) (width * LEFT_SHARE));
  g_signal_handlers_disconnect_by_func (paned, place_handle, data);
}

GtkWidget *
app_call_graph_new (AppSession *session, const SectionView *view)
{
  static const char *const titles[][4] = {
    { N_ ("Functions"), N_ ("Self"), N_ ("Total") },
    { N_ ("Callers"), N_ ("Self"), N_ ("Total") },
    { N_ ("Descendants"), N_ ("Self"), N_ ("Total"), "" },
  };
  CallGraph *self = g_new0 (CallGraph, 1);
  GtkWidget *left = gtk_paned_new (GTK_ORIENTATION_VERTICAL);
  GtkWidget *all = gtk_paned_new (GTK_ORIENTATION_HORIZONTAL);
  RowQuery tree = view->query, functions = view->query;

  self->session = session;
  self->base = view->query;
  tree.view = "tree";
  functions.sort = "total";
  self->functions = new_table (session, &functions, function_columns, titles[0]);
  self->callers = new_table (session, NULL, function_columns, titles[1]);
  self->descendants = new_table (session, &tree, tree_columns, titles[2]);
  app_table_show_filter (APP_TABLE (self->functions), _ ("Filter Functions"));
  app_table_set_query (APP_TABLE (self->callers), NULL, _ ("Choose a Function"));
  g_signal_connect (self->functions, "selected", G_CALLBACK (on_selected), self);
  g_signal_connect (self->callers, "selected", G_CALLBACK (on_selected), self);
  g_signal_connect (self->descendants, "selected", G_CALLBACK (on_descendant), self);
  gtk_paned_set_start_child (GTK_PANED (left), self->functions);
  gtk_paned_set_end_child (GTK_PANED (left), self->callers);
  gtk_paned_set_resize_start_child (GTK_PANED (left), TRUE);
  gtk_paned_set_position (GTK_PANED (left), 260);
  gtk_paned_set_start_child (GTK_PANED (all), left);
  gtk_paned_set_end_child (GTK_PANED (all), self->descendants);
  g_signal_connect (all, "notify::max-position", G_CALLBACK (place_handle), NULL);
  gtk_paned_set_shrink_start_child (GTK_PANED (all), FALSE);
  gtk_paned_set_shrink_end_child (GTK_PANED (all), FALSE);
  g_object_set_data_full (G_OBJECT (all), "call-graph", self, call_graph_free);
  return app_pane_switcher_new (
      all, (GtkWidget *[]){ self->functions, self->callers, self->descendants, NULL },
      (const char *[]){ titles[0][0], titles[1][0], titles[2][0] });
}
