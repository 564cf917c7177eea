// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of all views. */

#include "app/widgets/table-private.h"

#include "app/widgets/cut-text.h"
#include "app/widgets/naming.h"
#include "app/widgets/table-cells.h"
#include "render/render.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

enum
{
  SELECTED,
  ACTIVATED,
  LOADED,
  N_SIGNALS,
};
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AppTable, app_table, GTK_TYPE_WIDGET)

/* --- columns --- */

#define EXPANDING_LEAST 110 /* px of the column that takes the rest */
#define FILL_USEC       4000

typedef struct
{
  AppTable *table;
  ShownColumn shown; /* without its title */
  ColumnKind kind;
  bool is_first;
  bool expands;
} TableColumn;

static void
on_toggled (AppCell *cell, GtkListItem *item)
{
  GtkWidget *table = gtk_widget_get_ancestor (GTK_WIDGET (cell), APP_TYPE_TABLE);
  AppRow *row = gtk_list_item_get_item (item);

  if (table != NULL && row != NULL)
    app_table_set_expanded (APP_TABLE (table), gtk_list_item_get_position (item),
                            !app_row_is_expanded (row));
}

static void
setup_cell (GtkListItemFactory *factory, GtkListItem *item, TableColumn *column)
{
  const Rows *rows = &app_rows_model_get_result (column->table->model)->rows;
  bool is_figure = sysprof_column_is_figure (&rows->columns[column->shown.column]);
  AppCell *cell = app_cell_new (is_figure);

  if (column->expands && !is_figure)
    gtk_widget_set_size_request (GTK_WIDGET (cell), EXPANDING_LEAST, -1);
  if (column->is_first)
    g_signal_connect (cell, "toggled", G_CALLBACK (on_toggled), item);
  g_object_set_data (G_OBJECT (cell), "item", item);
  g_object_set_data (G_OBJECT (cell), "column", GUINT_TO_POINTER (column->shown.column));
  g_object_set_data (G_OBJECT (cell), "look", column);
  gtk_list_item_set_child (item, GTK_WIDGET (cell));
}

static void
name_widgets (GtkWidget *cell, const RowResult *result, uint32_t row, const TableColumn *column)
{
  GtkWidget *holder = gtk_widget_get_parent (cell);
  GtkWidget *line = holder != NULL ? gtk_widget_get_parent (holder) : NULL;
  g_autofree char *text = app_row_dup_text (result, row, column->shown.column);

  if (holder != NULL)
    app_set_name (GTK_WIDGET (holder), text);
  if (line != NULL && column->is_first)
    {
      g_autofree char *label = app_row_dup_label (result, row);

      app_set_name (GTK_WIDGET (line), label);
    }
}

static void
fill_cell (GtkListItem *item, const TableColumn *column)
{
  AppRow *row = gtk_list_item_get_item (item);
  GtkWidget *cell = gtk_list_item_get_child (item);

  app_cell_bind (APP_CELL (cell), row, &column->shown, column->is_first);
  name_widgets (cell, app_row_get_result (row), app_row_get_row (row), column);
}

static void
bind_cell (GtkListItemFactory *factory, GtkListItem *item, TableColumn *column)
{
  fill_cell (item, column);
}

static void
unbind_cell (GtkListItemFactory *factory, GtkListItem *item, TableColumn *column)
{
  app_cell_set_graph (APP_CELL (gtk_list_item_get_child (item)), NULL);
}

/* --- moved rows --- */

GtkWidget *
app_table_get_first_line (AppTable *self)
{
  return gtk_widget_get_first_child (gtk_widget_get_last_child (self->view));
}

/* Of cells that are not filled, graphs are removed: the earlier rows own them. */
static void
update_line (GtkWidget *line, bool fills)
{
  for (GtkWidget *holder = gtk_widget_get_first_child (line); holder != NULL;
       holder = gtk_widget_get_next_sibling (holder))
    {
      GObject *cell = G_OBJECT (gtk_widget_get_first_child (holder));
      GtkListItem *item = g_object_get_data (cell, "item");
      const TableColumn *column = g_object_get_data (cell, "look");
      AppRow *row = gtk_list_item_get_item (item);

      if (row == NULL)
        continue;
      app_row_move (row, gtk_list_item_get_position (item));
      if (fills)
        fill_cell (item, column);
      else if (column->kind == COLUMN_GRAPH)
        app_cell_set_graph (APP_CELL (cell), NULL);
    }
  g_object_set_data (G_OBJECT (line), "is-stale", fills ? NULL : line);
}

/* Fills rows that are not in sight, a few at a time. */
static gboolean
fill_stale (gpointer data)
{
  AppTable *self = data;
  int64_t end = g_get_monotonic_time () + FILL_USEC;

  for (GtkWidget *line = app_table_get_first_line (self); line != NULL;
       line = gtk_widget_get_next_sibling (line))
    if (g_object_get_data (G_OBJECT (line), "is-stale") != NULL)
      {
        update_line (line, true);
        if (g_get_monotonic_time () >= end)
          return G_SOURCE_CONTINUE;
      }
  self->fill_idle = 0;
  return G_SOURCE_REMOVE;
}

