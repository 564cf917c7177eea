// SPDX-License-Identifier: GPL-3.0-or-later

/* Source files or instructions of a function with their weights beside them: the function that
 * is chosen in the list. The text is colored by its language, and lines by their weight. */

#include "app/charts/palette.h"
#include "app/panes/panes.h"
#include "app/widgets/cut-text.h"
#include "app/widgets/naming.h"
#include "app/widgets/row-actions.h"
#include "app/widgets/search.h"
#include "app/widgets/table-cells.h"
#include "app/widgets/table.h"
#include "text/text.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <gtksourceview/gtksource.h>

#define N_HEATS     8    /* shades of lines */
#define MOST_HEAT   0.45 /* opacity of the heaviest line */
#define HEADING     UINT32_MAX
#define LINE_COLUMN 2 /* of the view: line or address, behind the weights */

typedef struct
{
  AppSession *session;
  const SectionView *view; /* its columns: those of the gutter, and the text at the end */
  RowQuery query;
  char *function; /* NULL = none is chosen */
  AppQuery *rows_query;
  RowResult *result; /* NULL = none is shown */
  GArray *row_of_line;
  GtkWidget *functions;
  GtkWidget *stack;
  GtkWidget *status;
  GtkSourceView *text;
  GtkTextTag *heats[N_HEATS];
  GtkTextTag *bold; /* of headings */
  GtkWidget *note;
  GtkWidget *line; /* what the line at the cursor weighs */
  AppSearch search;
  GtkSourceSearchContext *matches;
} CodePane;

static void
code_pane_free (gpointer data)
{
  CodePane *self = data;

  app_query_free (self->rows_query);
  g_clear_pointer (&self->result, app_row_result_unref);
  g_array_unref (self->row_of_line);
  g_object_unref (self->matches);
  g_free (self->function);
  g_free (self);
}

static void
refresh (CodePane *self)
{
  RowQuery query = self->query;

  query.root = self->function;
  if (self->function != NULL)
    app_query_run (self->rows_query, &app_row_query_kind, self->session,
                   app_row_query_new (&query));
}

static void
on_focus_changed (AppSession *session, GtkWidget *stack)
{
  refresh (g_object_get_data (G_OBJECT (stack), "code-pane"));
}

static void
on_selected (AppTable *table, guint row, CodePane *self)
{
  g_free (self->function);
  self->function = g_strdup (app_row_get_function (app_table_get_result (table), row));
  refresh (self);
}

/* Shows the heaviest function at first. */
static void
on_loaded (AppTable *table, CodePane *self)
{
  RowResult *result = app_table_get_result (table);
  uint32_t row;

  if (!app_table_get_selected (table, &row) && result->rows.n_rows > 0)
    app_table_select (table, 0);
}

/* --- text --- */

static GtkTextBuffer *
get_buffer (CodePane *self)
{
  return gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->text));
}

static const Cell *
find_cell (CodePane *self, uint32_t row, const char *name)
{
  int column = sysprof_rows_column (&self->result->rows, name);

  return column >= 0 ? &sysprof_rows_cells (&self->result->rows, row)[column] : NULL;
}

/* The column of the text: the last one. */
static const char *
get_text_column (const CodePane *self)
{
  const char *const *at = self->view->columns;

  while (at[1] != NULL)
    at++;
  return *at;
}

/* The first column with a heading: a file or a function. NULL = none. *(full)* */
static char *
dup_heading (CodePane *self, uint32_t row)
{
  const Rows *rows = &self->result->rows;

  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (rows->columns[i].heading == 1 && rows->columns[i].kind == COLUMN_TEXT)
      return sysprof_dup_one_line (sysprof_rows_cells (rows, row)[i].text);
  return NULL;
}

static void
add_line (CodePane *self, GString *text, const char *line, uint32_t row)
{
  g_autofree char *cut = app_dup_cut_text (line != NULL ? line : "");

  if (self->row_of_line->len > 0)
    g_string_append_c (text, '\n');
  g_string_append (text, cut);
  g_array_append_val (self->row_of_line, row);
}

