// SPDX-License-Identifier: GPL-3.0-or-later

/* Fills, sorts and filters the rows of tables on other threads. */

#include "app/widgets/cut-text.h"
#include "app/widgets/table-private.h"
#include "render/render.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

/* --- on other threads --- */

typedef struct
{
  RowQuery *query;   /* NULL = the rows of `result` */
  RowResult *result; /* or NULL */
  RowsState *state;  /* NULL = nothing was expanded or selected */
  int column;        /* sorted by; -1 = none */
  const char *name;  /* of the column, static */
  bool is_descending;
  char *text;
} Arrangement;

static void
arrangement_free (gpointer data)
{
  Arrangement *self = data;

  if (self->query != NULL)
    app_row_query_kind.free_input (self->query);
  g_clear_pointer (&self->result, app_row_result_unref);
  g_clear_pointer (&self->state, app_rows_state_free);
  g_free (self->text);
  g_free (self);
}

/* Another view may have other columns than the one whose header was sorted. */
static RowsOrder
find_order (const Arrangement *self, const Rows *rows)
{
  const Column *column = &rows->columns[MAX (self->column, 0)];
  bool is_there = self->column >= 0 && (uint32_t) self->column < rows->n_columns &&
                  strcmp (column->name, self->name) == 0;

  return (RowsOrder){
    .column = is_there ? self->column : -1,
    .is_reversed = is_there && sysprof_column_is_descending (column) != self->is_descending,
    .text = self->text,
  };
}

static gpointer
run (AppSession *session,
     const Focus *focus,
     gconstpointer input,
     GCancellable *cancellable,
     GError **error)
{
  const Arrangement *self = input;
  g_autoptr (RowResult) result = NULL;
  g_autoptr (AppRowsModel) model = NULL;
  RowsOrder order;

  if (self->result != NULL)
    result = app_row_result_ref (self->result);
  else
    result = app_row_query_kind.run (session, focus, self->query, cancellable, error);
  if (result == NULL)
    return NULL;
  order = find_order (self, &result->rows);
  g_cancellable_push_current (cancellable);
  model = app_rows_model_new (result, &order, self->state);
  g_cancellable_pop_current (cancellable);
  return g_cancellable_set_error_if_cancelled (cancellable, error) ? NULL
                                                                   : g_steal_pointer (&model);
}

static const QueryKind rows_kind = { .run = run,
                                     .free_input = arrangement_free,
                                     .free_result = g_object_unref };

/* --- requests --- */

static void
show_status (AppTable *self, const char *title, const char *text)
{
  g_autofree char *cut = app_dup_cut_text (text != NULL ? text : "");
  g_autofree char *escaped = g_markup_escape_text (cut, -1);

  adw_status_page_set_title (ADW_STATUS_PAGE (self->status), title);
  adw_status_page_set_description (ADW_STATUS_PAGE (self->status), escaped);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "status");
}

/* Arranges the rows of `result`; NULL = those of the query of the table. */
static void
start (AppTable *self, RowResult *result)
{
  Arrangement *input = g_new0 (Arrangement, 1);
  guint selected = gtk_single_selection_get_selected (self->selection);

  if (result != NULL)
    input->result = app_row_result_ref (result);
  else
    input->query = app_row_query_new (self->rows_query);
  if (self->model != NULL)
    input->state = app_rows_model_save (self->model, selected);
  input->column = app_table_find_sorted (self, &input->name, &input->is_descending);
  input->text = g_strdup (app_search_get_text (&self->search));
  self->is_loading = result == NULL;
  self->n_changes = 0;
  app_query_run (self->query, &rows_kind, self->session, input);
}

void
app_table_arrange (gpointer table)
{
  AppTable *self = table;

  if (self->is_loading)
    start (self, NULL);
  else if (self->model != NULL)
    start (self, app_rows_model_get_result (self->model));
}

void
app_table_refresh (AppTable *self)
{
  if (self->rows_query != NULL)
    start (self, NULL);
}

void
app_table_set_query (AppTable *self, const RowQuery *query, const char *placeholder)
{
  if (self->rows_query != NULL)
    app_row_query_kind.free_input (self->rows_query);
  self->rows_query = query != NULL ? app_row_query_new (query) : NULL;
  if (query == NULL)
    {
      app_query_cancel (self->query);
      self->is_loading = false;
      gtk_single_selection_set_model (self->selection, NULL);
      g_clear_object (&self->model);
      show_status (self, "", placeholder);
    }
  app_table_refresh (self);
}

void
app_table_set_expanded (AppTable *self, guint position, bool is_expanded)
{
  self->n_changes++;
  app_rows_model_set_expanded (self->model, position, is_expanded);
}

/* --- results --- */

static void
show_note (AppTable *self, const RowResult *result)
{
  const char *text = result->rows.note;
  g_autofree char *note = text != NULL ? app_dup_cut_text (text) : NULL;

  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "rows");
  if (result->rows.n_rows == 0)
    {
      g_autofree char *empty = sysprof_dup_emptiness (&result->request, &result->rows);

      show_status (self, _ ("Nothing to Show"), note != NULL ? note : empty);
    }
  gtk_label_set_text (GTK_LABEL (self->note), note != NULL ? note : "");
  gtk_widget_set_visible (self->note, note != NULL && result->rows.n_rows > 0);
}

static void
show_count (AppTable *self)
{
  uint32_t n = app_rows_model_get_n_found (self->model);
  g_autofree char *count = g_strdup_printf (ngettext ("%u row", "%u rows", n), n);

  app_search_show_count (&self->search, count);
}

/* Keeps the widgets of rows if there are any. */
static void
show_rows (AppTable *self, AppRowsModel *model)
{
  guint selected = app_rows_model_get_selected (model);

  if (gtk_single_selection_get_model (self->selection) != NULL)
    {
      gtk_single_selection_set_selected (self->selection, GTK_INVALID_LIST_POSITION);
      app_rows_model_take (self->model, model);
      app_table_move_rows (self);
    }
  else
    {
      g_set_object (&self->model, model);
      gtk_single_selection_set_model (self->selection, G_LIST_MODEL (model));
    }
  if (selected != GTK_INVALID_LIST_POSITION)
    gtk_single_selection_set_selected (self->selection, selected);
}

static void
on_rows (GtkWidget *widget, gpointer data, const GError *error)
{
  AppTable *self = APP_TABLE (widget);
  g_autoptr (AppRowsModel) model = data;
  RowResult *result = model != NULL ? app_rows_model_get_result (model) : NULL;
  bool is_new = self->model == NULL || app_rows_model_get_result (self->model) != result;

  if (error != NULL)
    {
      self->is_loading = false;
      gtk_single_selection_set_model (self->selection, NULL);
      g_clear_object (&self->model);
      show_status (self, _ ("Cannot Show These Rows"), error->message);
      return;
    }
  if (self->n_changes > 0 && self->model != NULL)
    {
      bool is_loading = self->is_loading;

      start (self, result); /* again, with what the user did meanwhile */
      self->is_loading = is_loading;
      return;
    }
  self->is_loading = false;
  app_table_update_columns (self, model);
  show_rows (self, model);
  show_count (self);
  if (!is_new)
    return;
  show_note (self, result);
  app_table_select_picked (self);
  g_signal_emit_by_name (self, "loaded");
}

void
app_table_init_rows (AppTable *self)
{
  self->query = app_query_new (GTK_WIDGET (self), on_rows);
}
