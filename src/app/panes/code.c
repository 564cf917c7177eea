// SPDX-License-Identifier: GPL-3.0-or-later

/* Source lines or instructions of a function with their weights: the root function of the
 * focus, or the one that is chosen in the list. */

#include "app/panes/panes.h"
#include "app/widgets/row-actions.h"
#include "app/widgets/table.h"

#include <glib/gi18n.h>

typedef struct
{
  AppSession *session;
  RowQuery base;
  GtkWidget *functions;
  GtkWidget *code;
} CodePane;

static void
show_function (CodePane *self, const char *function)
{
  RowQuery query = self->base;

  query.root = function;
  app_table_set_query (APP_TABLE (self->code), function != NULL ? &query : NULL,
                       _ ("Choose a Function"));
}

static void
on_selected (AppTable *table, guint row, CodePane *self)
{
  show_function (self, app_row_get_function (app_table_get_result (table), row));
}

/* Shows the heaviest function at first. */
static void
on_loaded (AppTable *table, CodePane *self)
{
  RowResult *result = app_table_get_result (table);
  uint32_t row;

  if (!app_table_get_selected (table, &row) && result->rows.n_rows > 0)
    app_table_select (table, 0);
}

GtkWidget *
app_code_pane_new (AppSession *session, const SectionView *view)
{
  static const char *const columns[] = { "symbol", "self", NULL };
  CodePane *self = g_new0 (CodePane, 1);
  GtkWidget *paned = gtk_paned_new (GTK_ORIENTATION_HORIZONTAL);
  RowQuery functions = view->query;

  self->session = session;
  self->base = view->query;
  functions.view = "functions";
  self->functions = app_table_new (session, &functions, _ ("Functions"));
  self->code = app_table_new (session, NULL, _ (view->title));
  gtk_widget_add_css_class (self->code, "code");
  app_table_set_columns (APP_TABLE (self->functions), columns);
  app_table_set_columns (APP_TABLE (self->code), view->columns);
  app_table_show_filter (APP_TABLE (self->functions), _ ("Filter Functions"));
  app_table_set_query (APP_TABLE (self->code), NULL, _ ("Choose a Function"));
  g_signal_connect (self->functions, "selected", G_CALLBACK (on_selected), self);
  g_signal_connect (self->functions, "loaded", G_CALLBACK (on_loaded), self);
  gtk_paned_set_start_child (GTK_PANED (paned), self->functions);
  gtk_paned_set_end_child (GTK_PANED (paned), self->code);
  gtk_paned_set_position (GTK_PANED (paned), 300);
  gtk_paned_set_shrink_start_child (GTK_PANED (paned), FALSE);
  gtk_paned_set_shrink_end_child (GTK_PANED (paned), FALSE);
  g_object_set_data_full (G_OBJECT (paned), "code-pane", self, g_free);
  return paned;
}