static void
set_language (CodePane *self, const char *file)
{
  GtkSourceLanguageManager *languages = gtk_source_language_manager_get_default ();

  gtk_source_buffer_set_language (
      GTK_SOURCE_BUFFER (get_buffer (self)),
      gtk_source_language_manager_guess_language (languages, file, NULL));
}

static uint64_t
weigh_line (CodePane *self, guint line)
{
  uint32_t row = g_array_index (self->row_of_line, uint32_t, line);

  return row != HEADING ? find_cell (self, row, "self")->count : 0;
}

static void
apply_tag (CodePane *self, guint line, GtkTextTag *tag)
{
  GtkTextBuffer *buffer = get_buffer (self);
  GtkTextIter start, end;

  gtk_text_buffer_get_iter_at_line (buffer, &start, (int) line);
  end = start;
  if (!gtk_text_iter_forward_line (&end))
    gtk_text_buffer_get_end_iter (buffer, &end);
  gtk_text_buffer_apply_tag (buffer, tag, &start, &end);
}

/* When the text has its size: only then GTK knows where the line is. */
static gboolean
scroll_to_cursor (gpointer text)
{
  gtk_text_view_scroll_to_mark (
      text, gtk_text_buffer_get_insert (gtk_text_view_get_buffer (text)), 0, TRUE, 0, 0.4);
  return G_SOURCE_REMOVE;
}

/* Colors the lines, and moves the cursor to the heaviest one. */
static void
show_weights (CodePane *self)
{
  GtkTextBuffer *buffer = get_buffer (self);
  guint heaviest = 0;
  GtkTextIter start;
  double most;

  for (guint line = 0; line < self->row_of_line->len; line++)
    if (weigh_line (self, line) > weigh_line (self, heaviest))
      heaviest = line;
  most = (double) weigh_line (self, heaviest);
  for (guint line = 0; line < self->row_of_line->len; line++)
    if (g_array_index (self->row_of_line, uint32_t, line) == HEADING)
      apply_tag (self, line, self->bold);
    else if (weigh_line (self, line) > 0)
      apply_tag (self, line,
                 self->heats[(size_t) (weigh_line (self, line) / most * (N_HEATS - 1))]);
  gtk_text_buffer_get_iter_at_line (buffer, &start, (int) heaviest);
  gtk_text_buffer_place_cursor (buffer, &start);
  g_idle_add_full (G_PRIORITY_LOW, scroll_to_cursor, g_object_ref (self->text), g_object_unref);
}

static void
show_text (CodePane *self)
{
  const Rows *rows = &self->result->rows;
  const char *column = get_text_column (self);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *last = NULL;

  g_array_set_size (self->row_of_line, 0);
  for (uint32_t row = 0; row < rows->n_rows; row++)
    {
      g_autofree char *heading = dup_heading (self, row);

      if (g_strcmp0 (heading, last) != 0)
        {
          add_line (self, text, heading, HEADING);
          if (last == NULL)
            set_language (self, heading);
          g_free (last);
          last = g_steal_pointer (&heading);
        }
      add_line (self, text, find_cell (self, row, column)->text, row);
    }
  gtk_text_buffer_set_text (get_buffer (self), text->str, (int) text->len);
  show_weights (self);
}

/* --- gutter --- */

static char *
dup_figure (CodePane *self, uint32_t row, const char *name)
{
  const Rows *rows = &self->result->rows;
  int column = sysprof_rows_column (rows, name);

  if (column < 0)
    return g_strdup ("");
  if (!rows->columns[column].share)
    return app_row_dup_text (self->result, row, (uint32_t) column);
  return find_cell (self, row, name)->count == 0
             ? g_strdup ("")
             : g_strdup_printf ("%.1f %%", sysprof_percent (find_cell (self, row, name)->count,
                                                            rows->total));
}

