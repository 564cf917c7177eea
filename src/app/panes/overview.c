// SPDX-License-Identifier: GPL-3.0-or-later

/* The overview: facts about the recording, findings, and the busiest processes and functions. A
 * finding is a link: it sets the focus and opens the view that shows more. */

#include "app/panes/panes.h"
#include "app/widgets/button.h"
#include "app/widgets/cut-text.h"
#include "app/widgets/naming.h"
#include "app/widgets/row-actions.h"
#include "app/widgets/table.h"
#include "render/render.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#define COMMAND_PREFIX "sysprof-report "
#define FACT_NAME_SIZE 9   /* of sysprof_dup_machine_facts() */
#define MOST_ROWS      6   /* of tables */
#define TABLE_HEIGHT   176 /* px for these */
#define LEAST_WIDTH    200
#define MOST_LETTERS   40 /* of lines of text, if there is no more room */
#define MOST_WIDTH     1200

typedef struct
{
  AppSession *session;
  AppQuery *facts_query, *findings_query, *report_query;
  GtkWidget *page, *facts, *findings, *copy;
  RowResult *result; /* of the findings */
} Overview;

/* The view of the application for a view of sysprof-report. */
static const struct
{
  const char *view;
  const char *section;
  const char *page;
} targets[] = {
  { "functions", "time-profiler", "callgraph" },
  { "tree", "time-profiler", "callgraph" },
  { "callers", "time-profiler", "callgraph" },
  { "callees", "time-profiler", "callgraph" },
  { "flame", "time-profiler", "flame" },
  { "samples", "time-profiler", "samples" },
  { "source", "time-profiler", "source" },
  { "disassembly", "time-profiler", "disassembly" },
  { "waits", "time-profiler", "waits" },
  { "quality", "time-profiler", "quality" },
  { "heat", "time-profiler", "callgraph" },
  { "processes", "processes", "processes" },
  { "threads", "processes", "threads" },
  { "cgroups", "processes", "cgroups" },
  { "cpus", "cpu", "cpus" },
  { "marks", "marks", "summary" },
  { "counters", "cpu", "chart" },
  { "logs", "logs", "logs" },
  { "dbus", "dbus", "summary" },
  { "allocations", "memory", "allocations" },
  { "leaks", "memory", "leaks" },
  { "temporaries", "memory", "temporaries" },
  { "metadata", "metadata", "metadata" },
};

static void
overview_free (gpointer data)
{
  Overview *self = data;

  g_signal_handlers_disconnect_by_data (self->session, self);
  g_object_unref (self->session);
  app_query_free (self->facts_query);
  app_query_free (self->report_query);
  app_query_free (self->findings_query);
  g_clear_pointer (&self->result, app_row_result_unref);
  g_free (self);
}

static Overview *
overview_of (GtkWidget *page)
{
  return g_object_get_data (G_OBJECT (page), "overview");
}

/* --- facts --- */

static gpointer
list_facts (const ViewRequest *request, gconstpointer input, GError **error)
{
  ViewRequest facts = *request;

  facts.selection = NULL; /* the chips show it */
  return sysprof_dup_machine_facts (&facts);
}

static const QueryKind facts_kind = { .fill = list_facts,
                                      .free_result = (GDestroyNotify) g_strfreev };

static GtkWidget *
make_label (const char *text, bool is_name)
{
  g_autofree char *cut = app_dup_cut_text (text);
  GtkWidget *label = gtk_label_new (cut);

  gtk_label_set_xalign (GTK_LABEL (label), is_name ? 1 : 0);
  gtk_label_set_yalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), !is_name);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_max_width_chars (GTK_LABEL (label), MOST_LETTERS);
  gtk_label_set_selectable (GTK_LABEL (label), !is_name);
  gtk_widget_set_hexpand (label, !is_name);
  if (is_name)
    gtk_widget_add_css_class (label, "dim-label");
  return label;
}

static void
on_facts (GtkWidget *page, gpointer data, const GError *error)
{
  Overview *self = overview_of (page);
  g_auto (GStrv) facts = data;
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (self->facts)) != NULL)
    gtk_grid_remove (GTK_GRID (self->facts), child);
  for (int i = 0; facts != NULL && facts[i] != NULL; i++)
    {
      g_autofree char *name = g_strndup (facts[i], FACT_NAME_SIZE);

      gtk_grid_attach (GTK_GRID (self->facts), make_label (g_strstrip (name), true), 0, i, 1,
                       1);
      gtk_grid_attach (
          GTK_GRID (self->facts),
          make_label (g_strchug (facts[i] + MIN (strlen (facts[i]), FACT_NAME_SIZE)), false), 1,
          i, 1, 1);
    }
}

/* --- report --- */

static gpointer
render_summary (const ViewRequest *request, gconstpointer input, GError **error)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  bool is_done = sysprof_render_view (sysprof_view_find ("summary"), RENDER_TEXT, request,
                                      stream, error) &&
                 g_output_stream_write_all (stream, "", 1, NULL, NULL, error) &&
                 g_output_stream_close (stream, NULL, error);

  return is_done ? g_memory_output_stream_steal_data (G_MEMORY_OUTPUT_STREAM (stream)) : NULL;
}

