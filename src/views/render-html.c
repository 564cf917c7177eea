// SPDX-License-Identifier: GPL-3.0-or-later

/* A view as a table in one HTML page: sortable where it is flat, indented where it is a tree. */

#include "views/render.h"
#include "views/rows.h"
#include "web/web.h"

#include <math.h>
#include <string.h>

#define LONG_TEXT    200 /* bytes */
#define SHORT_TEXT   32  /* bytes that stay in one line */
#define LONG_LIST    6
#define BAR_WIDTH    6  /* px */
#define GRAPH_HEIGHT 18 /* px */

static void
write_head (Out *out, const Rows *rows)
{
  sysprof_out_text (out, rows->parent ? "<table class=\"tree\">\n<thead><tr>"
                                      : "<table>\n<thead><tr>");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      const Column *column = &rows->columns[i];

      if (column->json_only)
        continue;
      sysprof_out_text (out, sysprof_column_is_figure (column) ? "<th class=\"n\">" : "<th>");
      if (!rows->parent)
        sysprof_out_text (out, "<button>");
      sysprof_out_xml (out, column->title);
      if (!rows->parent)
        sysprof_out_text (out, "</button>");
      sysprof_out_text (out, "</th>");
    }
  sysprof_out_text (out, "</tr></thead>\n<tbody>\n");
}

/* Beside the name of a function; pointing at it tells the folders, too. */
static void
write_place (Out *out, const char *place, const char *file)
{
  sysprof_out_text (out, " <small title=\"");
  sysprof_out_xml (out, file);
  sysprof_out_text (out, "\">");
  sysprof_out_xml (out, place);
  sysprof_out_text (out, "</small>");
}

static void
write_stack (Out *out, const StackText *stack)
{
  sysprof_out_text (out, "<td><ol>");
  for (uint32_t i = 0; i < stack->n; i++)
    {
      g_autofree char *place = sysprof_dup_place_of_entry (&stack->entries[i]);

      sysprof_out_text (out, stack->entries[i].kind == SYMBOL_KERNEL ? "<li class=\"kernel\">"
                                                                     : "<li>");
      sysprof_out_xml (out, stack->entries[i].symbol);
      if (place != NULL)
        write_place (out, place, stack->entries[i].file);
      sysprof_out_text (out, "</li>");
    }
  sysprof_out_text (out, "</ol></td>");
}

static void
write_list (Out *out, const char *const *texts)
{
  uint32_t n = g_strv_length ((char **) texts);

  if (n > LONG_LIST)
    sysprof_out_printf (out, "<details><summary>%u</summary>", n);
  for (; *texts; texts++)
    {
      g_autofree char *line = sysprof_dup_one_line (*texts);

      sysprof_out_xml (out, line);
      sysprof_out_text (out, "<br>");
    }
  if (n > LONG_LIST)
    sysprof_out_text (out, "</details>");
}

/* Bars, which also show what is narrower than a line. */
static void
write_graph (Out *out, const GraphValues *graph)
{
  uint32_t n = graph->n - MIN (graph->first, graph->n);
  double least, most;

  sysprof_graph_limits (graph, &least, &most);
  sysprof_out_printf (out,
                      "<td><svg width=\"%u\" height=\"%d\" viewBox=\"0 0 %u 100\" "
                      "preserveAspectRatio=\"none\" fill=\"currentColor\">",
                      n * BAR_WIDTH, GRAPH_HEIGHT, n);
  for (uint32_t i = 0; i < n; i++)
    {
      double value = graph->values[graph->first + i];
      int height = 4 + (int) (96 * sysprof_graph_share (value, least, most));

      if (isfinite (value) && !(graph->from_zero && value == 0))
        sysprof_out_printf (out, "<rect x=\"%u.05\" y=\"%d\" width=\".9\" height=\"%d\"/>", i,
                            100 - height, height);
    }
  sysprof_out_text (out, "</svg></td>");
}

/* A long one is shown in two lines until a person points at it. */
static void
write_text (Out *out, const char *text)
{
  bool is_long = strlen (text) > LONG_TEXT;

  if (is_long)
    sysprof_out_text (out, "<div class=\"long\" tabindex=\"0\">");
  sysprof_out_xml (out, text);
  if (is_long)
    sysprof_out_text (out, "</div>");
}

static void
write_figure (Out *out, const Rows *rows, const Column *column, Cell cell)
{
  g_autofree char *text = sysprof_dup_cell (column, cell);

  sysprof_out_printf (out, "<td class=\"n%s\"", column->share ? " share" : "");
  if (sysprof_cell_is_none (column, cell))
    sysprof_out_text (out, " data-value=\"\"");
  else if (column->kind == COLUMN_REAL)
    {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];

      sysprof_out_printf (out, " data-value=\"%s\"", sysprof_format_real (cell.real, buffer));
    }
  else if (column->kind == COLUMN_COUNT)
    sysprof_out_printf (out, " data-value=\"%" G_GUINT64_FORMAT "\"", cell.count);
  else if (column->kind == COLUMN_BOOL)
    sysprof_out_printf (out, " data-value=\"%d\"", cell.flag);
  else
    sysprof_out_printf (out, " data-value=\"%" G_GINT64_FORMAT "\"", cell.number);
  if (column->share)
    {
      char share[G_ASCII_DTOSTR_BUF_SIZE];

      g_ascii_formatd (share, sizeof share, "%.2f", sysprof_percent (cell.count, rows->total));
      sysprof_out_printf (out, " style=\"--share:%s%%\">%s&#160;%% <span>", share, share);
    }
  else
    sysprof_out_text (out, ">");
  sysprof_out_xml (out, text);
  sysprof_out_text (out, column->share ? "</span></td>" : "</td>");
}

