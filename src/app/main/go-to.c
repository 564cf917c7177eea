// SPDX-License-Identifier: GPL-3.0-or-later

/* The dialog that finds functions, processes, marks, counters, files, sections and commands by
 * name. */

#include "app/main/go-to.h"

#include "app/main/shortcuts.h"
#include "app/sections/sections.h"
#include "app/widgets/naming.h"
#include "views/tracks/tracks.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#define WIDTH      520 /* px */
#define HEIGHT     420
#define MOST_FOUND 50
#define SECTION    "section" /* kind of rows of sections */
#define COMMAND    "command" /* kind of rows of actions */

typedef struct
{
  AppSession *session;
  AppQuery *query;
  GtkWidget *window, *entry, *list;
  bool adds_filter;
} GoTo;

/* Where a kind of found names leads. It sets a filter, or searches for the name there. */
static const struct
{
  const char *kind;
  const char *title;
  const char *filter; /* NULL = none */
  bool searches;
  const char *section, *view;
} targets[] = {
  { "symbol", N_ ("Function"), "symbol", false, "time-profiler", "callgraph" },
  { "binary", N_ ("Binary"), "binary", false, "time-profiler", "callgraph" },
  { "process", N_ ("Process"), "process", false, "time-profiler", "callgraph" },
  { "mark", N_ ("Mark"), NULL, true, "marks", "table" },
  { "mark-message", N_ ("Mark message"), NULL, true, "marks", "table" },
  { "counter", N_ ("Counter"), NULL, true, "other", "chart" },
  { "log", N_ ("Log"), NULL, true, "logs", "logs" },
  { "dbus", N_ ("D-Bus"), NULL, true, "dbus", "messages" },
  { "file", N_ ("File"), NULL, true, "files", "files" },
  { "metadata", N_ ("Metadata"), NULL, true, "metadata", "metadata" },
};

static void
go_to_free (gpointer data)
{
  GoTo *self = data;

  app_query_free (self->query);
  g_object_unref (self->session);
  g_free (self);
}

static void
add_row (GoTo *self, const char *kind, const char *title, const char *name, const char *where)
{
  GtkWidget *row = gtk_list_box_row_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *label = gtk_label_new (name), *dim = gtk_label_new (title);
  g_autofree char *text = g_strdup_printf ("%s, %s", name, title);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_add_css_class (dim, "dim-label");
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), dim);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  g_object_set_data_full (G_OBJECT (row), "kind", g_strdup (kind), g_free);
  g_object_set_data_full (G_OBJECT (row), "name", g_strdup (name), g_free);
  g_object_set_data_full (G_OBJECT (row), "where", g_strdup (where), g_free);
  app_set_name (row, text);
  gtk_list_box_append (GTK_LIST_BOX (self->list), row);
}

static const char *
get_text (GoTo *self)
{
  return gtk_editable_get_text (GTK_EDITABLE (self->entry));
}

static void
clear (GoTo *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (self->list)) != NULL)
    gtk_list_box_remove (GTK_LIST_BOX (self->list), child);
}

static bool
fits (GoTo *self, const char *title)
{
  g_autofree char *wanted = g_utf8_casefold (get_text (self), -1);
  g_autofree char *folded = g_utf8_casefold (title, -1);

  return strstr (folded, wanted) != NULL;
}

static void
add_sections (GoTo *self)
{
  for (size_t i = 0; !self->adds_filter && app_sections[i] != NULL; i++)
    if (fits (self, _ (app_sections[i]->title)))
      add_row (self, SECTION, _ ("Section"), _ (app_sections[i]->title), app_sections[i]->id);
}

/* Those of sections are there already. */
static void
add_commands (GoTo *self)
{
  const char *title, *action;

  for (size_t i = 0; !self->adds_filter && app_shortcuts_get (i, &title, &action); i++)
    if (action[0] != '\0' && !g_str_has_prefix (action, "win.section") && fits (self, title))
      add_row (self, COMMAND, _ ("Command"), title, action);
}

/* The section whose track has the counters of a category. */
static const char *
find_section_of_counter (const char *category)
{
  for (size_t i = 0; app_sections[i] != NULL; i++)
    for (const char *const *track = app_sections[i]->tracks; track && *track; track++)
      if (app_sections[i]->group == SECTIONS_COUNTERS &&
          g_str_has_prefix (*track, "counters:") &&
          sysprof_counter_is_in_track (*track, category))
        return app_sections[i]->id;
  return "other";
}

static void
on_found (GtkWidget *window, gpointer data, const GError *error)
{
  GoTo *self = g_object_get_data (G_OBJECT (window), "go-to");
  g_autoptr (RowResult) result = data;

  if (error != NULL)
    return;
  clear (self);
  add_sections (self);
  for (uint32_t row = 0; row < result->rows.n_rows; row++)
    {
      g_autofree char *kind = app_row_result_dup_cell (result, row, "kind");
      g_autofree char *name = app_row_result_dup_cell (result, row, "name");
      g_autofree char *where = app_row_result_dup_cell (result, row, "where");

      for (size_t i = 0; i < G_N_ELEMENTS (targets); i++)
        if (g_str_equal (targets[i].kind, kind) &&
            (!self->adds_filter || targets[i].filter != NULL))
          add_row (self, kind, _ (targets[i].title), name, where);
    }
  add_commands (self);
}