void
app_table_move_rows (AppTable *self)
{
  int height = gtk_widget_get_height (gtk_widget_get_last_child (self->view));

  for (GtkWidget *line = app_table_get_first_line (self); line != NULL;
       line = gtk_widget_get_next_sibling (line))
    {
      GtkAllocation place;

      gtk_widget_get_allocation (line, &place);
      update_line (line, place.y < height && place.y + place.height > 0);
    }
  if (self->fill_idle == 0)
    self->fill_idle = g_idle_add_full (G_PRIORITY_LOW, fill_stale, self, NULL);
}

/* --- order --- */

/* Finds the sorted column and its direction: the sorter of the view calls the function of its
 * first column, and inverts the result if the order is descending. */
static int
compare_nothing (gconstpointer a, gconstpointer b, gpointer data)
{
  const TableColumn *column = data;

  if (column->table->sort_column < 0)
    column->table->sort_column = (int) column->shown.column;
  return -1;
}

int
app_table_find_sorted (AppTable *self, const char **name, bool *is_descending)
{
  GtkSorter *sorter = gtk_column_view_get_sorter (GTK_COLUMN_VIEW (self->view));
  g_autoptr (AppRow) nothing = g_object_new (APP_TYPE_ROW, NULL);

  self->sort_column = -1;
  *is_descending = gtk_sorter_compare (sorter, nothing, nothing) == GTK_ORDERING_LARGER;
  if (self->model == NULL)
    self->sort_column = -1;
  if (self->sort_column >= 0)
    *name = app_table_get_result (self)->rows.columns[self->sort_column].name;
  return self->sort_column;
}

/* --- changes of columns --- */

static void
add_column (AppTable *self,
            const RowResult *result,
            const ShownColumn *shown,
            bool is_first,
            bool expands)
{
  const Column *column = &result->rows.columns[shown->column];
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  TableColumn *data = g_new0 (TableColumn, 1);
  g_autoptr (GtkColumnViewColumn) view_column = NULL;
  g_autoptr (GtkSorter) sorter = NULL;
  int width = expands ? 0 : app_column_get_width (self->view, result, shown);

  *data = (TableColumn){
    self, { shown->column, shown->part, NULL }, column->kind, is_first, expands
  };
  g_signal_connect (factory, "setup", G_CALLBACK (setup_cell), data);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_cell), data);
  g_signal_connect (factory, "unbind", G_CALLBACK (unbind_cell), data);
  view_column = gtk_column_view_column_new (shown->title, factory);
  g_object_set_data_full (G_OBJECT (view_column), "column", data, g_free);
  gtk_column_view_column_set_resizable (view_column, TRUE);
  gtk_column_view_column_set_expand (view_column, expands);
  app_column_remember_width (view_column, self->rows_query,
                             shown->part == COLUMN_SHOWS_AMOUNT ? "amount" : column->name,
                             width);
  if (column->kind != COLUMN_GRAPH)
    {
      sorter = GTK_SORTER (gtk_custom_sorter_new (compare_nothing, data, NULL));
      gtk_column_view_column_set_sorter (view_column, sorter);
    }
  gtk_column_view_append_column (GTK_COLUMN_VIEW (self->view), view_column);
}

static bool
has_columns (AppTable *self, const Rows *rows, const GArray *chosen)
{
  GListModel *columns = gtk_column_view_get_columns (GTK_COLUMN_VIEW (self->view));

  if (g_list_model_get_n_items (columns) != chosen->len)
    return false;
  for (guint i = 0; i < chosen->len; i++)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, i);
      const TableColumn *data = g_object_get_data (G_OBJECT (column), "column");
      const ShownColumn *shown = &g_array_index (chosen, ShownColumn, i);

      if (data->shown.column != shown->column ||
          data->kind != rows->columns[shown->column].kind ||
          strcmp (gtk_column_view_column_get_title (column), shown->title) != 0)
        return false;
    }
  return true;
}

/* Titles of figures end above them, after the arrow of the order. GTK has no property for that.
 */
static void
align_titles (AppTable *self, const Rows *rows, const GArray *chosen)
{
  GtkWidget *title = gtk_widget_get_first_child (gtk_widget_get_first_child (self->view));

  for (guint i = 0; i < chosen->len && title != NULL; i++)
    {
      GtkWidget *box = gtk_widget_get_first_child (title);

      if (box != NULL && sysprof_column_is_figure (
                             &rows->columns[g_array_index (chosen, ShownColumn, i).column]))
        {
          gtk_widget_set_halign (box, GTK_ALIGN_END);
          gtk_widget_insert_before (gtk_widget_get_first_child (box), box, NULL);
        }
      title = gtk_widget_get_next_sibling (title);
    }
}

/* A long text takes the rest of the width, without one the last text, else a graph, else the
 * first column. */
static guint
find_expanding (const Rows *rows, const GArray *chosen)
{
  guint found = 0;
  int found_rank = 0;

  for (guint i = chosen->len; i-- > 0;)
    {
      const Column *column = &rows->columns[g_array_index (chosen, ShownColumn, i).column];
      int rank = column->is_long                ? 3
                 : column->kind == COLUMN_TEXT  ? 2
                 : column->kind == COLUMN_GRAPH ? 1
                                                : 0;

      if (rank > found_rank)
        {
          found_rank = rank;
          found = i;
        }
    }
  return found;
}

