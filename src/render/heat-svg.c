// SPDX-License-Identifier: GPL-3.0-or-later

/* Heat map of the view `heat` as SVG: seconds from left to right, the slots of each second from bottom to top. */

#include "render/renderers.h"

#define SECOND         INT64_C (1000000000) /* ns */
#define CELL_WIDTH_MIN 8                    /* px */
#define CELL_WIDTH_MAX 32                   /* px */
#define WIDTH          640                  /* px that few seconds fill */
#define CELL_HEIGHT    8                    /* px */
#define MARGIN         40                   /* px */
#define NO_SLOTS       40                   /* height of an empty picture */

typedef struct
{
  const Rows *rows;
  int time;  /* column */
  int slots; /* column */
  uint32_t cell_width;
  TextWriter *writer;
} HeatMap;

static int64_t
second_of_row (const HeatMap *self, uint32_t row)
{
  return sysprof_rows_cells (self->rows, row)[self->time].number / SECOND;
}

static void
draw_second (const HeatMap *self, uint32_t row)
{
  const GraphValues *graph = sysprof_rows_cells (self->rows, row)[self->slots].graph;

  for (uint32_t i = 0; i < graph->n; i++)
    {
      unsigned paleness =
          graph->most > 0 ? (unsigned) (235 - 215 * graph->values[i] / graph->most) : 235;

      if (graph->values[i] > 0)
        sysprof_text_writer_printf (
            self->writer,
            "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" fill=\"rgb(255,%u,%u)\">"
            "<title>%.3f s: %.0f %s</title></rect>\n",
            MARGIN + row * self->cell_width, MARGIN + (graph->n - 1 - i) * CELL_HEIGHT,
            self->cell_width, CELL_HEIGHT, paleness, paleness / 2,
            (double) second_of_row (self, row) + (double) i / graph->n, graph->values[i],
            self->rows->weight_name);
    }
}

bool
sysprof_render_heat_svg (const View *view,
                         const ViewRequest *request,
                         const Rows *rows,
                         GOutputStream *stream,
                         GError **error)
{
  g_autofree char *heading = sysprof_dup_heading (view, request, rows);
  const char *title = request->title ? request->title : heading;
  TextWriter writer;
  HeatMap self = {
    .rows = rows,
    .time = sysprof_rows_column (rows, "time"),
    .slots = sysprof_rows_column (rows, "slots"),
    .cell_width = CLAMP (WIDTH / MAX (rows->n_rows, 1), CELL_WIDTH_MIN, CELL_WIDTH_MAX),
    .writer = &writer,
  };
  uint32_t label_interval = self.cell_width >= CELL_WIDTH_MAX ? 1 : 10; /* seconds */
  uint32_t n_slots =
      rows->n_rows > 0 ? sysprof_rows_cells (rows, 0)[self.slots].graph->n : NO_SLOTS;
  uint32_t width = rows->n_rows * self.cell_width, height = n_slots * CELL_HEIGHT;

  sysprof_text_writer_init (&writer, stream);
  sysprof_text_writer_printf (
      &writer,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>",
      MAX (width, 400) + 2 * MARGIN, height + 2 * MARGIN);
  sysprof_text_writer_xml (&writer, title);
  sysprof_text_writer_printf (
      &writer,
      "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fbfaf8\"/>\n"
      "<text x=\"%d\" y=\"%d\">",
      MARGIN, MARGIN - 14);
  sysprof_text_writer_xml (&writer, title);
  sysprof_text_writer_printf (
      &writer, "</text>\n<text x=\"4\" y=\"%u\">1 s</text><text x=\"4\" y=\"%u\">0</text>\n",
      MARGIN + 10, MARGIN + height);
  for (uint32_t row = 0; row < rows->n_rows; row++)
    {
      draw_second (&self, row);
      if (row % label_interval == 0)
        sysprof_text_writer_printf (
            &writer, "<text x=\"%u\" y=\"%u\">%" G_GINT64_FORMAT " s</text>\n",
            MARGIN + row * self.cell_width, MARGIN + height + 16, second_of_row (&self, row));
    }
  sysprof_text_writer_puts (&writer, "</svg>\n");
  return sysprof_text_writer_finish (&writer, error);
}