static void
search (GoTo *self)
{
  RowQuery query = {
    .view = "search", .search = get_text (self), .ignores_shape = true, .limit = MOST_FOUND
  };

  if (query.search[0] != '\0')
    {
      app_query_run (self->query, &app_row_query_kind, self->session,
                     app_row_query_new (&query));
      return;
    }
  app_query_cancel (self->query);
  clear (self);
  add_sections (self);
  add_commands (self);
}

static void
go_to_target (GoTo *self, GtkWidget *window, size_t i, const char *name, const char *where)
{
  const char *section = targets[i].section;

  if (g_str_equal (targets[i].kind, "counter"))
    section = find_section_of_counter (where);
  if (g_str_equal (targets[i].kind, "symbol") && !self->adds_filter)
    app_session_set_root (self->session, name);
  else if (targets[i].filter != NULL)
    app_session_add_filter (self->session, targets[i].filter, name);
  if (self->adds_filter)
    return;
  app_session_open (self->session, section, targets[i].view);
  if (targets[i].searches)
    gtk_widget_activate_action (window, "win.search", "s", name);
}

static void
go (GtkListBox *list, GtkListBoxRow *row, GoTo *self)
{
  GtkWidget *window = GTK_WIDGET (gtk_window_get_transient_for (GTK_WINDOW (self->window)));
  const char *kind = g_object_get_data (G_OBJECT (row), "kind");
  const char *name = g_object_get_data (G_OBJECT (row), "name");
  const char *where = g_object_get_data (G_OBJECT (row), "where");
  g_autoptr (GVariant) target = NULL;
  g_autofree char *action = NULL;

  if (g_str_equal (kind, SECTION))
    app_session_open (self->session, where, "");
  else if (!g_str_equal (kind, COMMAND))
    {
      for (size_t i = 0; i < G_N_ELEMENTS (targets); i++)
        if (g_str_equal (targets[i].kind, kind))
          go_to_target (self, window, i, name, where);
    }
  else if (g_action_parse_detailed_name (where, &action, &target, NULL))
    gtk_widget_activate_action_variant (window, action, target);
  gtk_window_destroy (GTK_WINDOW (self->window));
}

/* Enter takes the first row. */
static void
on_entry_activate (GtkSearchEntry *entry, GoTo *self)
{
  GtkListBoxRow *row = gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), 0);

  if (row != NULL)
    go (GTK_LIST_BOX (self->list), row, self);
}

void
app_go_to_show (GtkWindow *parent, AppSession *session, bool adds_filter)
{
  GoTo *self = g_new0 (GoTo, 1);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *scroller = gtk_scrolled_window_new (), *header = adw_header_bar_new ();

  self->session = g_object_ref (session);
  self->adds_filter = adds_filter;
  self->window = adw_window_new ();
  self->entry = gtk_search_entry_new ();
  self->list = gtk_list_box_new ();
  g_object_set_data_full (G_OBJECT (self->window), "go-to", self, go_to_free);
  self->query = app_query_new (self->window, on_found);
  gtk_widget_set_hexpand (self->entry, TRUE);
  app_set_name (self->entry, _ ("Name"));
  app_set_name (self->list, _ ("Found"));
  adw_header_bar_set_title_widget (ADW_HEADER_BAR (header), self->entry);
  adw_header_bar_set_show_end_title_buttons (ADW_HEADER_BAR (header), FALSE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->list);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_box_append (GTK_BOX (box), header);
  gtk_box_append (GTK_BOX (box), scroller);
  g_signal_connect_swapped (self->entry, "search-changed", G_CALLBACK (search), self);
  g_signal_connect (self->entry, "activate", G_CALLBACK (on_entry_activate), self);
  g_signal_connect_swapped (self->entry, "stop-search", G_CALLBACK (gtk_window_close),
                            self->window);
  g_signal_connect (self->list, "row-activated", G_CALLBACK (go), self);
  gtk_window_set_title (GTK_WINDOW (self->window),
                        adds_filter ? _ ("Add Filter") : _ ("Go To"));
  gtk_window_set_transient_for (GTK_WINDOW (self->window), parent);
  gtk_window_set_modal (GTK_WINDOW (self->window), TRUE);
  gtk_window_set_default_size (GTK_WINDOW (self->window), WIDTH, HEIGHT);
  adw_window_set_content (ADW_WINDOW (self->window), box);
  search (self);
  gtk_window_present (GTK_WINDOW (self->window));
  gtk_widget_grab_focus (self->entry);
}
