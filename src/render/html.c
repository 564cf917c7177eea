// SPDX-License-Identifier: GPL-3.0-or-later

/* A view as a table in one HTML page. Flat tables can be sorted; trees are indented. */

#include "flame/flame.h"
#include "render/renderers.h"
#include "views/views.h"
#include "web/web.h"

#include <math.h>
#include <string.h>

#define LONG_TEXT    200 /* bytes */
#define SHORT_TEXT   32  /* bytes; not wrapped */
#define LONG_LIST    6
#define BAR_WIDTH    6  /* px */
#define GRAPH_HEIGHT 18 /* px */

static void
write_head (TextWriter *writer, const Rows *rows)
{
  sysprof_text_writer_puts (writer, rows->parent ? "<table class=\"tree\">\n<thead><tr>"
                                                 : "<table>\n<thead><tr>");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      const Column *column = &rows->columns[i];

      if (column->json_only)
        continue;
      sysprof_text_writer_puts (writer, sysprof_column_is_figure (column) ? "<th class=\"n\">"
                                                                          : "<th>");
      if (!rows->parent)
        sysprof_text_writer_puts (writer, "<button>");
      sysprof_text_writer_xml (writer, column->title);
      if (!rows->parent)
        sysprof_text_writer_puts (writer, "</button>");
      sysprof_text_writer_puts (writer, "</th>");
    }
  sysprof_text_writer_puts (writer, "</tr></thead>\n<tbody>\n");
}

/* Shown after a function name; hovering shows the folders. */
static void
write_location (TextWriter *writer, const char *location, const char *file)
{
  sysprof_text_writer_puts (writer, " <small title=\"");
  sysprof_text_writer_xml (writer, file);
  sysprof_text_writer_puts (writer, "\">");
  sysprof_text_writer_xml (writer, location);
  sysprof_text_writer_puts (writer, "</small>");
}

static void
write_stack (TextWriter *writer, const StackText *stack)
{
  sysprof_text_writer_puts (writer, "<td><ol>");
  for (uint32_t i = 0; i < stack->n; i++)
    {
      const StackEntry *entry = stack->entries[i];
      g_autofree char *location = sysprof_dup_source_location_of_entry (entry);

      sysprof_text_writer_puts (writer, entry->kind == SYMBOL_KERNEL ? "<li class=\"kernel\">"
                                                                     : "<li>");
      sysprof_text_writer_xml (writer, entry->symbol);
      if (location != NULL)
        write_location (writer, location, entry->file);
      sysprof_text_writer_puts (writer, "</li>");
    }
  sysprof_text_writer_puts (writer, "</ol></td>");
}

static void
write_list (TextWriter *writer, const char *const *texts)
{
  uint32_t n = g_strv_length ((char **) texts);

  if (n > LONG_LIST)
    sysprof_text_writer_printf (writer, "<details><summary>%u</summary>", n);
  for (; *texts; texts++)
    {
      g_autofree char *line = sysprof_dup_one_line (*texts);

      sysprof_text_writer_xml (writer, line);
      sysprof_text_writer_puts (writer, "<br>");
    }
  if (n > LONG_LIST)
    sysprof_text_writer_puts (writer, "</details>");
}

/* Draws bars, because a line would hide narrow peaks. */
static void
write_graph (TextWriter *writer, const GraphValues *graph)
{
  uint32_t n = graph->n - MIN (graph->first, graph->n);
  double least, most;

  sysprof_graph_limits (graph, &least, &most);
  sysprof_text_writer_printf (writer,
                              "<td><svg width=\"%u\" height=\"%d\" viewBox=\"0 0 %u 100\" "
                              "preserveAspectRatio=\"none\" fill=\"currentColor\">",
                              n * BAR_WIDTH, GRAPH_HEIGHT, n);
  for (uint32_t i = 0; i < n; i++)
    {
      double value = graph->values[graph->first + i];
      int height = 4 + (int) (96 * sysprof_graph_share (value, least, most));

      if (isfinite (value) && !(graph->from_zero && value == 0))
        sysprof_text_writer_printf (writer,
                                    "<rect x=\"%u.05\" y=\"%d\" width=\".9\" height=\"%d\"/>",
                                    i, 100 - height, height);
    }
  sysprof_text_writer_puts (writer, "</svg></td>");
}

/* Shows a long text in two lines until the user hovers over it. */
static void
write_text (TextWriter *writer, const char *text)
{
  bool is_long = strlen (text) > LONG_TEXT;

  if (is_long)
    sysprof_text_writer_puts (writer, "<div class=\"long\" tabindex=\"0\">");
  sysprof_text_writer_xml (writer, text);
  if (is_long)
    sysprof_text_writer_puts (writer, "</div>");
}

static void
write_figure (TextWriter *writer, const Rows *rows, const Column *column, Cell cell)
{
  g_autofree char *text = sysprof_dup_cell (column, cell);

  sysprof_text_writer_printf (writer, "<td class=\"n%s\"", column->share ? " share" : "");
  if (sysprof_cell_is_none (column, cell))
    sysprof_text_writer_puts (writer, " data-value=\"\"");
  else if (column->kind == COLUMN_REAL || column->kind == COLUMN_QUANTITY)
    {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];
      double value = column->kind == COLUMN_REAL ? cell.real : cell.quantity->value;

      sysprof_text_writer_printf (writer, " data-value=\"%s\"",
                                  sysprof_format_real (value, buffer));
    }
  else if (column->kind == COLUMN_COUNT)
    sysprof_text_writer_printf (writer, " data-value=\"%" G_GUINT64_FORMAT "\"", cell.count);
  else if (column->kind == COLUMN_BOOL)
    sysprof_text_writer_printf (writer, " data-value=\"%d\"", cell.flag);
  else
    sysprof_text_writer_printf (writer, " data-value=\"%" G_GINT64_FORMAT "\"", cell.number);
  if (column->share)
    {
      char share[G_ASCII_DTOSTR_BUF_SIZE];

      g_ascii_formatd (share, sizeof share, "%.2f", sysprof_percent (cell.count, rows->total));
      sysprof_text_writer_printf (writer, " style=\"--share:%s%%\">%s&#160;%% <span>", share,
                                  share);
    }
  else
    sysprof_text_writer_puts (writer, ">");
  sysprof_text_writer_xml (writer, text);
  sysprof_text_writer_puts (writer, column->share ? "</span></td>" : "</td>");
}

