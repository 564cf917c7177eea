// SPDX-License-Identifier: GPL-3.0-or-later

/* Selection, keys, menu and actions of tables. */

#include "app/widgets/cell.h"
#include "app/widgets/row-menu.h"
#include "app/widgets/table-cells.h"
#include "app/widgets/table-copy.h"
#include "app/widgets/table-private.h"

#include <glib/gi18n.h>
#include <string.h>

static AppRow *
get_selected (AppTable *self)
{
  return self->model != NULL ? gtk_single_selection_get_selected_item (self->selection) : NULL;
}

bool
app_table_get_selected (AppTable *self, uint32_t *row)
{
  AppRow *item = get_selected (self);

  if (item != NULL)
    *row = app_row_get_row (item);
  return item != NULL;
}

RowResult *
app_table_get_result (AppTable *self)
{
  return self->model != NULL ? app_rows_model_get_result (self->model) : NULL;
}

void
app_table_select (AppTable *self, uint32_t row)
{
  guint i =
      self->model != NULL ? app_rows_model_find (self->model, row) : GTK_INVALID_LIST_POSITION;

  if (i == GTK_INVALID_LIST_POSITION)
    return;
  gtk_single_selection_set_selected (self->selection, i);
  gtk_widget_activate_action (gtk_widget_get_last_child (self->view), "list.scroll-to-item",
                              "u", i);
}

void
app_table_select_picked (AppTable *self)
{
  RowResult *result = app_table_get_result (self);
  int64_t picked = self->picked;
  uint32_t low = 0, high;

  if (result == NULL || picked < 0 || self->is_loading)
    return;
  self->picked = -1;
  high = result->rows.n_rows;
  while (low < high) /* rows with a time are in its order */
    {
      uint32_t middle = low + (high - low) / 2;

      if (app_row_result_get_number (result, middle, "time", -1) < picked)
        low = middle + 1;
      else
        high = middle;
    }
  if (low < result->rows.n_rows &&
      app_row_result_get_number (result, low, "time", -1) == picked)
    app_table_select (self, low);
}

void
app_table_set_titles (AppTable *self, const char *const *titles)
{
  self->titles = titles;
}

void
app_table_pick (AppTable *self, int64_t time)
{
  self->picked = gtk_widget_get_mapped (GTK_WIDGET (self)) ? time : -1;
  app_table_select_picked (self);
}

static void
on_selected (GtkSingleSelection *selection, GParamSpec *spec, AppTable *self)
{
  AppRow *item = get_selected (self);

  self->n_changes++;
  if (item != NULL)
    g_signal_emit_by_name (self, "selected", app_row_get_row (item));
}

static void
activate_default (AppTable *self, uint32_t row)
{
  RowResult *result = app_table_get_result (self);

  for (const RowAction *action = app_row_actions; action->name != NULL; action++)
    if ((strcmp (action->name, "root") == 0 || strcmp (action->name, "zoom") == 0) &&
        action->applies (result, row))
      {
        action->run (self->session, result, row);
        return;
      }
}

static void
on_activate (GtkColumnView *view, guint position, AppTable *self)
{
  g_autoptr (AppRow) item = g_list_model_get_item (G_LIST_MODEL (self->model), position);

  if (g_signal_has_handler_pending (self, g_signal_lookup ("activated", APP_TYPE_TABLE), 0,
                                    FALSE))
    g_signal_emit_by_name (self, "activated", app_row_get_row (item));
  else
    activate_default (self, app_row_get_row (item));
}

static bool
handle_tree_key (AppTable *self, guint key, guint position, AppRow *row)
{
  bool is_expanded = app_row_is_expanded (row), can = app_row_is_expandable (row);

  if (app_row_get_result (row)->rows.parent == NULL)
    return false;
  if (key == GDK_KEY_asterisk || key == GDK_KEY_KP_Multiply)
    {
      self->n_changes++;
      app_rows_model_expand_heaviest (self->model, position);
    }
  else if ((key == GDK_KEY_Right && can && !is_expanded) || (key == GDK_KEY_space && can))
    app_table_set_expanded (self, position, !is_expanded);
  else if (key == GDK_KEY_Left && is_expanded)
    app_table_set_expanded (self, position, false);
  else if (key == GDK_KEY_Left)
    gtk_single_selection_set_selected (
        self->selection, app_rows_model_get_parent_position (self->model, position));
  else
    return false;
  if (key != GDK_KEY_Left || is_expanded)
    gtk_single_selection_set_selected (self->selection, position);
  return true;
}

