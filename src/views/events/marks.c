// SPDX-License-Identifier: GPL-3.0-or-later

/* Marks; with --by-name, the number, duration and regularity of the marks of each name. */

#include "views/event-rows.h"
#include "views/overview/summary-parts.h"

enum
{
  TIME,
  DURATION,
  GROUP,
  NAME,
  PID,
  CPU,
  MESSAGE,
  N_COLUMNS,
};

static const Column columns[] = {
  [TIME] = { "time", "TIME", COLUMN_TIME },
  [DURATION] = { "duration", "DURATION", COLUMN_DURATION },
  [GROUP] = { "group", "GROUP", COLUMN_TEXT },
  [NAME] = { "name", "NAME", COLUMN_TEXT },
  [PID] = { "pid", "PID", COLUMN_NUMBER },
  [CPU] = { "cpu", "CPU", COLUMN_NUMBER, .json_only = true },
  [MESSAGE] = { "message", "MESSAGE", COLUMN_TEXT, .is_long = true, .extra = 1 },
};

enum
{
  BY_GROUP,
  BY_NAME,
  BY_COUNT,
  BY_SPREAD,
  BY_TOTAL = BY_SPREAD + N_SPREAD_COLUMNS,
  BY_SELF,
  BY_INTERVAL,
  BY_JITTER,
  BY_HISTOGRAM,
  BY_RHYTHM,
  BY_RHYTHM_JITTER,
  N_BY_COLUMNS,
};

static const Column by_columns[] = {
  [BY_GROUP] = { "group", "GROUP", COLUMN_TEXT },
  [BY_NAME] = { "name", "NAME", COLUMN_TEXT, .is_long = true },
  [BY_COUNT] = { "count", "COUNT", COLUMN_COUNT },
  SPREAD_COLUMNS (BY_SPREAD),
  [BY_TOTAL] = { "total", "TOTAL", COLUMN_DURATION, .extra = 4 },
  [BY_SELF] = { "self", "SELF", COLUMN_DURATION, .extra = 2 },
  [BY_INTERVAL] = { "interval", "INTERVAL", COLUMN_DURATION },
  [BY_JITTER] = { "jitter", "JITTER", COLUMN_DURATION },
  [BY_HISTOGRAM] = { "histogram", "HISTOGRAM", COLUMN_GRAPH, .extra = 2 },
  [BY_RHYTHM] = { "rhythm", "RHYTHM", COLUMN_GRAPH, .json_only = true },
  [BY_RHYTHM_JITTER] = { "rhythm-jitter", "JITTER OVER TIME", COLUMN_GRAPH, .extra = 1 },
};

bool *
sysprof_request_find_marks (const ViewRequest *request, uint32_t *n)
{
  const Store *store = request->store;
  bool *is_in = g_new0 (bool, MAX (store->n_marks, 1));
  uint32_t n_found = 0;
  EventMatcher matcher;

  sysprof_event_matcher_init (&matcher, store, request->filter);
  for (uint32_t i = 0; i < store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &store->marks[i];

      is_in[i] = sysprof_event_matcher_takes (&matcher, mark->time, mark->pid, mark->cpu);
      n_found += is_in[i];
    }
  sysprof_event_matcher_clear (&matcher);
  if (n != NULL)
    *n = n_found;
  return is_in;
}

static void
add_marks (const ViewRequest *request, Rows *rows, const bool *is_in)
{
  const Store *store = request->store;

  for (uint32_t i = 0; i < store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &store->marks[i];
      Cell *cells;

      if (!is_in[i])
        continue;
      cells = sysprof_rows_add (rows);
      cells[TIME].number = sysprof_request_offset (request, mark->time);
      cells[DURATION].number = MAX (mark->duration, 0);
      cells[GROUP].text = sysprof_store_string (store, mark->group);
      cells[NAME].text = sysprof_store_string (store, mark->name);
      cells[PID].number = mark->pid;
      cells[CPU].number = mark->cpu;
      cells[MESSAGE].text = sysprof_store_string (store, mark->message);
    }
}

/* All histograms start at the shortest duration of all names, so that they can be compared. */
static void
set_histogram (Rows *rows, Cell *cell, const MarkSummary *summary, uint32_t first)
{
  uint32_t n = 0;
  double *values;

  for (uint32_t i = 0; i < MARK_HISTOGRAM_SIZE; i++)
    if (summary->histogram[i] > 0)
      n = i + 1;
  values = sysprof_rows_add_graph (rows, cell, n, true);
  ((GraphValues *) cell->graph)->first = first;
  for (uint32_t i = 0; i < n; i++)
    values[i] = summary->histogram[i];
}

static void
set_rhythm (Rows *rows, Cell *cell, const double slices[MARK_RHYTHM_SIZE], bool from_zero)
{
  double *values = sysprof_rows_add_graph (rows, cell, MARK_RHYTHM_SIZE, from_zero);

  for (unsigned i = 0; i < MARK_RHYTHM_SIZE; i++)
    values[i] = slices[i];
}

static void
add_summaries (const ViewRequest *request, Rows *rows, const bool *is_in)
{
  const Store *store = request->store;
  uint32_t n;
  g_autofree MarkSummary *summaries = sysprof_marks_summarize (store, is_in, &n);
  uint32_t first = MARK_HISTOGRAM_SIZE;

  for (uint32_t i = 0; i < n; i++)
    for (uint32_t slot = 0; slot < first; slot++)
      if (summaries[i].histogram[slot] > 0)
        first = slot;
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      const MarkSummary *summary = &summaries[i];
      Cell *cells = sysprof_rows_add (rows);

      cells[BY_GROUP].text = sysprof_store_string (store, summary->group);
      cells[BY_NAME].text = sysprof_store_string (store, summary->name);
      cells[BY_COUNT].count = summary->durations.n;
      sysprof_cells_set_spread (cells + BY_SPREAD, &summary->durations);
      cells[BY_TOTAL].number = summary->durations.sum;
      cells[BY_SELF].number = summary->self;
      cells[BY_INTERVAL].number = summary->is_periodic ? summary->interval : NO_NUMBER;
      cells[BY_JITTER].number = summary->is_periodic ? summary->jitter : NO_NUMBER;
      set_histogram (rows, &cells[BY_HISTOGRAM], summary, first);
      if (!summary->is_periodic)
        continue;
      set_rhythm (rows, &cells[BY_RHYTHM], summary->rhythm, false);
      set_rhythm (rows, &cells[BY_RHYTHM_JITTER], summary->rhythm_jitter, true);
    }
}

static bool
fill_marks (const ViewRequest *request, Rows *rows, GError **error)
{
  bool by_name = request->is_overview || sysprof_request_has (request, "by-name");
  uint32_t n;
  g_autofree bool *is_in = sysprof_request_find_marks (request, &n);

  sysprof_rows_init_events (rows, by_name ? by_columns : columns,
                            by_name ? N_BY_COLUMNS : N_COLUMNS, "marks", n,
                            request->store->n_marks);
  if (by_name)
    add_summaries (request, rows, is_in);
  else
    add_marks (request, rows, is_in);
  return true;
}

static const ViewSwitch switches[] = {
  { "by-name", "Show statistics for each mark name" },
  { NULL },
};

const View sysprof_marks_view = {
  .name = "marks",
  .title = "Marks",
  .summary = "time spans marked by programs; --by-name: statistics of each name",
  .switches = switches,
  .recorded_by = "sysprof-cli records those of the command after --, and with --scheduler "
                 "those of CPUs; 'sysprof-cli mark' writes marks of scripts.",
  .options = OPTIONS_EVENTS,
  .fill = fill_marks,
};
