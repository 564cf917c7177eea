// SPDX-License-Identifier: GPL-3.0-or-later

/* The window of a process: its address layout, mounts and threads; and the views that open
 * it. */

#include "app/charts/spans.h"
#include "app/panes/panes.h"
#include "app/sections/page.h"
#include "app/widgets/table.h"
#include "text/text.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#define WIDTH  800 /* px */
#define HEIGHT 600

static const SectionView process_views[] = {
  { "maps",
    N_ ("Address Layout"),
    "view-list-symbolic",
    { .view = "maps", .ignores_time = true, .ignores_shape = true },
    .columns = (const char *const[]){ "time", "begin", "end", "file", NULL },
    .titles = (const char *const[]){ N_ ("Time"), N_ ("Start Address"), N_ ("End Address"),
                                     N_ ("File"), NULL } },
  { "mounts",
    N_ ("Mounts"),
    "drive-harddisk-symbolic",
    { .view = "mounts", .ignores_time = true, .ignores_shape = true },
    .columns = (const char *const[]){ "id", "parent", "major", "minor", "mount-point", "source",
                                      "root", "type", "options", NULL } },
  { "threads",
    N_ ("Threads"),
    "system-run-symbolic",
    { .view = "threads", .ignores_time = true, .ignores_shape = true },
    .columns = (const char *const[]){ "tid", "main", "name", "total", NULL },
    .titles = (const char *const[]){ N_ ("Thread ID"), N_ ("Main Thread"), N_ ("Name"),
                                     N_ ("Samples"), NULL } },
};

static gboolean
close_window (GtkWidget *widget, GVariant *arguments, gpointer data)
{
  gtk_window_close (GTK_WINDOW (widget));
  return TRUE;
}

static void
add_close_key (GtkWidget *window)
{
  GtkEventController *keys = gtk_shortcut_controller_new ();

  gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new (gtk_shortcut_trigger_parse_string ("Escape|<Control>w"),
                        gtk_callback_action_new (close_window, NULL, NULL)));
  gtk_widget_add_controller (window, keys);
}

static GtkWidget *
make_views (AppSession *session, int32_t pid)
{
  GtkWidget *stack = adw_view_stack_new ();

  for (size_t i = 0; i < G_N_ELEMENTS (process_views); i++)
    {
      SectionView view = process_views[i];
      AdwViewStackPage *page;

      view.query.pid = pid;
      page = adw_view_stack_add_titled (ADW_VIEW_STACK (stack),
                                        app_section_table_new (session, &view), view.id,
                                        _ (view.title));
      adw_view_stack_page_set_icon_name (page, view.icon);
    }
  gtk_widget_set_vexpand (stack, TRUE);
  return stack;
}

static void
show_process (GtkWidget *parent, AppSession *session, int32_t pid)
{
  const Store *store = app_session_get_store (session);
  const Process *process = &store->processes.row[sysprof_store_find_process (store, pid)];
  g_autofree char *name = sysprof_dup_one_line (sysprof_store_string (store, process->comm));
  g_autofree char *command = sysprof_dup_one_line (sysprof_store_string (
      store, process->command_line ? process->command_line : process->comm));
  g_autofree char *line = g_strdup_printf (_ ("PID %d  ·  %s"), pid, command);
  GtkWidget *window = adw_window_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *header = gtk_header_bar_new ();
  GtkWidget *bar = adw_view_switcher_bar_new ();
  GtkWidget *stack = make_views (session, pid);

  gtk_header_bar_set_title_widget (GTK_HEADER_BAR (header), adw_window_title_new (name, line));
  adw_view_switcher_bar_set_stack (ADW_VIEW_SWITCHER_BAR (bar), ADW_VIEW_STACK (stack));
  adw_view_switcher_bar_set_reveal (ADW_VIEW_SWITCHER_BAR (bar), TRUE);
  gtk_box_append (GTK_BOX (box), header);
  gtk_box_append (GTK_BOX (box), stack);
  gtk_box_append (GTK_BOX (box), bar);
  adw_window_set_content (ADW_WINDOW (window), box);
  gtk_window_set_title (GTK_WINDOW (window), name);
  gtk_window_set_default_size (GTK_WINDOW (window), WIDTH, HEIGHT);
  gtk_window_set_transient_for (GTK_WINDOW (window), GTK_WINDOW (gtk_widget_get_root (parent)));
  gtk_window_set_destroy_with_parent (GTK_WINDOW (window), TRUE);
  add_close_key (window);
  gtk_window_present (GTK_WINDOW (window));
}

static void
on_bar_activated (AppSpans *chart, guint item, AppSession *session)
{
  show_process (GTK_WIDGET (chart), session,
                app_session_get_store (session)->processes.row[item].pid);
}

static void
on_row_activated (AppTable *table, guint row, AppSession *session)
{
  show_process (
      GTK_WIDGET (table), session,
      (int32_t) app_row_result_get_number (app_table_get_result (table), row, "pid", 0));
}

GtkWidget *
app_process_chart_new (AppSession *session, const SectionView *view)
{
  GtkWidget *chart = app_span_view_new (session, view);

  g_signal_connect (chart, "activated", G_CALLBACK (on_bar_activated), session);
  return chart;
}

GtkWidget *
app_process_table_new (AppSession *session, const SectionView *view)
{
  GtkWidget *table = app_section_table_new (session, view);

  g_signal_connect (table, "activated", G_CALLBACK (on_row_activated), session);
  return table;
}
