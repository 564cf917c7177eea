// SPDX-License-Identifier: GPL-3.0-or-later

/* A view with graphs as an SVG picture: one graph below the other, each with its name,
 * highest and lowest value. */

#include "render/renderers.h"
#include "views/views.h"

#include <math.h>
#include <string.h>

#define MARGIN      12
#define NAME_WIDTH  320 /* px */
#define GRAPH_WIDTH 640
#define HEIGHT      40
#define GAP         14
#define NAME_MOST   46 /* letters */
#define MOST_TICKS  8  /* ticks of an axis */
#define AXIS_HEIGHT 16

int
sysprof_rows_graph_column (const Rows *rows)
{
  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (rows->columns[i].kind == COLUMN_GRAPH && !rows->columns[i].json_only)
      return (int) i;
  return -1;
}

static bool
is_unit (const Column *column)
{
  return strcmp (column->name, "unit") == 0;
}

/* Joins the texts of a row: "Memory / Used, bytes". *(full)* */
static char *
dup_name (const Rows *rows, const Cell *cells)
{
  g_autoptr (GString) name = g_string_new (NULL);
  g_autofree char *line = NULL;

  for (uint32_t i = 0; i < rows->n_columns; i++)
    if (rows->columns[i].kind == COLUMN_TEXT && !rows->columns[i].json_only && cells[i].text[0])
      g_string_append_printf (name, "%s%s",
                              name->len == 0                ? ""
                              : is_unit (&rows->columns[i]) ? ", "
                                                            : " / ",
                              cells[i].text);
  line = sysprof_dup_one_line (name->str);
  return sysprof_dup_abbreviated (line, NAME_MOST);
}

static void
write_text (TextWriter *writer, unsigned x, unsigned y, const char *text)
{
  sysprof_text_writer_printf (writer, "<text x=\"%u\" y=\"%u\">", x, y);
  sysprof_text_writer_xml (writer, text);
  sysprof_text_writer_puts (writer, "</text>\n");
}

static void
write_number (TextWriter *writer, unsigned x, unsigned y, double value)
{
  static const Column column = { .kind = COLUMN_REAL };
  g_autofree char *text = sysprof_dup_cell (&column, (Cell){ .real = value });

  write_text (writer, x, y, text);
}

/* Number of values of the longest graph; all graphs share one axis. */
static uint32_t
count_values (const Rows *rows, int column)
{
  uint32_t n = 1;

  for (uint32_t row = 0; row < rows->n_rows; row++)
    {
      const GraphValues *graph = sysprof_rows_cells (rows, row)[column].graph;

      n = MAX (n, graph->n - MIN (graph->first, graph->n));
    }
  return n;
}

static void
write_bars (TextWriter *writer,
            const GraphValues *graph,
            uint32_t n_all,
            unsigned top,
            double least,
            double most)
{
  uint32_t n = graph->n - MIN (graph->first, graph->n);
  char buffer[G_ASCII_DTOSTR_BUF_SIZE], x[SYSPROF_GROUPED_SIZE], width[SYSPROF_GROUPED_SIZE];

  for (uint32_t i = 0; i < n; i++)
    {
      double value = graph->values[graph->first + i];
      int height = 1 + (int) ((HEIGHT - 1) * sysprof_graph_share (value, least, most));

      if (!isfinite (value) || (graph->from_zero && value == 0))
        continue;
      (void) g_ascii_formatd (x, sizeof x, "%.2f",
                              MARGIN + NAME_WIDTH + (double) GRAPH_WIDTH * i / n_all);
      (void) g_ascii_formatd (width, sizeof width, "%.2f", (double) GRAPH_WIDTH / n_all);
      sysprof_text_writer_printf (
          writer,
          "<rect x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\"><title>%s</title></rect>\n", x,
          (int) top + HEIGHT - height, width, height, sysprof_format_real (value, buffer));
    }
}

/* Axis below the graphs of a histogram, whose value i counts durations from 2^i ns. */
static void
write_duration_axis (TextWriter *writer, uint32_t first, uint32_t n_all, unsigned top)
{
  static const Column column = { .kind = COLUMN_DURATION };
  const uint32_t step = (n_all + MOST_TICKS - 1) / MOST_TICKS;

  for (uint32_t i = 0; i < n_all && first + i < 63; i += step)
    {
      g_autofree char *text =
          sysprof_dup_cell (&column, (Cell){ .number = INT64_C (1) << (first + i) });

      write_text (writer, MARGIN + NAME_WIDTH + GRAPH_WIDTH * i / n_all, top, text);
    }
}

bool
sysprof_render_svg_graphs (const View *view,
                           const ViewRequest *request,
                           const Rows *rows,
                           GOutputStream *stream,
                           GError **error)
{
  g_autofree char *heading = sysprof_dup_heading (view, request, rows);
  const char *title = request->title ? request->title : heading;
  int column = sysprof_rows_graph_column (rows);
  uint32_t n_all = count_values (rows, column);
  bool is_histogram = rows->n_rows > 0 && strcmp (rows->columns[column].name, "histogram") == 0;
  unsigned axis_top = 2 * MARGIN + 12 + rows->n_rows * (HEIGHT + GAP);
  TextWriter writer;

  sysprof_text_writer_init (&writer, stream);
  sysprof_text_writer_printf (
      &writer,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#1d1c1a\">\n<title>",
      2 * MARGIN + NAME_WIDTH + GRAPH_WIDTH + 90,
      axis_top + MARGIN + (is_histogram ? AXIS_HEIGHT : 0));
  sysprof_text_writer_xml (&writer, title);
  sysprof_text_writer_puts (
      &writer, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fbfaf8\"/>\n");
  write_text (&writer, MARGIN, MARGIN + 12, title);
  for (uint32_t row = 0; row < rows->n_rows; row++)
    {
      const Cell *cells = sysprof_rows_cells (rows, row);
      unsigned top = 2 * MARGIN + 12 + row * (HEIGHT + GAP);
      g_autofree char *name = dup_name (rows, cells);
      double least, most;

      write_text (&writer, MARGIN, top + HEIGHT / 2 + 4, name);
      sysprof_graph_limits (cells[column].graph, &least, &most);
      if (least > most)
        continue;
      sysprof_text_writer_puts (&writer, "<g fill=\"#3584e4\">\n");
      write_bars (&writer, cells[column].graph, n_all, top, least, most);
      sysprof_text_writer_puts (&writer, "</g>\n");
      write_number (&writer, MARGIN + NAME_WIDTH + GRAPH_WIDTH + 6, top + 10, most);
      write_number (&writer, MARGIN + NAME_WIDTH + GRAPH_WIDTH + 6, top + HEIGHT, least);
    }
  if (is_histogram)
    write_duration_axis (&writer, sysprof_rows_cells (rows, 0)[column].graph->first, n_all,
                         axis_top);
  sysprof_text_writer_puts (&writer, "</svg>\n");
  return sysprof_text_writer_finish (&writer, error);
}
