// SPDX-License-Identifier: GPL-3.0-or-later

/* The sidebar: sections in groups, with the number of their events, dimmed without data. */

#include "app/main/window-parts.h"

#include "app/widgets/naming.h"
#include "text/text.h"

#include <glib/gi18n.h>

#define ROW_HEIGHT 30 /* px */

typedef struct
{
  void (*choose) (AppWindow *window, const Section *section);
  AppWindow *window;
} Sidebar;

static void
on_row_selected (GtkListBox *list, GtkListBoxRow *row, Sidebar *self)
{
  if (row != NULL)
    self->choose (self->window, g_object_get_data (G_OBJECT (row), "section"));
}

static void
add_separator (GtkListBoxRow *row, GtkListBoxRow *before, gpointer data)
{
  const Section *section = g_object_get_data (G_OBJECT (row), "section");
  const Section *last = before ? g_object_get_data (G_OBJECT (before), "section") : section;
  bool is_first = section->group != last->group;

  gtk_list_box_row_set_header (row, is_first ? gtk_separator_new (GTK_ORIENTATION_HORIZONTAL)
                                             : NULL);
}

/* 91234 → "91 k" */
static char *
dup_short_count (uint64_t n)
{
  char grouped[SYSPROF_GROUPED_SIZE];

  if (n >= 10000000)
    return g_strdup_printf ("%u M", (unsigned) (n / 1000000));
  if (n >= 10000)
    return g_strdup_printf ("%u k", (unsigned) (n / 1000));
  return g_strdup (sysprof_format_grouped (n, grouped));
}

static GtkWidget *
make_row (const Section *section, uint64_t n)
{
  GtkWidget *row = gtk_list_box_row_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *label = gtk_label_new (_ (section->title));
  g_autofree char *count = dup_short_count (n);
  GtkWidget *badge = gtk_label_new (section->has_badge && n > 0 ? count : NULL);

  gtk_widget_set_size_request (box, -1, ROW_HEIGHT);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_add_css_class (badge, "dim-label");
  gtk_widget_add_css_class (badge, "numeric");
  gtk_widget_add_css_class (badge, "caption");
  gtk_box_append (GTK_BOX (box), gtk_image_new_from_icon_name (section->icon));
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), badge);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  if (n == 0)
    gtk_widget_set_opacity (box, 0.5);
  g_object_set_data (G_OBJECT (row), "section", (gpointer) section);
  app_set_name (GTK_WIDGET (row), _ (section->title));
  return row;
}

GtkWidget *
app_sidebar_new (AppSession *session,
                 void (*choose) (AppWindow *window, const Section *section),
                 AppWindow *window)
{
  GtkWidget *list = gtk_list_box_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  Sidebar *self = g_new0 (Sidebar, 1);

  *self = (Sidebar){ choose, window };
  for (size_t i = 0; app_sections[i] != NULL; i++)
    gtk_list_box_append (
        GTK_LIST_BOX (list),
        make_row (app_sections[i], app_sections[i]->count (app_session_get_store (session))));
  gtk_list_box_set_header_func (GTK_LIST_BOX (list), add_separator, NULL, NULL);
  gtk_widget_add_css_class (list, "navigation-sidebar");
  app_set_name (GTK_WIDGET (list), _ ("Sections"));
  g_object_set_data_full (G_OBJECT (list), "sidebar", self, g_free);
  g_signal_connect (list, "row-selected", G_CALLBACK (on_row_selected), self);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), list);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_widget_set_size_request (box, 228, -1);
  gtk_widget_add_css_class (box, "sidebar-box");
  gtk_widget_add_css_class (box, "background"); /* it may be over the view */
  gtk_box_append (GTK_BOX (box), scroller);
  gtk_box_append (GTK_BOX (box), app_navigation_new ());
  g_object_set_data (G_OBJECT (box), "list", list);
  return box;
}

void
app_sidebar_select (GtkWidget *sidebar, const Section *section)
{
  GtkListBox *list = g_object_get_data (G_OBJECT (sidebar), "list");

  for (int i = 0; app_sections[i] != NULL; i++)
    if (app_sections[i] == section)
      gtk_list_box_select_row (list, gtk_list_box_get_row_at_index (list, i));
}

GtkWidget *
app_navigation_new (void)
{
  static const struct
  {
    const char *icon;
    const char *title;
    const char *action;
  } buttons[] = {
    { "media-seek-backward-symbolic", N_ ("Seek Backward"), "win.seek-backward" },
    { "zoom-out-symbolic", N_ ("Zoom Out"), "win.zoom-out" },
    { "zoom-original-symbolic", N_ ("Reset Zoom"), "win.zoom-reset" },
    { "zoom-in-symbolic", N_ ("Zoom In"), "win.zoom-in" },
    { "media-seek-forward-symbolic", N_ ("Seek Forward"), "win.seek-forward" },
  };
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  gtk_widget_add_css_class (box, "linked");
  gtk_widget_add_css_class (box, "navigation");
  gtk_box_set_homogeneous (GTK_BOX (box), TRUE);
  for (size_t i = 0; i < G_N_ELEMENTS (buttons); i++)
    {
      GtkWidget *button = gtk_button_new_from_icon_name (buttons[i].icon);

      gtk_actionable_set_action_name (GTK_ACTIONABLE (button), buttons[i].action);
      gtk_widget_set_tooltip_text (button, _ (buttons[i].title));
      app_set_name (GTK_WIDGET (button), _ (buttons[i].title));
      gtk_box_append (GTK_BOX (box), button);
    }
  return box;
}
