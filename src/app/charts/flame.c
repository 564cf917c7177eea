// SPDX-License-Identifier: GPL-3.0-or-later

/* The flame graph widget: a scrolled area with the picture, a layer for the pointer and the
 * cursor, a search bar, and the line that describes the frame under the pointer. */

#include "app/charts/flame-private.h"

#include "app/widgets/cut-text.h"
#include "app/widgets/naming.h"
#include "app/widgets/row-menu.h"
#include "render/render.h"

#include <adwaita.h>
#include <glib/gi18n.h>

G_DEFINE_FINAL_TYPE (AppFlameArea, app_flame_area, GTK_TYPE_WIDGET)
G_DEFINE_FINAL_TYPE (AppFlame, app_flame, GTK_TYPE_WIDGET)

int
app_flame_get_height (AppFlame *self)
{
  return gtk_widget_get_height (self->area);
}

static GtkAdjustment *
get_adjustment (AppFlame *self)
{
  return gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->scroller));
}

static void
show_line (AppFlame *self, uint32_t node)
{
  g_autofree char *cut = NULL;
  const Flame *flame = &self->picture.flame;
  g_autofree char *text = node != 0 ? app_flame_picture_dup_text (&self->picture, node) : NULL;
  g_autofree char *binary =
      node != 0 ? sysprof_dup_one_line (sysprof_flame_text (flame, node, flame->binary)) : NULL;
  g_autofree char *where = node != 0 ? sysprof_flame_dup_location (flame, node) : NULL;
  g_autofree char *run = node != 0 && node == self->hovered
                             ? app_flame_picture_dup_run (&self->picture, node)
                             : NULL;
  g_autofree char *line = run != NULL ? g_steal_pointer (&run)
                          : node == 0
                              ? g_strdup (flame->title != NULL ? flame->title : "")
                              : g_strjoin ("  ·  ", text, binary[0] ? binary : where, NULL);

  cut = app_dup_cut_text (line);
  gtk_label_set_text (GTK_LABEL (self->line), cut);
}

static void
redraw (AppFlame *self)
{
  gtk_widget_queue_resize (self->area);
  gtk_widget_queue_draw (self->area);
  gtk_widget_queue_draw (self->hover);
}

static void
zoom_to (AppFlame *self, uint32_t node)
{
  const Flame *flame = &self->picture.flame;

  self->picture.zoomed = node;
  g_free (self->zoomed_name);
  self->zoomed_name =
      node != 0 ? g_strdup (sysprof_flame_text (flame, node, flame->symbol)) : NULL;
  self->hovered = 0;
  if (node != 0)
    app_session_choose (self->session, self->picture.result, node - 1);
  redraw (self);
}

/* --- area --- */

static void
app_flame_area_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AppFlame *flame = APP_FLAME_AREA (widget)->flame;

  if (flame->picture.result != NULL && gtk_widget_get_width (widget) > 0)
    {
      flame->picture.width = gtk_widget_get_width (widget);
      app_flame_picture_draw (&flame->picture, widget, snapshot,
                              gtk_widget_get_height (widget));
    }
  GTK_WIDGET_CLASS (app_flame_area_parent_class)->snapshot (widget, snapshot);
}

static void
app_flame_area_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  AppFlame *flame = APP_FLAME_AREA (widget)->flame;

  *minimum = *natural = orientation == GTK_ORIENTATION_VERTICAL && flame->picture.result != NULL
                            ? app_flame_picture_get_height (&flame->picture)
                            : 10;
}

static void
app_flame_area_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  app_cursor_allocate (APP_FLAME_AREA (widget)->cursor);
}

static void
app_flame_area_dispose (GObject *object)
{
  g_clear_pointer (&APP_FLAME_AREA (object)->cursor, app_cursor_free);
  G_OBJECT_CLASS (app_flame_area_parent_class)->dispose (object);
}

