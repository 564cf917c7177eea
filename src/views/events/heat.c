// SPDX-License-Identifier: GPL-3.0-or-later

/* Activity over time: one row per second, divided into slots. It shows activity that repeats
 * every second or lasts only some milliseconds. */

#include "views/views.h"

#include "views/overview/summary-parts.h"
#include "views/sample-rows.h"

#include <string.h>

#define SECOND     INT64_C (1000000000)
#define SLOTS      40   /* slots of a second: 25 ms each */
#define MOST_EMPTY 3600 /* greatest number of rows for seconds without activity */

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
  int64_t second; /* of the current row, -1 = none */
  uint64_t total; /* of that row */
  double *slots;  /* of that row */
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

/* Draws all rows with the same scale. */
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

const View sysprof_heat_view = {
  .name = "heat",
  .title = "Activity",
  .summary = "activity over time, in fractions of a second; svg: heat map",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_SAMPLES,
  .fill = fill_heat,
  .layout = LAYOUT_HEAT_MAP,
};