/* Gives the keyboard to the selected row: GTK leaves it at another one when the selection moves
 * or the rows do, and Down starts from there. */
static void
focus_selected (AppTable *self)
{
  guint selected = gtk_single_selection_get_selected (self->selection);

  for (GtkWidget *line = app_table_get_first_line (self); line != NULL;
       line = gtk_widget_get_next_sibling (line))
    {
      GtkWidget *holder = gtk_widget_get_first_child (line);
      GtkWidget *cell = holder != NULL ? gtk_widget_get_first_child (holder) : NULL;
      GtkListItem *item = cell != NULL ? g_object_get_data (G_OBJECT (cell), "item") : NULL;

      if (item != NULL && gtk_list_item_get_position (item) == selected)
        gtk_widget_grab_focus (line);
    }
}

static gboolean
on_key (GtkEventControllerKey *controller,
        guint key,
        guint code,
        GdkModifierType state,
        AppTable *self)
{
  AppRow *item = get_selected (self);
  RowResult *result = app_table_get_result (self);

  if (item == NULL || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) != 0)
    return FALSE;
  focus_selected (self);
  if (handle_tree_key (self, key, gtk_single_selection_get_selected (self->selection), item))
    {
      focus_selected (self);
      return TRUE;
    }
  if (key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) /* GTK may activate another row */
    {
      on_activate (NULL, gtk_single_selection_get_selected (self->selection), self);
      return TRUE;
    }
  return app_row_menu_press (self->session, result, app_row_get_row (item), key);
}

static void
on_row_action (GtkWidget *widget, const char *name, GVariant *parameter)
{
  AppTable *self = APP_TABLE (widget);
  AppRow *item = get_selected (self);

  if (item != NULL)
    app_row_menu_run (self->session, app_row_get_result (item), app_row_get_row (item),
                      g_variant_get_string (parameter, NULL));
}

static void
show_menu (AppTable *self, double x, double y)
{
  AppRow *item = get_selected (self);
  g_autoptr (GMenu) more = g_menu_new ();

  g_menu_append (more, _ ("_Copy Row"), "view.copy");
  g_menu_append (more, _ ("Copy Table as _Markdown"), "view.copy-markdown");
  g_menu_append (more, _ ("_Export Table…"), "view.export");
  app_row_menu_popup (GTK_WIDGET (self), item != NULL ? app_row_get_result (item) : NULL,
                      item != NULL ? app_row_get_row (item) : 0, G_MENU_MODEL (more), x, y);
}

static GtkWidget *
find_cell (GtkWidget *widget, double x, double y)
{
  GtkWidget *picked = gtk_widget_pick (widget, x, y, GTK_PICK_DEFAULT);

  return picked != NULL ? gtk_widget_get_ancestor (picked, APP_TYPE_CELL) : NULL;
}

/* To set the tooltip of a widget asks the display for the pointer: too slow for each cell. */
static gboolean
on_tooltip (GtkWidget *view, int x, int y, gboolean by_key, GtkTooltip *tooltip)
{
  GtkWidget *cell = by_key ? NULL : find_cell (view, x, y);
  g_autofree char *text = NULL;
  AppRow *row;

  if (cell == NULL)
    return FALSE;
  row = gtk_list_item_get_item (g_object_get_data (G_OBJECT (cell), "item"));
  if (row != NULL)
    text =
        app_row_dup_tooltip (app_row_get_result (row), app_row_get_row (row),
                             GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (cell), "column")));
  gtk_tooltip_set_text (tooltip, text);
  return text != NULL;
}

/* Selects the row under the pointer first. */
static void
on_secondary_click (GtkGestureClick *gesture, int n, double x, double y, AppTable *self)
{
  GtkWidget *cell = find_cell (GTK_WIDGET (self), x, y);
  GtkListItem *item = cell != NULL ? g_object_get_data (G_OBJECT (cell), "item") : NULL;

  if (item != NULL)
    gtk_single_selection_set_selected (self->selection, gtk_list_item_get_position (item));
  show_menu (self, x, y);
}