static void
write_row (Out *out, const Rows *rows, const Places *places, uint32_t row, uint32_t depth)
{
  const Cell *cells = sysprof_rows_cells (rows, row);
  int kind = sysprof_rows_column (rows, "kind");
  bool is_kernel = kind >= 0 && strcmp (cells[kind].text, "kernel") == 0;
  bool is_first_text = true;

  sysprof_out_text (out, "<tr>");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      const Column *column = &rows->columns[i];

      if (column->json_only)
        continue;
      if (column->kind == COLUMN_STACK)
        write_stack (out, cells[i].stack);
      else if (column->kind == COLUMN_GRAPH)
        write_graph (out, cells[i].graph);
      else if (sysprof_column_is_figure (column))
        write_figure (out, rows, column, cells[i]);
      else
        {
          g_autofree char *text = sysprof_dup_cell (column, cells[i]);
          g_autofree char *place = sysprof_places_dup (places, row, i);
          bool is_short = column->kind == COLUMN_TEXT && strlen (text) <= SHORT_TEXT;

          if (is_first_text)
            sysprof_out_printf (out, "<td class=\"name%s%s\" style=\"--depth:%u\">",
                                is_kernel ? " kernel" : "", is_short ? " short" : "", depth);
          else
            sysprof_out_text (out, is_short ? "<td class=\"short\">" : "<td>");
          if (column->kind == COLUMN_TEXTS)
            write_list (out, cells[i].texts);
          else
            write_text (out, text);
          if (place != NULL)
            {
              const char *file;

              (void) sysprof_places_find (places, row, &file);
              write_place (out, place, file);
            }
          sysprof_out_text (out, "</td>");
          is_first_text = false;
        }
    }
  sysprof_out_text (out, "</tr>\n");
}

static void
write_table (Out *out, const Rows *rows)
{
  Places places;

  sysprof_places_init (&places, rows);
  sysprof_out_text (out, "<div class=\"scroll\">\n");
  write_head (out, rows);
  if (rows->parent)
    {
      RowTree tree;

      sysprof_row_tree_init (&tree, rows);
      for (uint32_t at = sysprof_row_tree_next (&tree, 0); at && sysprof_out_goes_on (out);
           at = sysprof_row_tree_next (&tree, at))
        write_row (out, rows, &places, at - 1, tree.depth[at] - 1);
      sysprof_row_tree_clear (&tree);
    }
  else
    for (uint32_t row = 0; row < rows->n_rows && sysprof_out_goes_on (out); row++)
      write_row (out, rows, &places, row, 0);
  sysprof_out_text (out, "</tbody>\n</table>\n</div>\n");
  if (rows->n_hidden > 0)
    sysprof_out_printf (out, "<p>&#8230; and %u more</p>\n", rows->n_hidden);
}

static void
write_section (const View *view, const ViewRequest *request, const Rows *rows, void *data)
{
  Out *out = data;

  if (rows->n_rows == 0)
    return;
  sysprof_out_text (out, "<h2>");
  sysprof_out_xml (out, view->title);
  sysprof_out_text (out, "</h2>\n");
  write_table (out, rows);
}

static bool
write_sections (Out *out, const View *view, const ViewRequest *request, GError **error)
{
  g_auto (GStrv) facts = sysprof_dup_machine_facts (request);

  for (char **line = facts; *line; line++)
    {
      sysprof_out_text (out, "<p>");
      sysprof_out_xml (out, *line);
      sysprof_out_text (out, "</p>\n");
    }
  return sysprof_for_each_section (view, request, false, write_section, out, error);
}

bool
sysprof_render_html (const View *view,
                     const ViewRequest *request,
                     const Rows *rows,
                     GOutputStream *stream,
                     GError **error)
{
  g_autofree char *heading = sysprof_dup_heading (view, request, rows);
  const char *title = request->title ? request->title : heading;
  bool is_filled = true;
  Out out;

  sysprof_out_init (&out, stream);
  sysprof_out_text (&out, sysprof_web_table_before_title);
  sysprof_out_xml (&out, title);
  sysprof_out_text (&out, sysprof_web_table_before_data);
  sysprof_out_text (&out, "<h1>");
  sysprof_out_xml (&out, title);
  sysprof_out_text (&out, "</h1>\n");
  if (request->subtitle)
    {
      sysprof_out_text (&out, "<p>");
      sysprof_out_xml (&out, request->subtitle);
      sysprof_out_text (&out, "</p>\n");
    }
  if (view->sections)
    is_filled = write_sections (&out, view, request, error);
  else if (rows->n_rows > 0)
    write_table (&out, rows);
  else
    {
      g_autofree char *emptiness = sysprof_dup_emptiness (request, rows);

      sysprof_out_text (&out, "<p>");
      sysprof_out_xml (&out, emptiness);
      sysprof_out_text (&out, "</p>\n");
    }
  sysprof_out_text (&out, sysprof_web_table_after_data);
  return sysprof_out_finish (&out, is_filled ? error : NULL) && is_filled;
}