static void
app_flame_area_class_init (AppFlameAreaClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = app_flame_area_dispose;
  widget_class->snapshot = app_flame_area_snapshot;
  widget_class->measure = app_flame_area_measure;
  widget_class->size_allocate = app_flame_area_size_allocate;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LIST);
  gtk_widget_class_set_css_name (widget_class, "flamegraph");
}

static void
app_flame_area_init (AppFlameArea *self)
{
  self->cursor = app_cursor_new (GTK_WIDGET (self));
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
}

/* Lights the hovered frame and its callers. */
static void
draw_hover (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer data)
{
  AppFlame *self = data;

  cairo_set_source_rgba (cairo, 1, 1, 1, 0.35);
  for (uint32_t at = self->hovered; at != 0; at = self->picture.flame.tree.parent[at])
    {
      double x, frame_width;

      if (!app_flame_picture_place (&self->picture, at, &x, &frame_width))
        continue;
      cairo_rectangle (cairo, MAX (x, 0), app_flame_picture_get_y (&self->picture, at, height),
                       MAX (MIN (frame_width, width) - 1, 1), FLAME_ROW_HEIGHT - 1);
    }
  cairo_fill (cairo);
}

/* --- pointer and keys --- */

static void
on_motion (GtkEventControllerMotion *controller, double x, double y, AppFlame *self)
{
  uint32_t node;

  if (self->picture.result == NULL)
    return;
  node = app_flame_picture_find (&self->picture, x, y, app_flame_get_height (self));
  if (node == self->hovered)
    return;
  self->hovered = node;
  show_line (self, node != 0 ? node : self->cursor_at);
  gtk_widget_queue_draw (self->hover);
}

static gboolean
on_tooltip (GtkWidget *area,
            int x,
            int y,
            gboolean by_keys,
            GtkTooltip *tooltip,
            AppFlame *self)
{
  g_autofree char *text = NULL;

  if (self->picture.result == NULL || self->hovered == 0 || by_keys)
    return FALSE;
  text = app_flame_picture_dup_tooltip (&self->picture, self->hovered);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

static void
on_leave (GtkEventControllerMotion *controller, AppFlame *self)
{
  self->hovered = 0;
  gtk_widget_queue_draw (self->hover);
}

static void
on_click (GtkGestureClick *gesture, int n, double x, double y, AppFlame *self)
{
  gtk_widget_grab_focus (self->area);
  if (self->picture.result != NULL)
    zoom_to (self, app_flame_picture_find (&self->picture, x, y, app_flame_get_height (self)));
}

static void
move_cursor (AppFlame *self, uint32_t node)
{
  int y = app_flame_picture_get_y (&self->picture, node, app_flame_get_height (self));
  g_autofree char *text = app_flame_picture_dup_text (&self->picture, node);
  double x, width;
  GdkRectangle area;

  self->cursor_at = node;
  app_flame_picture_place (&self->picture, node, &x, &width);
  area = (GdkRectangle){ (int) MAX (x, 0), y, (int) MAX (MIN (width, self->picture.width), 2),
                         FLAME_ROW_HEIGHT - 1 };
  gtk_adjustment_clamp_page (get_adjustment (self), y - FLAME_ROW_HEIGHT,
                             y + 2 * FLAME_ROW_HEIGHT);
  show_line (self, node);
  app_cursor_move (APP_FLAME_AREA (self->area)->cursor, &area, text);
}

static uint32_t
find_previous_sibling (const RowTree *tree, uint32_t node)
{
  uint32_t at = tree->first_child[tree->parent[node]];

  if (at == node)
    return 0;
  while (tree->next_sibling[at] != node)
    at = tree->next_sibling[at];
  return at;
}

static gboolean
on_key (GtkEventControllerKey *controller,
        guint key,
        guint code,
        GdkModifierType state,
        AppFlame *self)
{
  const RowTree *tree = &self->picture.flame.tree;
  uint32_t at = self->cursor_at, to = 0;
  bool is_icicle = self->picture.is_icicle;

  if (self->picture.result == NULL || tree->n < 2 ||
      (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) != 0)
    return FALSE;
  if (at == 0)
    to = tree->first_child[self->picture.zoomed];
  else if (key == (is_icicle ? GDK_KEY_Down : GDK_KEY_Up))
    to = tree->first_child[at];
  else if (key == (is_icicle ? GDK_KEY_Up : GDK_KEY_Down))
    to = tree->parent[at];
  else if (key == GDK_KEY_Right)
    to = tree->next_sibling[at];
  else if (key == GDK_KEY_Left)
    to = find_previous_sibling (tree, at);
  else if (key == GDK_KEY_Return || key == GDK_KEY_space)
    zoom_to (self, to = at);
  else if (key == GDK_KEY_BackSpace)
    zoom_to (self, tree->parent[self->picture.zoomed]);
  else if (key == GDK_KEY_Escape && self->picture.zoomed != 0)
    zoom_to (self, 0);
  else
    return app_row_menu_press (self->session, self->picture.result, at - 1, key);
  if (to != 0)
    move_cursor (self, to);
  return TRUE;
}

/* --- rows --- */

static void
show_status (AppFlame *self, const char *title, const char *text)
{
  g_autofree char *cut = app_dup_cut_text (text);
  g_autofree char *escaped = g_markup_escape_text (cut, -1);

  adw_status_page_set_title (ADW_STATUS_PAGE (self->status), title);
  adw_status_page_set_description (ADW_STATUS_PAGE (self->status), escaped);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "status");
}