void
app_table_update_columns (AppTable *self, AppRowsModel *model)
{
  const RowResult *result = app_rows_model_get_result (model);
  const Rows *rows = &result->rows;
  g_autoptr (GArray) chosen = app_columns_choose (rows, self->columns, self->titles);
  GListModel *columns = gtk_column_view_get_columns (GTK_COLUMN_VIEW (self->view));
  guint expanding;

  if (has_columns (self, rows, chosen))
    return;
  gtk_single_selection_set_model (self->selection, NULL); /* its rows have other columns */
  g_set_object (&self->model, model);
  while (g_list_model_get_n_items (columns) > 0)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, 0);

      gtk_column_view_remove_column (GTK_COLUMN_VIEW (self->view), column);
    }
  expanding = find_expanding (rows, chosen);
  for (guint i = 0; i < chosen->len; i++)
    add_column (self, result, &g_array_index (chosen, ShownColumn, i), i == 0, i == expanding);
  align_titles (self, rows, chosen);
}

/* --- life --- */

static void
app_table_dispose (GObject *object)
{
  AppTable *self = APP_TABLE (object);

  g_clear_pointer (&self->query, app_query_free);
  g_clear_handle_id (&self->fill_idle, g_source_remove);
  if (self->rows_query != NULL)
    app_row_query_kind.free_input (self->rows_query);
  self->rows_query = NULL;
  if (self->session != NULL)
    g_signal_handlers_disconnect_by_data (self->session, self);
  while (gtk_widget_get_first_child (GTK_WIDGET (self)) != NULL)
    gtk_widget_unparent (gtk_widget_get_first_child (GTK_WIDGET (self)));
  g_clear_object (&self->model);
  g_clear_object (&self->session);
  g_clear_pointer (&self->title, g_free);
  G_OBJECT_CLASS (app_table_parent_class)->dispose (object);
}

static void
app_table_class_init (AppTableClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = app_table_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  signals[SELECTED] = g_signal_new ("selected", APP_TYPE_TABLE, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[ACTIVATED] = g_signal_new ("activated", APP_TYPE_TABLE, G_SIGNAL_RUN_LAST, 0, NULL,
                                     NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  app_table_class_add_actions (widget_class);
  signals[LOADED] = g_signal_new ("loaded", APP_TYPE_TABLE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 0);
  gtk_widget_class_add_binding_action (
      widget_class, GDK_KEY_C, GDK_CONTROL_MASK | GDK_SHIFT_MASK, "view.copy-markdown", NULL);
}

static void
app_table_init (AppTable *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *scroller = gtk_scrolled_window_new ();

  app_table_init_rows (self);
  self->picked = -1;
  self->selection = gtk_single_selection_new (NULL);
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  self->view = gtk_column_view_new (GTK_SELECTION_MODEL (self->selection));
  gtk_widget_add_css_class (self->view, "data-table");
  g_signal_connect_swapped (gtk_column_view_get_sorter (GTK_COLUMN_VIEW (self->view)),
                            "changed", G_CALLBACK (app_table_arrange), self);

  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->view);
  self->status = adw_status_page_new ();
  gtk_widget_add_css_class (self->status, "compact");
  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), scroller, "rows");
  gtk_stack_add_named (GTK_STACK (self->stack), self->status, "status");
  gtk_widget_set_vexpand (self->stack, TRUE);
  gtk_box_append (GTK_BOX (box), self->stack);
  self->note = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (self->note), TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->note), 0);
  gtk_widget_add_css_class (self->note, "note");
  gtk_widget_hide (self->note);
  gtk_box_append (GTK_BOX (box), self->note);
  app_search_init (&self->search, app_table_arrange, self);
  gtk_box_append (GTK_BOX (box), self->search.bar);
  gtk_widget_set_parent (box, GTK_WIDGET (self));
  app_table_add_controllers (self);
}

GtkWidget *
app_table_new (AppSession *session, const RowQuery *query, const char *title)
{
  AppTable *self = g_object_new (APP_TYPE_TABLE, NULL);

  self->session = g_object_ref (session);
  self->title = g_strdup (title);
  app_set_name (GTK_WIDGET (self->view), title);
  g_signal_connect_swapped (session, "selection-changed", G_CALLBACK (app_table_refresh), self);
  g_signal_connect_swapped (session, "picked", G_CALLBACK (app_table_pick), self);
  if (query != NULL)
    app_table_set_query (self, query, NULL);
  return GTK_WIDGET (self);
}

void
app_table_set_columns (AppTable *self, const char *const *columns)
{
  self->columns = columns;
}

void
app_table_show_filter (AppTable *self, const char *placeholder)
{
  self->search.is_lasting = true;
  g_object_set (self->search.entry, "placeholder-text", placeholder, NULL);
  gtk_search_bar_set_search_mode (GTK_SEARCH_BAR (self->search.bar), TRUE);
}
