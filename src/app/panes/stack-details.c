// SPDX-License-Identifier: GPL-3.0-or-later

/* The panel beside call graphs: the single samples of the chosen row, the stack of the sample
 * that is selected there, innermost first, and the share of each category. */

#include "app/panes/panes.h"
#include "app/widgets/cell.h"
#include "app/widgets/cut-text.h"
#include "app/widgets/naming.h"
#include "app/widgets/table.h"
#include "text/text.h"
#include "views/views.h"

#include <glib/gi18n.h>

#define MOST_ENTRIES 300 /* of a stack */
#define STACK_HEIGHT 200 /* px */

typedef struct
{
  AppSession *session;
  GtkWidget *title;
  GtkWidget *samples;
  GtkWidget *stack; /* GtkListBox */
  AppQuery *query;  /* of `stack` */
  GtkWidget *categories;
  StackPath path; /* of the chosen row; zero = all */
  RowQuery base;
} Details;

static void
details_free (gpointer data)
{
  Details *self = data;

  app_query_free (self->query);
  g_signal_handlers_disconnect_by_data (self->session, self);
  g_object_unref (self->session);
  app_stack_path_clear (&self->path);
  g_free (self);
}

static GtkWidget *
make_entry (const StackEntry *entry)
{
  AppCell *cell = app_cell_new (false);
  g_autofree char *name = sysprof_dup_one_line (entry->symbol);
  g_autofree char *base = g_path_get_basename (entry->binary);
  g_autofree char *binary = sysprof_dup_one_line (entry->binary[0] != '\0' ? base : "");
  g_autofree char *both = g_strjoin ("\n", name, entry->binary[0] ? entry->binary : NULL, NULL);
  g_autofree char *tooltip = app_dup_cut_text (both);

  app_cell_set_text (cell, name, name[0] != '[' ? binary : NULL);
  gtk_widget_set_tooltip_text (GTK_WIDGET (cell), tooltip);
  return GTK_WIDGET (cell);
}

/* Reason, duration and waker of a wait. */
static GtkWidget *
make_event (const char *text)
{
  g_autofree char *cut = app_dup_cut_text (text);
  GtkWidget *label = gtk_label_new (cut);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "dim-label");
  return label;
}

typedef struct
{
  const StackText *text;
  Rows rows; /* their arena has the text */
} ShownStack;

static void
shown_stack_free (gpointer data)
{
  ShownStack *self = data;

  sysprof_rows_clear (&self->rows);
  g_free (self);
}

static gpointer
fill_stack (const ViewRequest *request, gconstpointer input, GError **error)
{
  ShownStack *self = g_new0 (ShownStack, 1);

  self->text = sysprof_request_stack_text (request, GPOINTER_TO_UINT (input), &self->rows);
  return self;
}

static void
on_stack (GtkWidget *box, gpointer result, const GError *error)
{
  Details *self = g_object_get_data (G_OBJECT (box), "details");
  AppTable *table = APP_TABLE (self->samples);
  ShownStack *stack = result;
  g_autofree char *event = NULL;
  GtkWidget *child;
  uint32_t row;

  if (stack == NULL)
    return;
  if (app_table_get_selected (table, &row))
    event = app_row_result_dup_cell (app_table_get_result (table), row, "event");
  while ((child = gtk_widget_get_first_child (self->stack)) != NULL)
    gtk_list_box_remove (GTK_LIST_BOX (self->stack), child);
  if (event != NULL && event[0] != '\0')
    gtk_list_box_append (GTK_LIST_BOX (self->stack), make_event (event));
  for (uint32_t i = 0; i < MIN (stack->text->n, MOST_ENTRIES); i++)
    gtk_list_box_append (GTK_LIST_BOX (self->stack), make_entry (stack->text->entries[i]));
  shown_stack_free (stack);
}

static void
show_stack (AppTable *table, guint row, Details *self)
{
  static const QueryKind kind = { .fill = fill_stack, .free_result = shown_stack_free };
  int64_t stack = app_row_result_get_number (app_table_get_result (table), row, "stack", 0);

  app_query_run (self->query, &kind, self->session, GUINT_TO_POINTER (stack));
}

/* The first sample is as good as any. */
static void
on_samples (AppTable *table, Details *self)
{
  uint32_t row;

  if (!app_table_get_selected (table, &row) && app_table_get_result (table) != NULL &&
      app_table_get_result (table)->rows.n_rows > 0)
    app_table_select (table, 0);
}