/* The widest frame of the function that was zoomed before. */
static uint32_t
find_zoomed (AppFlame *self)
{
  const Flame *flame = &self->picture.flame;
  uint32_t found = 0;

  for (uint32_t i = 1; self->zoomed_name != NULL && i < flame->tree.n; i++)
    if (g_str_equal (sysprof_flame_text (flame, i, flame->symbol), self->zoomed_name) &&
        (found == 0 || sysprof_flame_weight (flame, i) > sysprof_flame_weight (flame, found)))
      found = i;
  return found;
}

static gboolean
scroll_to_root (gpointer data)
{
  AppFlame *self = data;
  GtkAdjustment *adjustment = get_adjustment (self);

  self->scroll_idle = 0;
  gtk_adjustment_set_value (adjustment, gtk_adjustment_get_upper (adjustment));
  return G_SOURCE_REMOVE;
}

/* The root stays in sight when the height of the picture changes: after the allocation, which
 * must not scroll. */
static void
on_height_changed (GtkAdjustment *adjustment, GParamSpec *spec, AppFlame *self)
{
  if (self->is_at_root && !self->picture.is_icicle && self->scroll_idle == 0)
    self->scroll_idle = g_idle_add (scroll_to_root, self);
}

static void
on_scrolled (GtkAdjustment *adjustment, AppFlame *self)
{
  if (self->scroll_idle != 0)
    return;
  self->is_at_root =
      self->picture.is_icicle ||
      gtk_adjustment_get_value (adjustment) + gtk_adjustment_get_page_size (adjustment) >=
          gtk_adjustment_get_upper (adjustment) - 1;
}

static void
on_result (GtkWidget *widget, gpointer data, const GError *error)
{
  AppFlame *self = APP_FLAME (widget);
  g_autoptr (RowResult) result = data;
  g_autofree char *empty = NULL;

  app_flame_picture_clear (&self->picture);
  self->hovered = self->cursor_at = self->menu_at = 0;
  if (error != NULL)
    {
      show_status (self, _ ("Cannot Draw the Flame Graph"), error->message);
      return;
    }
  if (result->rows.n_rows == 0)
    {
      empty = sysprof_dup_emptiness (&result->request, &result->rows);
      show_status (self, _ ("No Stacks"), empty);
      return;
    }
  app_flame_picture_init (&self->picture, result);
  self->picture.zoomed = find_zoomed (self);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "graph");
  app_flame_apply_search (self);
  show_line (self, 0);
  redraw (self);
}

