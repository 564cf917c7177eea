// SPDX-License-Identifier: GPL-3.0-or-later

/* Activity over time: a row for each second, in slots of a fraction of it. What comes again every second, or shows
 * only for some milliseconds, is seen here and nowhere else. */

#include "views/render.h"

#include "views/fold.h"
#include "views/summary-parts.h"

#include <string.h>

#define SECOND      INT64_C (1000000000)
#define SLOTS       40   /* of a second: 25 ms each */
#define MOST_EMPTY  3600 /* seconds without activity that have a row, too */
#define CELL_WIDTH  8    /* px, of the picture, at least */
#define CELL_MOST   32   /* px, where there are few */
#define WIDTH       640  /* px, that few seconds take */
#define CELL_HEIGHT 8    /* px */
#define MARGIN      40   /* px */

enum
{
  TIME,
  TOTAL,
  SLOTS_,
  N_COLUMNS,
};

static const Column columns[] = {
  [TIME] = { "time", "SECOND", COLUMN_TIME },
  [TOTAL] = { "total", "SAMPLES", COLUMN_COUNT, .is_weight = true, .title_of_time = "TIME" },
  [SLOTS_] = { "slots", "EACH 25 MS", COLUMN_GRAPH },
};

typedef struct
{
  Rows *rows;
  int64_t second; /* of the row at hand, -1 = none */
  uint64_t total; /* of it */
  double *slots;  /* of it */
  int64_t n_empty;
} Heat;

static void
begin_second (Heat *self, int64_t second)
{
  Cell *cells = sysprof_rows_add (self->rows);

  cells[TIME].number = second * SECOND;
  self->slots = sysprof_rows_add_graph (self->rows, &cells[SLOTS_], SLOTS, true);
  self->second = second;
}

static void
add_event (Heat *self, int64_t offset, uint64_t weight)
{
  int64_t second = offset / SECOND;

  if (self->second >= 0 && second - self->second <= MOST_EMPTY - self->n_empty)
    while (self->second + 1 < second)
      {
        begin_second (self, self->second + 1);
        self->n_empty++;
      }
  if (second != self->second)
    begin_second (self, second);
  self->slots[offset % SECOND / (SECOND / SLOTS)] += (double) weight;
  self->rows->cells[(size_t) (self->rows->n_rows - 1) * N_COLUMNS + TOTAL].count += weight;
  self->rows->total += weight;
}

/* All rows on one scale. */
static void
find_scale (Rows *rows)
{
  double most = 0;

  for (uint32_t row = 0; row < rows->n_rows; row++)
    for (uint32_t i = 0; i < SLOTS; i++)
      most = MAX (most, sysprof_rows_cells (rows, row)[SLOTS_].graph->values[i]);
  for (uint32_t row = 0; row < rows->n_rows; row++)
    ((GraphValues *) sysprof_rows_cells (rows, row)[SLOTS_].graph)->most = most;
}

static bool
fill_heat (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  const SampleFilter *filter = request->filter;
  const StackEvents *events = sysprof_filter_events (filter, store);
  bool weighs_one = events->weight == NULL || (filter != NULL && filter->weigh_one);
  Heat self = { .rows = rows, .second = -1 };
  uint32_t n;
  g_autofree uint32_t *found = sysprof_samples_find (store, request->symbols, filter, &n);

  sysprof_rows_init (rows, columns, N_COLUMNS, 0);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    add_event (&self, sysprof_request_offset (request, events->time[found[i]]),
               weighs_one ? 1 : (uint64_t) MAX (events->weight[found[i]], 0));
  find_scale (rows);
  return true;
}

/* --- the picture: seconds from left to right, the slots of each from below --- */

static void
draw_second (Out *out, const Rows *rows, uint32_t row, uint32_t cell_width)
{
  const GraphValues *graph = sysprof_rows_cells (rows, row)[SLOTS_].graph;
  double seconds = (double) sysprof_rows_cells (rows, row)[TIME].number / (double) SECOND;

  for (uint32_t i = 0; i < SLOTS; i++)
    {
      unsigned paleness =
          graph->most > 0 ? (unsigned) (235 - 215 * graph->values[i] / graph->most) : 235;

      if (graph->values[i] > 0)
        sysprof_out_printf (
            out,
            "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" fill=\"rgb(255,%u,%u)\">"
            "<title>%.3f s: %.0f %s</title></rect>\n",
            MARGIN + row * cell_width, MARGIN + (SLOTS - 1 - i) * CELL_HEIGHT, cell_width,
            CELL_HEIGHT, paleness, paleness / 2, seconds + (double) i / SLOTS, graph->values[i],
            rows->weight_name);
    }
}

static bool
draw_heat (RenderFormat format,
           const ViewRequest *request,
           const Rows *rows,
           GOutputStream *stream,
           GError **error)
{
  g_autofree char *heading = sysprof_dup_heading (&sysprof_heat_view, request, rows);
  uint32_t cell_width = CLAMP (WIDTH / MAX (rows->n_rows, 1), CELL_WIDTH, CELL_MOST);
  uint32_t every = cell_width >= CELL_MOST ? 1 : 10; /* a label */
  uint32_t width = rows->n_rows * cell_width, height = SLOTS * CELL_HEIGHT;
  Out out;

  sysprof_out_init (&out, stream);
  sysprof_out_printf (&out,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                      "font-family=\"sans-serif\" font-size=\"12\">\n<title>",
                      MAX (width, 400) + 2 * MARGIN, height + 2 * MARGIN);
  sysprof_out_xml (&out, request->title ? request->title : heading);
  sysprof_out_printf (&out,
                      "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fbfaf8\"/>\n"
                      "<text x=\"%d\" y=\"%d\">",
                      MARGIN, MARGIN - 14);
  sysprof_out_xml (&out, request->title ? request->title : heading);
  sysprof_out_printf (
      &out, "</text>\n<text x=\"4\" y=\"%u\">1 s</text><text x=\"4\" y=\"%u\">0</text>\n",
      MARGIN + 10, MARGIN + height);
  for (uint32_t row = 0; row < rows->n_rows; row++)
    {
      draw_second (&out, rows, row, cell_width);
      if (row % every == 0)
        sysprof_out_printf (&out, "<text x=\"%u\" y=\"%u\">%" G_GINT64_FORMAT " s</text>\n",
                            MARGIN + row * cell_width, MARGIN + height + 16,
                            sysprof_rows_cells (rows, row)[TIME].number / SECOND);
    }
  sysprof_out_text (&out, "</svg>\n");
  return sysprof_out_finish (&out, error);
}

const View sysprof_heat_view = {
  .name = "heat",
  .title = "Activity",
  .summary = "activity over time, in fractions of a second; svg: heat map",
  .fill = fill_heat,
  .draw = draw_heat,
  .draws = 1u << RENDER_SVG,
};
