// SPDX-License-Identifier: GPL-3.0-or-later

/* What views of events share: rows that are not samples, and statistics of durations. */

#include "views/event-rows.h"

void
sysprof_rows_init_events (Rows *self,
                          const Column *columns,
                          uint32_t n_columns,
                          const char *name,
                          uint64_t total,
                          uint64_t n_available)
{
  sysprof_rows_init (self, columns, n_columns, total);
  self->is_event_list = true;
  self->n_available = n_available;
  self->weight_name = name;
}

void
sysprof_cells_set_spread (Cell *cells, const Spread *spread)
{
  const int64_t values[N_SPREAD_COLUMNS] = { spread->min, spread->median, spread->mean,
                                             spread->p95, spread->p99,    spread->max };

  for (unsigned i = 0; i < N_SPREAD_COLUMNS; i++)
    cells[i].number = spread->n > 0 ? values[i] : NO_NUMBER;
}

const char *
sysprof_rows_dup_text (Rows *self, Text text)
{
  return sysprof_arena_strndup (&self->arena, text.at, sysprof_text_size (text));
}