static void
refresh (AppFlame *self)
{
  app_query_run (self->query, &app_row_query_kind, self->session,
                 app_row_query_new (self->rows_query));
}

/* --- life --- */

static void
app_flame_dispose (GObject *object)
{
  AppFlame *self = APP_FLAME (object);
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self));

  g_clear_pointer (&self->query, app_query_free);
  g_clear_handle_id (&self->scroll_idle, g_source_remove);
  if (self->session != NULL)
    g_signal_handlers_disconnect_by_data (self->session, self);
  g_clear_pointer (&child, gtk_widget_unparent);
  app_flame_picture_clear (&self->picture);
  g_clear_pointer (&self->zoomed_name, g_free);
  g_clear_pointer (&self->rows_query, app_row_query_kind.free_input);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (app_flame_parent_class)->dispose (object);
}

static void
app_flame_class_init (AppFlameClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = app_flame_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  app_flame_class_add_actions (widget_class);
}

static void
add_controllers (AppFlame *self)
{
  GtkGesture *click = gtk_gesture_click_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  g_signal_connect (click, "released", G_CALLBACK (on_click), self);
  app_flame_add_menu (self);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  gtk_widget_set_has_tooltip (self->area, TRUE);
  g_signal_connect (self->area, "query-tooltip", G_CALLBACK (on_tooltip), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (self->area, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (self->area, motion);
  gtk_widget_add_controller (self->area, keys);
}

static void
app_flame_init (AppFlame *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *overlay = gtk_overlay_new ();

  self->query = app_query_new (GTK_WIDGET (self), on_result);
  self->area = g_object_new (APP_TYPE_FLAME_AREA, NULL);
  APP_FLAME_AREA (self->area)->flame = self;
  app_set_name (GTK_WIDGET (self->area), _ ("Flame graph"));
  self->hover = gtk_drawing_area_new ();
  gtk_widget_set_can_target (self->hover, FALSE);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->hover), draw_hover, self, NULL);
  gtk_overlay_set_child (GTK_OVERLAY (overlay), self->area);
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), self->hover);
  self->scroller = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->scroller), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scroller), overlay);
  self->is_at_root = true;
  g_signal_connect (get_adjustment (self), "notify::upper", G_CALLBACK (on_height_changed),
                    self);
  g_signal_connect (get_adjustment (self), "notify::page-size", G_CALLBACK (on_height_changed),
                    self);
  g_signal_connect (get_adjustment (self), "value-changed", G_CALLBACK (on_scrolled), self);
  self->status = adw_status_page_new ();
  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), self->scroller, "graph");
  gtk_stack_add_named (GTK_STACK (self->stack), self->status, "status");
  gtk_widget_set_vexpand (self->stack, TRUE);
  self->line = gtk_label_new (NULL);
  gtk_label_set_ellipsize (GTK_LABEL (self->line), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (self->line), 0);
  gtk_widget_add_css_class (self->line, "note");
  gtk_box_append (GTK_BOX (box), self->stack);
  app_search_init (&self->search, app_flame_apply_search, self);
  app_search_add_button (&self->search, _ ("Only Matching"), "view.only-matching");
  gtk_box_append (GTK_BOX (box), self->search.bar);
  gtk_box_append (GTK_BOX (box), self->line);
  gtk_widget_set_parent (box, GTK_WIDGET (self));
  add_controllers (self);
}

GtkWidget *
app_flame_new (AppSession *session, const RowQuery *query)
{
  AppFlame *self = g_object_new (APP_TYPE_FLAME, NULL);

  self->session = g_object_ref (session);
  self->rows_query = app_row_query_new (query);
  g_signal_connect_swapped (session, "selection-changed", G_CALLBACK (refresh), self);
  refresh (self);
  return GTK_WIDGET (self);
}