static void
on_query_data (GtkSourceGutterRenderer *renderer,
               GtkSourceGutterLines *lines,
               guint line,
               CodePane *self)
{
  const char *name = g_object_get_data (G_OBJECT (renderer), "column");
  uint32_t row = line < self->row_of_line->len
                     ? g_array_index (self->row_of_line, uint32_t, line)
                     : HEADING;
  bool is_weight = !g_str_equal (name, self->view->columns[LINE_COLUMN]);
  g_autofree char *text = row != HEADING ? dup_figure (self, row, name) : g_strdup ("");
  g_autofree char *markup =
      is_weight ? g_markup_printf_escaped ("<span foreground='%s'>%s</span>",
                                           app_palette_is_dark () ? "white" : "black", text)
                : g_markup_escape_text (text, -1);

  gtk_source_gutter_renderer_text_set_markup (GTK_SOURCE_GUTTER_RENDERER_TEXT (renderer),
                                              markup, -1);
}

static void
add_gutter (CodePane *self, const char *column, int position)
{
  GtkSourceGutterRenderer *renderer = gtk_source_gutter_renderer_text_new ();
  GtkSourceGutter *gutter = gtk_source_view_get_gutter (self->text, GTK_TEXT_WINDOW_LEFT);

  g_object_set_data (G_OBJECT (renderer), "column", (gpointer) column);
  gtk_source_gutter_renderer_set_xalign (renderer, 1);
  gtk_source_gutter_renderer_set_xpad (renderer, 6);
  gtk_widget_set_tooltip_text (GTK_WIDGET (renderer), column);
  g_signal_connect (renderer, "query-data", G_CALLBACK (on_query_data), self);
  gtk_source_gutter_insert (gutter, renderer, position);
}

/* The longest figure of each column decides. */
static void
set_gutter_widths (CodePane *self)
{
  GtkWidget *gutter =
      GTK_WIDGET (gtk_source_view_get_gutter (self->text, GTK_TEXT_WINDOW_LEFT));

  for (GtkWidget *at = gtk_widget_get_first_child (gutter); at != NULL;
       at = gtk_widget_get_next_sibling (at))
    {
      const char *name = g_object_get_data (G_OBJECT (at), "column");
      size_t length = 0;
      int width = 0;

      for (uint32_t row = 0; name != NULL && row < self->result->rows.n_rows; row++)
        {
          g_autofree char *text = dup_figure (self, row, name);

          if (strlen (text) <= length)
            continue;
          length = strlen (text);
          gtk_source_gutter_renderer_text_measure (GTK_SOURCE_GUTTER_RENDERER_TEXT (at), text,
                                                   &width, NULL);
        }
      gtk_widget_set_size_request (at, width + 12, -1);
    }
}

/* --- result --- */

/* "12: self 250   25.0 %, total 500   50.0 %" */
static void
show_line (GtkTextBuffer *buffer, GParamSpec *spec, CodePane *self)
{
  const char *const *columns = self->view->columns;
  char *texts[LINE_COLUMN + 1] = { 0 };
  g_autofree char *line = NULL;
  GtkTextIter at;
  uint32_t row = HEADING;

  gtk_text_buffer_get_iter_at_mark (buffer, &at, gtk_text_buffer_get_insert (buffer));
  if ((guint) gtk_text_iter_get_line (&at) < self->row_of_line->len)
    row = g_array_index (self->row_of_line, uint32_t, gtk_text_iter_get_line (&at));
  if (self->result != NULL && row != HEADING && find_cell (self, row, "total")->count > 0)
    {
      for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
        texts[i] =
            app_row_dup_text (self->result, row,
                              (uint32_t) sysprof_rows_column (&self->result->rows, columns[i]));
      line = g_strdup_printf (_ ("%s: self %s, total %s"), texts[2], texts[0], texts[1]);
    }
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  gtk_label_set_text (GTK_LABEL (self->line), line != NULL ? line : "");
}

static void
show_status (CodePane *self, const char *title, const char *text)
{
  g_autofree char *cut = app_dup_cut_text (text);
  g_autofree char *escaped = g_markup_escape_text (cut, -1);

  adw_status_page_set_title (ADW_STATUS_PAGE (self->status), title);
  adw_status_page_set_description (ADW_STATUS_PAGE (self->status), escaped);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "status");
}