static const QueryKind report_kind = { .fill = render_summary, .free_result = g_free };

static void
on_report (GtkWidget *page, gpointer data, const GError *error)
{
  GtkWidget *overlay = gtk_widget_get_ancestor (page, ADW_TYPE_TOAST_OVERLAY);
  g_autofree char *text = data;

  if (text != NULL)
    gdk_clipboard_set_text (gtk_widget_get_clipboard (page), text);
  if (overlay != NULL)
    adw_toast_overlay_add_toast (
        ADW_TOAST_OVERLAY (overlay),
        adw_toast_new (text != NULL ? _ ("Summary copied") : error->message));
}

static void
copy_report (Overview *self)
{
  app_query_run (self->report_query, &report_kind, self->session, NULL);
}

/* --- findings --- */

static void
follow (GtkListBox *list, GtkListBoxRow *row, Overview *self)
{
  uint32_t i = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (row), "row"));
  const Rows *rows = &self->result->rows;
  g_autofree char *command = app_row_result_dup_cell (self->result, i, "command");
  int selection = sysprof_rows_column (rows, "selection");
  const char *const *options = sysprof_rows_cells (rows, i)[selection].texts;
  const char *view = command + strlen (COMMAND_PREFIX);
  Focus *focus = app_session_copy_focus (self->session);

  for (size_t at = 0; options != NULL && options[at] != NULL; at += 2)
    app_focus_set_option (focus, options[at], options[at + 1]);
  app_session_push (self->session, focus);
  for (size_t at = 0; at < G_N_ELEMENTS (targets); at++)
    if (g_str_has_prefix (view, targets[at].view) &&
        strchr (" ", view[strlen (targets[at].view)]) != NULL)
      {
        app_session_open (self->session, targets[at].section, targets[at].page);
        return;
      }
}

static void
add_finding (Overview *self, uint32_t i)
{
  g_autofree char *text = app_row_result_dup_cell (self->result, i, "text");
  g_autofree char *command = app_row_result_dup_cell (self->result, i, "command");
  bool is_link = g_str_has_prefix (command, COMMAND_PREFIX);
  GtkWidget *row = gtk_list_box_row_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *label = make_label (text, false);

  gtk_label_set_selectable (GTK_LABEL (label), FALSE);
  gtk_label_set_yalign (GTK_LABEL (label), 0.5f);
  gtk_box_append (GTK_BOX (box), label);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), is_link);
  if (is_link)
    {
      g_autofree char *cut = app_dup_cut_text (command);

      gtk_widget_set_tooltip_text (row, cut);
      gtk_box_append (GTK_BOX (box), gtk_image_new_from_icon_name ("go-next-symbolic"));
    }
  g_object_set_data (G_OBJECT (row), "row", GUINT_TO_POINTER (i));
  app_set_name (GTK_WIDGET (row), text);
  gtk_list_box_append (GTK_LIST_BOX (self->findings), row);
}

static void
on_findings (GtkWidget *page, gpointer data, const GError *error)
{
  Overview *self = overview_of (page);
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (self->findings)) != NULL)
    gtk_list_box_remove (GTK_LIST_BOX (self->findings), child);
  g_clear_pointer (&self->result, app_row_result_unref);
  self->result = data;
  for (uint32_t i = 0; self->result != NULL && i < self->result->rows.n_rows; i++)
    add_finding (self, i);
  gtk_widget_set_visible (self->findings, gtk_widget_get_first_child (self->findings) != NULL);
}

static void
refresh (Overview *self)
{
  RowQuery findings = { .view = "findings", .ignores_shape = true };

  app_query_run (self->facts_query, &facts_kind, self->session, NULL);
  app_query_run (self->findings_query, &app_row_query_kind, self->session,
                 app_row_query_new (&findings));
}

/* --- page --- */

static void
on_process (AppTable *table, guint row, Overview *self)
{
  g_autofree char *pid = app_row_result_dup_cell (app_table_get_result (table), row, "pid");

  app_session_add_filter (self->session, "process", pid);
  app_session_open (self->session, "time-profiler", "callgraph");
}

static void
on_function (AppTable *table, guint row, Overview *self)
{
  const char *function = app_row_get_function (app_table_get_result (table), row);

  if (function != NULL)
    app_session_set_root (self->session, function);
  app_session_open (self->session, "time-profiler", "callgraph");
}

static void
on_mark (AppTable *table, guint row, Overview *self)
{
  app_session_open (self->session, "marks", "summary");
}

static GtkWidget *
make_heading (const char *text)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "heading");
  return label;
}

/* A title, and below it the child in a frame. */
static GtkWidget *
make_card (const char *title, GtkWidget *child)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);

  gtk_widget_add_css_class (child, "card");
  gtk_widget_set_overflow (child, GTK_OVERFLOW_HIDDEN);
  gtk_box_append (GTK_BOX (box), make_heading (title));
  gtk_box_append (GTK_BOX (box), child);
  return box;
}

