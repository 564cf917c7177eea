// SPDX-License-Identifier: GPL-3.0-or-later

/* A view as an SVG picture of the lines that text.c writes, to embed in a document. */

#include "flame/flame.h"
#include "render/renderers.h"

#include <string.h>

#define LINE_HEIGHT  18
#define LETTER_WIDTH 7.83 /* px, of a fixed font of 13 px */
#define MARGIN       12

/* Replaces line ends in `text` by NUL and returns the starts of lines, lines[n]. *(full)* */
static char **
split_lines (char *text, size_t *n)
{
  GPtrArray *lines = g_ptr_array_new ();

  for (char *end; text; text = end)
    {
      g_ptr_array_add (lines, text);
      end = strchr (text, '\n');
      if (end)
        *end++ = '\0';
    }
  *n = lines->len;
  return (char **) g_ptr_array_free (lines, FALSE);
}

static bool
render_svg (const View *view,
            const ViewRequest *request,
            const Rows *rows,
            GOutputStream *stream,
            GError **error)
{
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  ViewRequest plain = *request;
  g_autofree char **lines = NULL; /* [n] in `text` */
  g_autofree char *text = NULL;
  size_t columns = 0, n;
  TextWriter writer;

  if (!view->sections && rows->n_rows > 0 && sysprof_rows_graph_column (rows) >= 0)
    return sysprof_render_svg_graphs (view, request, rows, stream, error);
  plain.use_color = false;
  plain.is_ascii = false;
  if (!sysprof_render_text (view, &plain, rows, memory, error) ||
      !g_output_stream_write_all (memory, "", 1, NULL, NULL, error) ||
      !g_output_stream_close (memory, NULL, error))
    return false;
  text = g_memory_output_stream_steal_data (G_MEMORY_OUTPUT_STREAM (memory));
  lines = split_lines (g_strchomp (text), &n);
  for (size_t i = 0; i < n; i++)
    columns = MAX (columns, sysprof_text_columns (lines[i]));

  sysprof_text_writer_init (&writer, stream);
  sysprof_text_writer_printf (
      &writer,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
      "font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13\">\n<title>",
      (size_t) (LETTER_WIDTH * (double) columns) + 2 * MARGIN, LINE_HEIGHT * n + 2 * MARGIN);
  sysprof_text_writer_xml (&writer, request->title ? request->title : view->title);
  sysprof_text_writer_puts (
      &writer, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fbfaf8\"/>\n");
  for (size_t i = 0; i < n; i++)
    {
      sysprof_text_writer_printf (
          &writer, "<text x=\"%d\" y=\"%zu\" fill=\"#1d1c1a\" xml:space=\"preserve\">", MARGIN,
          MARGIN + LINE_HEIGHT * i + LINE_HEIGHT - 5);
      sysprof_text_writer_xml (&writer, lines[i]);
      sysprof_text_writer_puts (&writer, "</text>\n");
    }
  sysprof_text_writer_puts (&writer, "</svg>\n");
  return sysprof_text_writer_finish (&writer, error);
}

const RenderFormatRow sysprof_svg_format = {
  .name = "svg",
  .suffix = ".svg",
  .render = render_svg,
  .merges_processes = true,
  .drawings = { [LAYOUT_FLAME] = sysprof_flame_render_svg,
                [LAYOUT_HEAT_MAP] = sysprof_render_heat_svg },
};