static void
on_menu_key (GtkWidget *widget, const char *name, GVariant *parameter)
{
  show_menu (APP_TABLE (widget), 40, 40);
}

static void
on_find (GtkWidget *widget, const char *name, GVariant *parameter)
{
  app_search_open (&APP_TABLE (widget)->search);
}

static void
on_search (GtkWidget *widget, const char *name, GVariant *text)
{
  app_search_for (&APP_TABLE (widget)->search, g_variant_get_string (text, NULL));
}

/* The next or previous of the rows that the search left. */
static void
on_step (GtkWidget *widget, const char *name, GVariant *parameter)
{
  AppTable *self = APP_TABLE (widget);
  guint n = self->model != NULL ? g_list_model_get_n_items (G_LIST_MODEL (self->model)) : 0;
  guint at = gtk_single_selection_get_selected (self->selection);
  bool is_next = strcmp (name, "view.next") == 0;

  if (n == 0)
    return;
  if (at >= n)
    at = is_next ? 0 : n - 1;
  else
    at = (at + (is_next ? 1 : n - 1)) % n;
  gtk_single_selection_set_selected (self->selection, at);
  gtk_widget_activate_action (gtk_widget_get_last_child (self->view), "list.scroll-to-item",
                              "u", at);
}

static void
on_copy (GtkWidget *widget, const char *name, GVariant *parameter)
{
  AppTable *self = APP_TABLE (widget);
  AppRow *item = get_selected (self);
  uint32_t row = item != NULL ? app_row_get_row (item) : 0;
  bool is_whole = item == NULL || strcmp (name, "view.copy-markdown") == 0;

  if (self->model != NULL)
    app_table_copy_rows (widget, app_table_get_result (self), is_whole ? NULL : &row,
                         strcmp (name, "view.copy") == 0 ? RENDER_TEXT : RENDER_MARKDOWN);
}

static void
on_export (GtkWidget *widget, const char *name, GVariant *parameter)
{
  AppTable *self = APP_TABLE (widget);

  if (self->model != NULL)
    app_table_export_rows (widget, app_table_get_result (self));
}

void
app_table_class_add_actions (GtkWidgetClass *class)
{
  gtk_widget_class_install_action (class, "view.find", NULL, on_find);
  gtk_widget_class_install_action (class, "view.search", "s", on_search);
  gtk_widget_class_install_action (class, "view.next", NULL, on_step);
  gtk_widget_class_install_action (class, "view.previous", NULL, on_step);
  gtk_widget_class_install_action (class, "view.copy", NULL, on_copy);
  gtk_widget_class_install_action (class, "view.copy-markdown", NULL, on_copy);
  gtk_widget_class_install_action (class, "view.export", NULL, on_export);
  gtk_widget_class_install_action (class, "view.row", "s", on_row_action);
  gtk_widget_class_install_action (class, "view.menu", NULL, on_menu_key);
  gtk_widget_class_add_binding_action (class, GDK_KEY_c, GDK_CONTROL_MASK, "view.copy", NULL);
  gtk_widget_class_add_binding_action (class, GDK_KEY_c, GDK_CONTROL_MASK | GDK_SHIFT_MASK,
                                       "view.copy-markdown", NULL);
  gtk_widget_class_add_binding_action (class, GDK_KEY_comma, 0, "view.previous", NULL);
  gtk_widget_class_add_binding_action (class, GDK_KEY_period, 0, "view.next", NULL);
  gtk_widget_class_add_binding_action (class, GDK_KEY_F10, GDK_SHIFT_MASK, "view.menu", NULL);
}

void
app_table_add_controllers (AppTable *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkGesture *click = gtk_gesture_click_new ();

  g_signal_connect (self->selection, "notify::selected-item", G_CALLBACK (on_selected), self);
  g_signal_connect (self->view, "activate", G_CALLBACK (on_activate), self);
  g_signal_connect (self->view, "query-tooltip", G_CALLBACK (on_tooltip), NULL);
  gtk_widget_set_has_tooltip (self->view, TRUE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  gtk_widget_add_controller (self->view, keys);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), GDK_BUTTON_SECONDARY);
  g_signal_connect (click, "released", G_CALLBACK (on_secondary_click), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
}