static GtkWidget *
make_table (Overview *self,
            const RowQuery *query,
            const char *title,
            const char *const *columns,
            GCallback on_activated)
{
  GtkWidget *table = app_table_new (self->session, query, title);

  app_table_set_columns (APP_TABLE (table), columns);
  g_signal_connect (table, "activated", on_activated, self);
  gtk_widget_set_size_request (table, LEAST_WIDTH, TABLE_HEIGHT);
  return make_card (title, table);
}

static GtkWidget *
make_column (GtkWidget *first, GtkWidget *second, GtkWidget *third)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 18);

  gtk_box_append (GTK_BOX (box), first);
  gtk_box_append (GTK_BOX (box), second);
  if (third != NULL)
    gtk_box_append (GTK_BOX (box), third);
  return box;
}

/* Two columns of cards, one below the other where there is no room for both. */
static GtkWidget *
make_cards (Overview *self)
{
  static const char *const processes_columns[] = { "command", "pid", "total", NULL };
  static const char *const functions_columns[] = { "symbol", "self", NULL };
  static const char *const marks_columns[] = { "name", "count", "median", "max", NULL };
  static const char *const by_name[] = { "by-name", NULL };
  RowQuery processes = { .view = "processes", .limit = MOST_ROWS, .ignores_shape = true };
  RowQuery functions = { .view = "functions", .limit = MOST_ROWS, .root = "" };
  RowQuery marks = { .view = "marks",
                     .switches = by_name,
                     .limit = MOST_ROWS,
                     .ignores_shape = true,
                     .sort = "max" };
  GtkWidget *box = gtk_flow_box_new ();
  bool has_marks = app_session_get_store (self->session)->n_marks > 0;

  gtk_flow_box_set_homogeneous (GTK_FLOW_BOX (box), TRUE);
  gtk_flow_box_set_max_children_per_line (GTK_FLOW_BOX (box), 2);
  gtk_flow_box_set_column_spacing (GTK_FLOW_BOX (box), 18);
  gtk_flow_box_set_row_spacing (GTK_FLOW_BOX (box), 18);
  gtk_flow_box_set_selection_mode (GTK_FLOW_BOX (box), GTK_SELECTION_NONE);
  gtk_flow_box_append (GTK_FLOW_BOX (box),
                       make_column (make_card (_ ("This Recording"), self->facts),
                                    make_table (self, &processes, _ ("Busiest Processes"),
                                                processes_columns, G_CALLBACK (on_process)),
                                    make_table (self, &functions, _ ("Busiest Functions"),
                                                functions_columns, G_CALLBACK (on_function))));
  gtk_flow_box_append (GTK_FLOW_BOX (box),
                       make_column (make_card (_ ("Needs Attention"), self->findings),
                                    has_marks ? make_table (self, &marks, _ ("Slowest Marks"),
                                                            marks_columns, G_CALLBACK (on_mark))
                                              : self->copy,
                                    has_marks ? self->copy : NULL));
  return box;
}

GtkWidget *
app_overview_new (AppSession *session, const SectionView *view)
{
  Overview *self = g_new0 (Overview, 1);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *clamp = adw_clamp_new ();
  GtkWidget *copy = app_button_new (_ ("_Copy for a Bug Report"), NULL);

  self->session = g_object_ref (session);
  self->page = gtk_scrolled_window_new ();
  self->facts = gtk_grid_new ();
  gtk_grid_set_column_spacing (GTK_GRID (self->facts), 12);
  gtk_grid_set_row_spacing (GTK_GRID (self->facts), 3);
  self->findings = gtk_list_box_new ();
  gtk_widget_add_css_class (self->facts, "facts");
  gtk_widget_add_css_class (self->findings, "findings");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->findings), GTK_SELECTION_NONE);
  app_set_name (GTK_WIDGET (self->findings), _ ("Findings"));
  g_signal_connect (self->findings, "row-activated", G_CALLBACK (follow), self);
  gtk_widget_add_css_class (box, "overview");
  gtk_widget_set_halign (copy, GTK_ALIGN_START);
  gtk_widget_set_tooltip_text (copy, _ ("Copies the summary as text"));
  g_signal_connect_swapped (copy, "clicked", G_CALLBACK (copy_report), self);
  self->copy = copy;
  gtk_box_append (GTK_BOX (box), make_cards (self));
  adw_clamp_set_maximum_size (ADW_CLAMP (clamp), MOST_WIDTH);
  adw_clamp_set_tightening_threshold (ADW_CLAMP (clamp), MOST_WIDTH);
  adw_clamp_set_child (ADW_CLAMP (clamp), box);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->page), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->page), clamp);
  g_object_set_data_full (G_OBJECT (self->page), "overview", self, overview_free);
  self->facts_query = app_query_new (self->page, on_facts);
  self->report_query = app_query_new (self->page, on_report);
  self->findings_query = app_query_new (self->page, on_findings);
  g_signal_connect_swapped (session, "selection-changed", G_CALLBACK (refresh), self);
  refresh (self);
  return self->page;
}