static void
on_result (GtkWidget *stack, gpointer result, const GError *error)
{
  CodePane *self = g_object_get_data (G_OBJECT (stack), "code-pane");
  const char *note;

  if (error != NULL)
    {
      show_status (self, _ ("Cannot Show the Code"), error->message);
      return;
    }
  g_clear_pointer (&self->result, app_row_result_unref);
  self->result = result;
  note = self->result->rows.note != NULL ? self->result->rows.note : "";
  if (self->result->rows.n_rows == 0)
    {
      show_status (self, _ ("Nothing to Show"), note);
      return;
    }
  gtk_label_set_text (GTK_LABEL (self->note), note);
  gtk_widget_set_visible (self->note, note[0] != '\0');
  set_gutter_widths (self);
  show_text (self);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "text");
}

/* --- search --- */

static void
show_count (CodePane *self)
{
  int n = MAX (gtk_source_search_context_get_occurrences_count (self->matches), 0);
  g_autofree char *count = g_strdup_printf (ngettext ("%d match", "%d matches", (gulong) n), n);

  app_search_show_count (&self->search, count);
}

/* Selects the "next" or "previous" match, or the "first" one from the selection on. */
static void
select_match (CodePane *self, const char *which)
{
  bool is_back = g_str_equal (which, "previous");
  GtkTextIter at, begin, end;

  gtk_text_buffer_get_selection_bounds (get_buffer (self), &begin, &end);
  at = g_str_equal (which, "next") ? end : begin;
  if (!(is_back ? gtk_source_search_context_backward
                : gtk_source_search_context_forward) (self->matches, &at, &begin, &end, NULL))
    return;
  gtk_text_buffer_select_range (get_buffer (self), &begin, &end);
  gtk_text_view_scroll_mark_onscreen (GTK_TEXT_VIEW (self->text),
                                      gtk_text_buffer_get_insert (get_buffer (self)));
}

static void
on_search (gpointer data)
{
  select_match (data, "first");
}

static void
act (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  CodePane *self = data;

  if (g_str_equal (g_action_get_name (G_ACTION (action)), "find"))
    app_search_open (&self->search);
  else
    select_match (self, g_action_get_name (G_ACTION (action)));
}

static void
add_search (CodePane *self, GtkWidget *pane)
{
  static const GActionEntry entries[] = { { "find", act },
                                          { "next", act },
                                          { "previous", act } };
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();
  g_autoptr (GtkSourceSearchSettings) settings = gtk_source_search_settings_new ();

  gtk_source_search_settings_set_wrap_around (settings, TRUE);
  self->matches =
      gtk_source_search_context_new (GTK_SOURCE_BUFFER (get_buffer (self)), settings);
  g_signal_connect_swapped (self->matches, "notify::occurrences-count", G_CALLBACK (show_count),
                            self);
  app_search_init (&self->search, on_search, self);
  g_object_bind_property (self->search.entry, "text", settings, "search-text", 0);
  g_action_map_add_action_entries (G_ACTION_MAP (group), entries, G_N_ELEMENTS (entries), self);
  gtk_widget_insert_action_group (pane, "view", G_ACTION_GROUP (group));
}

/* --- widgets --- */

static void
follow_style (AdwStyleManager *style, GParamSpec *spec, GtkSourceBuffer *buffer)
{
  GtkSourceStyleSchemeManager *schemes = gtk_source_style_scheme_manager_get_default ();

  gtk_source_buffer_set_style_scheme (
      buffer, gtk_source_style_scheme_manager_get_scheme (
                  schemes, adw_style_manager_get_dark (style) ? "Adwaita-dark" : "Adwaita"));
}