static void
write_row (TextWriter *writer, const Rows *rows, uint32_t row, uint32_t depth, const void *data)
{
  const SourceLocations *locations = data;
  const Cell *cells = sysprof_rows_cells (rows, row);
  int kind = sysprof_rows_column (rows, "kind");
  bool is_kernel = kind >= 0 && strcmp (cells[kind].text, "kernel") == 0;
  bool is_first_text = true;

  sysprof_text_writer_puts (writer, "<tr>");
  for (uint32_t i = 0; i < rows->n_columns; i++)
    {
      const Column *column = &rows->columns[i];

      if (column->json_only)
        continue;
      if (column->kind == COLUMN_STACK)
        write_stack (writer, cells[i].stack);
      else if (column->kind == COLUMN_GRAPH)
        write_graph (writer, cells[i].graph);
      else if (sysprof_column_is_figure (column))
        write_figure (writer, rows, column, cells[i]);
      else
        {
          g_autofree char *text = sysprof_dup_cell (column, cells[i]);
          g_autofree char *location = sysprof_source_locations_format (locations, row, i);
          bool is_short = column->kind == COLUMN_TEXT && strlen (text) <= SHORT_TEXT;

          if (is_first_text)
            sysprof_text_writer_printf (writer, "<td class=\"name%s%s\" style=\"--depth:%u\">",
                                        is_kernel ? " kernel" : "", is_short ? " short" : "",
                                        depth);
          else
            sysprof_text_writer_puts (writer, is_short ? "<td class=\"short\">" : "<td>");
          if (column->kind == COLUMN_TEXTS)
            write_list (writer, cells[i].texts);
          else
            write_text (writer, text);
          if (location != NULL)
            {
              const char *file;

              (void) sysprof_source_locations_find (locations, row, &file);
              write_location (writer, location, file);
            }
          sysprof_text_writer_puts (writer, "</td>");
          is_first_text = false;
        }
    }
  sysprof_text_writer_puts (writer, "</tr>\n");
}

static void
write_table (TextWriter *writer, const Rows *rows)
{
  SourceLocations locations;

  sysprof_source_locations_init (&locations, rows);
  sysprof_text_writer_puts (writer, "<div class=\"scroll\">\n");
  write_head (writer, rows);
  sysprof_write_each_row (writer, rows, write_row, &locations);
  sysprof_text_writer_puts (writer, "</tbody>\n</table>\n</div>\n");
  if (rows->n_hidden > 0)
    sysprof_text_writer_printf (writer, "<p>&#8230; and %u more</p>\n", rows->n_hidden);
}

static void
write_element (TextWriter *writer, const char *tag, const char *text)
{
  sysprof_text_writer_printf (writer, "<%s>", tag);
  sysprof_text_writer_xml (writer, text);
  sysprof_text_writer_printf (writer, "</%s>\n", tag);
}

static void
write_section (const View *view, const ViewRequest *request, const Rows *rows, void *data)
{
  TextWriter *writer = data;

  if (rows->n_rows == 0)
    return;
  write_element (writer, "h2", view->title);
  write_table (writer, rows);
}

static bool
write_sections (TextWriter *writer,
                const View *view,
                const ViewRequest *request,
                GError **error)
{
  g_auto (GStrv) facts = sysprof_dup_machine_facts (request);

  for (char **line = facts; *line; line++)
    write_element (writer, "p", *line);
  return sysprof_for_each_section (view, request, false, write_section, writer, error);
}

static bool
render_html (const View *view,
             const ViewRequest *request,
             const Rows *rows,
             GOutputStream *stream,
             GError **error)
{
  g_autofree char *heading = sysprof_dup_heading (view, request, rows);
  const char *title = request->title ? request->title : heading;
  bool is_filled = true;
  TextWriter writer;

  sysprof_text_writer_init (&writer, stream);
  sysprof_text_writer_puts (&writer, sysprof_web_table_before_title);
  sysprof_text_writer_xml (&writer, title);
  sysprof_text_writer_puts (&writer, sysprof_web_table_before_data);
  write_element (&writer, "h1", title);
  if (request->subtitle)
    write_element (&writer, "p", request->subtitle);
  if (view->sections)
    is_filled = write_sections (&writer, view, request, error);
  else if (rows->n_rows > 0)
    write_table (&writer, rows);
  else
    {
      g_autofree char *emptiness = sysprof_dup_emptiness (request, rows);

      write_element (&writer, "p", emptiness);
    }
  sysprof_text_writer_puts (&writer, sysprof_web_table_after_data);
  return sysprof_text_writer_finish (&writer, is_filled ? error : NULL) && is_filled;
}

const RenderFormatRow sysprof_html_format = {
  .name = "html",
  .suffix = ".html",
  .render = render_html,
  .drawings = { [LAYOUT_FLAME] = sysprof_flame_render_html },
};
