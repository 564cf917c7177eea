// SPDX-License-Identifier: GPL-3.0-or-later

/* The list of running processes: a switch for the whole system, and a searchable list of check
 * boxes. */

#include "app/recording/greeter-rows.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#define LIST_HEIGHT 220 /* px */

typedef struct
{
  GtkWidget *whole; /* GtkSwitch */
  GtkWidget *rows;  /* GtkListBox */
  GtkWidget *search;
  GArray *chosen; /* at first */
} Picker;

static void
picker_free (gpointer data)
{
  Picker *self = data;

  g_array_unref (self->chosen);
  g_free (self);
}

static char *
dup_command (int pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/cmdline", pid);
  g_autofree char *text = NULL;
  size_t size;

  if (!g_file_get_contents (path, &text, &size, NULL) || size == 0)
    return NULL;
  for (size_t i = 0; i + 1 < size; i++)
    if (text[i] == '\0')
      text[i] = ' ';
  return g_utf8_make_valid (text, -1);
}

static void
add_process (GtkWidget *rows, int pid, bool is_chosen)
{
  g_autofree char *command = dup_command (pid);
  g_autofree char *title = NULL;
  g_autofree char *subtitle = g_strdup_printf ("%d", pid);
  GtkWidget *row, *check;

  if (command == NULL) /* a thread of the kernel */
    return;
  row = adw_action_row_new ();
  check = gtk_check_button_new ();
  title = g_markup_escape_text (command, -1);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (check), is_chosen);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), check);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), check);
  g_object_set_data (G_OBJECT (row), "pid", GINT_TO_POINTER (pid));
  g_object_set_data (G_OBJECT (row), "check", check);
  g_object_set_data_full (G_OBJECT (row), "command", g_utf8_casefold (command, -1), g_free);
  gtk_list_box_append (GTK_LIST_BOX (rows), row);
}

static bool
has_pid (const GArray *pids, int pid)
{
  for (guint i = 0; i < pids->len; i++)
    if (g_array_index (pids, int, i) == pid)
      return true;
  return false;
}

static void
list_processes (Picker *self)
{
  g_autoptr (GDir) folder = g_dir_open ("/proc", 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    if (g_ascii_isdigit (name[0]))
      add_process (self->rows, atoi (name), has_pid (self->chosen, atoi (name)));
}

static gboolean
matches (GtkListBoxRow *row, gpointer data)
{
  Picker *self = data;
  g_autofree char *text =
      g_utf8_casefold (gtk_editable_get_text (GTK_EDITABLE (self->search)), -1);

  return strstr (g_object_get_data (G_OBJECT (row), "command"), text) != NULL;
}

static void
on_whole (GtkSwitch *widget, GParamSpec *spec, Picker *self)
{
  bool is_whole = gtk_switch_get_active (widget);

  if (!is_whole && gtk_widget_get_first_child (self->rows) == NULL)
    list_processes (self);
}

GtkWidget *
app_process_picker_new (JsonObject *settings)
{
  GtkWidget *group = adw_preferences_group_new ();
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  Picker *self = g_new0 (Picker, 1);

  self->whole = gtk_switch_new ();
  self->rows = gtk_list_box_new ();
  self->search = gtk_search_entry_new ();
  self->chosen = app_settings_dup_pids (settings);
  g_object_set (self->search, "placeholder-text", _ ("Search processes"), NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->search), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Search processes"), -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->rows), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Processes"), -1);
  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _ ("Processes"));
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ ("Profile my Entire System"));
  gtk_switch_set_active (GTK_SWITCH (self->whole), self->chosen->len == 0);
  if (self->chosen->len > 0)
    list_processes (self);
  gtk_widget_set_valign (self->whole, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), self->whole);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), self->whole);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);

  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->rows), GTK_SELECTION_NONE);
  gtk_list_box_set_filter_func (GTK_LIST_BOX (self->rows), matches, self, NULL);
  gtk_widget_add_css_class (self->rows, "boxed-list");
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->rows);
  gtk_scrolled_window_set_min_content_height (GTK_SCROLLED_WINDOW (scroller), LIST_HEIGHT);
  gtk_widget_set_margin_top (box, 12);
  gtk_box_append (GTK_BOX (box), self->search);
  gtk_box_append (GTK_BOX (box), scroller);
  g_object_bind_property (self->whole, "active", box, "visible",
                          G_BINDING_INVERT_BOOLEAN | G_BINDING_SYNC_CREATE);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), box);
  g_signal_connect (self->whole, "notify::active", G_CALLBACK (on_whole), self);
  g_signal_connect_swapped (self->search, "search-changed",
                            G_CALLBACK (gtk_list_box_invalidate_filter), self->rows);
  g_object_set_data_full (G_OBJECT (group), "picker", self, picker_free);
  return group;
}

bool
app_process_picker_get_pids (GtkWidget *picker, GArray *pids)
{
  Picker *self = g_object_get_data (G_OBJECT (picker), "picker");
  GtkWidget *row = gtk_widget_get_first_child (self->rows);

  if (gtk_switch_get_active (GTK_SWITCH (self->whole)))
    return true;
  for (; row != NULL; row = gtk_widget_get_next_sibling (row))
    {
      GtkWidget *check = g_object_get_data (G_OBJECT (row), "check");
      int pid = GPOINTER_TO_INT (g_object_get_data (G_OBJECT (row), "pid"));

      if (gtk_check_button_get_active (GTK_CHECK_BUTTON (check)))
        g_array_append_val (pids, pid);
    }
  return pids->len > 0;
}