static void
show_path (Details *self, const StackPath *path, const RowQuery *base)
{
  RowQuery samples = {
    .view = "stack-events", .has_path = path != NULL, .weight = base->weight, .heap = base->heap
  };
  RowQuery categories = samples;

  categories.view = "categories";
  if (path != NULL)
    samples.path = categories.path = *path;
  app_table_set_query (APP_TABLE (self->samples), &samples, NULL);
  app_table_set_query (APP_TABLE (self->categories), &categories, NULL);
}

static bool
is_same_path (const StackPath *a, const StackPath *b)
{
  return a->functions != NULL && b->functions != NULL && a->tid == b->tid &&
         a->is_anchored == b->is_anchored && g_strcmp0 (a->process, b->process) == 0 &&
         g_strv_equal (a->functions, b->functions) && g_strv_equal (a->binaries, b->binaries);
}

static void
on_chosen (AppSession *session, RowResult *result, guint row, Details *self)
{
  g_autofree char *name = app_row_result_dup_cell (result, row, "symbol");
  g_autofree char *cut = NULL;
  StackPath path;

  if (!app_row_result_get_path (result, row, &path))
    return;
  cut = app_dup_cut_text (name != NULL ? name : "");
  gtk_label_set_text (GTK_LABEL (self->title), cut);
  /* A row that stays selected has new rows here already. */
  if (!is_same_path (&path, &self->path) || result->query.weight != self->base.weight ||
      result->query.heap != self->base.heap)
    show_path (self, &path, &result->query);
  app_stack_path_clear (&self->path);
  self->path = path;
  self->base = result->query;
}

static GtkWidget *
make_heading (const char *text)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (label, "heading");
  gtk_widget_add_css_class (label, "details-heading");
  return label;
}

static GtkWidget *
details_new (AppSession *session, const RowQuery *base, const char *const *sample_columns)
{
  static const char *const category_columns[] = { "category", "self", NULL };
  Details *self = g_new0 (Details, 1);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->session = g_object_ref (session);
  self->title = make_heading (_ ("All Processes"));
  self->samples = app_table_new (session, NULL, _ ("Samples of the Chosen Row"));
  self->categories = app_table_new (session, NULL, _ ("Categories"));
  self->stack = gtk_list_box_new ();
  self->query = app_query_new (box, on_stack);
  app_table_set_columns (APP_TABLE (self->samples), sample_columns);
  app_table_set_columns (APP_TABLE (self->categories), category_columns);
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->stack), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (self->stack, "stack-list");
  app_set_name (GTK_WIDGET (self->stack), _ ("Stack Trace"));
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->stack);
  gtk_scrolled_window_set_min_content_height (GTK_SCROLLED_WINDOW (scroller), STACK_HEIGHT);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_widget_set_size_request (self->samples, -1, 148);
  gtk_widget_set_size_request (self->categories, -1, 172);
  gtk_box_append (GTK_BOX (box), self->title);
  gtk_box_append (GTK_BOX (box), self->samples);
  gtk_box_append (GTK_BOX (box), make_heading (_ ("Stack Trace")));
  gtk_box_append (GTK_BOX (box), scroller);
  gtk_box_append (GTK_BOX (box), make_heading (_ ("Categories")));
  gtk_box_append (GTK_BOX (box), self->categories);
  g_object_set_data_full (G_OBJECT (box), "details", self, details_free);
  g_signal_connect (self->samples, "selected", G_CALLBACK (show_stack), self);
  g_signal_connect (self->samples, "loaded", G_CALLBACK (on_samples), self);
  g_signal_connect (session, "chosen", G_CALLBACK (on_chosen), self);
  show_path (self, NULL, base);
  return box;
}

GtkWidget *
app_stack_details_new (AppSession *session)
{
  static const char *const columns[] = { "time",     "pid",   "cpu", "depth",
                                         "duration", "event", NULL };

  return details_new (session, &(RowQuery){ 0 }, columns);
}

GtkWidget *
app_allocation_details_new (AppSession *session)
{
  static const char *const columns[] = { "time", "size", "pid", NULL };

  return details_new (session, &(RowQuery){ .weight = WEIGHT_BYTES }, columns);
}