static GtkWidget *
make_text (CodePane *self)
{
  AdwStyleManager *style = adw_style_manager_get_default ();
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkTextBuffer *buffer;

  self->text = GTK_SOURCE_VIEW (gtk_source_view_new ());
  buffer = get_buffer (self);
  gtk_text_view_set_editable (GTK_TEXT_VIEW (self->text), FALSE);
  gtk_text_view_set_monospace (GTK_TEXT_VIEW (self->text), TRUE);
  gtk_text_view_set_left_margin (GTK_TEXT_VIEW (self->text), 6);
  gtk_source_view_set_highlight_current_line (self->text, FALSE);
  app_set_name (GTK_WIDGET (self->text), _ (self->view->title));
  for (int i = 0; i < N_HEATS; i++)
    {
      GdkRGBA color = { 0.9f, 0.38f, 0, (float) MOST_HEAT * (float) (i + 1) / N_HEATS };

      self->heats[i] =
          gtk_text_buffer_create_tag (buffer, NULL, "paragraph-background-rgba", &color, NULL);
    }
  self->bold = gtk_text_buffer_create_tag (buffer, NULL, "weight", PANGO_WEIGHT_BOLD, NULL);
  for (int i = 0; i <= LINE_COLUMN; i++)
    add_gutter (self, self->view->columns[i], i);
  g_signal_connect_object (style, "notify::dark", G_CALLBACK (follow_style), buffer, 0);
  follow_style (style, NULL, GTK_SOURCE_BUFFER (buffer));
  g_signal_connect (buffer, "notify::cursor-position", G_CALLBACK (show_line), self);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->text));
  gtk_widget_set_vexpand (scroller, TRUE);
  return scroller;
}

static GtkWidget *
make_note (void)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "note");
  return label;
}

static GtkWidget *
make_code (CodePane *self, GtkWidget *pane)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  self->stack = gtk_stack_new ();
  self->rows_query = app_query_new (self->stack, on_result);
  self->row_of_line = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  self->status = adw_status_page_new ();
  self->note = make_note ();
  self->line = make_note ();
  gtk_widget_add_css_class (self->status, "compact");
  gtk_box_append (GTK_BOX (box), make_text (self));
  add_search (self, pane);
  gtk_box_append (GTK_BOX (box), self->search.bar);
  gtk_box_append (GTK_BOX (box), self->note);
  gtk_box_append (GTK_BOX (box), self->line);
  gtk_stack_add_named (GTK_STACK (self->stack), self->status, "status");
  gtk_stack_add_named (GTK_STACK (self->stack), box, "text");
  show_status (self, _ ("Choose a Function"), "");
  g_object_set_data_full (G_OBJECT (self->stack), "code-pane", self, code_pane_free);
  g_signal_connect_object (self->session, "focus-changed", G_CALLBACK (on_focus_changed),
                           self->stack, 0);
  return self->stack;
}

GtkWidget *
app_code_pane_new (AppSession *session, const SectionView *view)
{
  static const char *const columns[] = { "symbol", "self", NULL };
  CodePane *self = g_new0 (CodePane, 1);
  GtkWidget *paned = gtk_paned_new (GTK_ORIENTATION_HORIZONTAL);
  RowQuery functions = view->query;

  self->session = session;
  self->view = view;
  self->query = view->query;
  functions.view = "functions";
  functions.switches = NULL;
  self->functions = app_table_new (session, &functions, _ ("Functions"));
  app_table_set_columns (APP_TABLE (self->functions), columns);
  app_table_show_filter (APP_TABLE (self->functions), _ ("Filter Functions"));
  g_signal_connect (self->functions, "selected", G_CALLBACK (on_selected), self);
  g_signal_connect (self->functions, "loaded", G_CALLBACK (on_loaded), self);
  gtk_paned_set_start_child (GTK_PANED (paned), self->functions);
  gtk_paned_set_end_child (GTK_PANED (paned), make_code (self, paned));
  gtk_paned_set_position (GTK_PANED (paned), 300);
  gtk_paned_set_shrink_start_child (GTK_PANED (paned), FALSE);
  gtk_paned_set_shrink_end_child (GTK_PANED (paned), FALSE);
  return app_pane_switcher_new (paned, (GtkWidget *[]){ self->functions, self->stack, NULL },
                                (const char *[]){ N_ ("Functions"), view->title });
}
