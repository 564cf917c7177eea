// SPDX-License-Identifier: GPL-3.0-or-later

/* Counters: first and last value, spread, growth and a small graph of each. */

#include "views/counter-units.h"
#include "views/event-rows.h"

#include <math.h>
#include <string.h>

#define SLICES 32 /* slices of a small graph */

enum
{
  CATEGORY,
  NAME,
  UNIT,
  COUNT,
  FIRST,
  LAST,
  MIN_,
  MAX_,
  MEAN,
  RATE,
  GRAPH,
  DESCRIPTION,
  PID,
  ID,
  N_COLUMNS,
};

static const Column columns[] = {
  [CATEGORY] = { "category", "CATEGORY", COLUMN_TEXT },
  [NAME] = { "name", "NAME", COLUMN_TEXT },
  [UNIT] = { "unit", "UNIT", COLUMN_TEXT, .json_only = true },
  [COUNT] = { "count", "COUNT", COLUMN_COUNT, .extra = 4 },
  [FIRST] = { "first", "FIRST", COLUMN_QUANTITY, .extra = 3 },
  [LAST] = { "last", "LAST", COLUMN_QUANTITY },
  [MIN_] = { "min", "MIN", COLUMN_QUANTITY, .extra = 2 },
  [MAX_] = { "max", "MAX", COLUMN_QUANTITY },
  [MEAN] = { "mean", "MEAN", COLUMN_QUANTITY, .extra = 2 },
  [RATE] = { "rate", "PER SECOND", COLUMN_QUANTITY },
  [GRAPH] = { "graph", "GRAPH", COLUMN_GRAPH },
  [DESCRIPTION] = { "description", "DESCRIPTION", COLUMN_TEXT, .json_only = true },
  [PID] = { "pid", "PID", COLUMN_NUMBER, .json_only = true },
  [ID] = { "id", "ID", COLUMN_NUMBER, .json_only = true },
};

static double
value_at (const Store *store, const Counter *counter, uint32_t i)
{
  const CounterValue *value = &store->counters.value[i];

  return counter->is_double ? value->dbl : (double) value->i64;
}

/* The time span of graphs, the same for all counters. */
static void
find_span (const ViewRequest *request, int64_t *begin, int64_t *end)
{
  const SampleFilter *filter = request->filter;

  *begin = request->store->begin;
  *end = request->store->end;
  if (filter != NULL && filter->time_begin != 0)
    *begin = MAX (*begin, filter->time_begin);
  if (filter != NULL && filter->time_end != 0)
    *end = MIN (*end, filter->time_end);
}

typedef struct
{
  uint64_t n;
  double first, last, min, max, sum;
  int64_t first_time, last_time;
  double slice_sum[SLICES];
  uint32_t slice_n[SLICES];
} Sums;

static void
add_value (Sums *sums, int64_t time, double value, int64_t begin, int64_t end)
{
  double share = (double) sysprof_time_between (begin, time) /
                 (double) MAX (sysprof_time_between (begin, end), 1);
  unsigned slice = (unsigned) fmin (share * SLICES, SLICES - 1);

  if (sums->n++ == 0)
    {
      sums->first = sums->min = sums->max = value;
      sums->first_time = time;
    }
  sums->last = value;
  sums->last_time = time;
  sums->min = fmin (sums->min, value);
  sums->max = fmax (sums->max, value);
  sums->sum += value;
  sums->slice_sum[slice] += value;
  sums->slice_n[slice]++;
}

/* Means per slice. A slice without values repeats the value before. */
static void
draw_graph (Rows *rows, Cell *cell, const Sums *sums)
{
  double *values = sysprof_rows_add_graph (rows, cell, SLICES, false);
  double last = NAN;

  for (unsigned i = 0; i < SLICES; i++)
    {
      if (sums->slice_n[i] > 0)
        last = sums->slice_sum[i] / sums->slice_n[i];
      values[i] = last;
    }
}

static void
add_counter (Rows *rows, const Store *store, const Counter *counter, const Sums *sums)
{
  const char *category = sysprof_store_string (store, counter->category);
  const char *name = sysprof_store_string (store, counter->name);
  double seconds = (double) sysprof_time_between (sums->first_time, sums->last_time) / 1e9;
  const CounterUnit *unit = sysprof_counter_find_unit (category, name);
  /* The increase before the first value is from an unknown time. */
  double growth =
      unit->kind == COUNTER_INCREASE ? sums->sum - sums->first : sums->last - sums->first;
  const char *shown = unit->unit;
  g_autofree char *per_second = g_strconcat (shown, "/s", NULL);
  Cell *cells = sysprof_rows_add (rows);

  cells[CATEGORY].text = category;
  cells[NAME].text = name;
  cells[UNIT].text = shown;
  cells[COUNT].count = sums->n;
  sysprof_rows_set_quantity (rows, &cells[FIRST], sums->first, shown);
  sysprof_rows_set_quantity (rows, &cells[LAST], sums->last, shown);
  sysprof_rows_set_quantity (rows, &cells[MIN_], sums->min, shown);
  sysprof_rows_set_quantity (rows, &cells[MAX_], sums->max, shown);
  sysprof_rows_set_quantity (rows, &cells[MEAN], sums->sum / (double) sums->n, shown);
  sysprof_rows_set_quantity (rows, &cells[RATE], seconds > 0 ? growth / seconds : NAN,
                             sysprof_rows_dup (rows, per_second));
  draw_graph (rows, &cells[GRAPH], sums);
  cells[DESCRIPTION].text = sysprof_store_string (store, counter->description);
  cells[PID].number = counter->pid;
  cells[ID].number = counter->id;
}

/* Whether an overview shows the counter. There are many counters of single parts ("Total CPU
 * 3", "RX Bytes (eth0)", "Resident (make/123)"), and counters that never changed matter
 * little. */
static bool
is_in_overview (const Store *store, const Counter *counter, const Sums *sums)
{
  const char *name = sysprof_store_string (store, counter->name);

  return sums->min < sums->max && !name[strcspn (name, "(0123456789")];
}

/* Counters after this many of their category are in no order. */
#define MOST_ROUNDS 8

/* Categories that are shown after all others, in this order: there are many processes, and the
 * recorder's own figures matter least. */
static const char *const last_categories[] = { "Process", "Recorder", "Sampler" };

#define N_RANKS (1 + G_N_ELEMENTS (last_categories))

static unsigned
rank_of (const Store *store, const Counter *counter)
{
  const char *category = sysprof_store_string (store, counter->category);

  for (unsigned i = 0; i < G_N_ELEMENTS (last_categories); i++)
    if (strcmp (category, last_categories[i]) == 0)
      return 1 + i;
  return 0;
}

/* Adds counters of an overview round by round, one of each category, because the first
 * counters of a category matter most. */
static void
add_overview (Rows *rows, const Store *store, const Sums *all)
{
  const Counters *counters = &store->counters;
  g_autofree unsigned *rounds = g_new (unsigned, MAX (counters->n, 1));
  g_autoptr (GHashTable) n_of_category = g_hash_table_new (NULL, NULL);

  memset (rounds, 0xff, counters->n * sizeof *rounds); /* 0xffffffff: not in the overview */
  for (uint32_t i = 0; i < counters->n && sysprof_is_wanted_at (i); i++)
    {
      gpointer category = GUINT_TO_POINTER (counters->row[i].category);
      unsigned n = GPOINTER_TO_UINT (g_hash_table_lookup (n_of_category, category));

      if (all[i].n == 0 || !is_in_overview (store, &counters->row[i], &all[i]))
        continue;
      rounds[i] =
          rank_of (store, &counters->row[i]) > 0 ? MOST_ROUNDS : MIN (n, MOST_ROUNDS - 1);
      g_hash_table_insert (n_of_category, category, GUINT_TO_POINTER (n + 1));
    }

  for (unsigned round = 0; round <= MOST_ROUNDS; round++)
    for (uint32_t i = 0; i < counters->n && sysprof_is_wanted_at (i); i++)
      if (rounds[i] == round)
        add_counter (rows, store, &counters->row[i], &all[i]);
}

/* Counters that never changed go last, because there may be many, such as those of unused
 * disks. */
static void
add_rank (Rows *rows, const Store *store, const Sums *all, unsigned rank)
{
  const Counters *counters = &store->counters;

  for (unsigned changed = 2; changed-- > 0;)
    for (uint32_t i = 0; i < counters->n && sysprof_is_wanted_at (i); i++)
      if (all[i].n > 0 && (all[i].min < all[i].max) == changed &&
          rank_of (store, &counters->row[i]) == rank)
        add_counter (rows, store, &counters->row[i], &all[i]);
}

static bool
fill_counters (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  const Counters *counters = &store->counters;
  g_autofree Sums *all = g_new0 (Sums, MAX (counters->n, 1));
  int64_t begin, end;
  EventMatcher matcher;

  sysprof_rows_init_events (rows, columns, N_COLUMNS, "counters", 0, 0);
  sysprof_event_matcher_init (&matcher, store, request->filter);
  find_span (request, &begin, &end);
  for (uint32_t i = 0; i < counters->n && sysprof_is_wanted_at (i); i++)
    {
      const Counter *counter = &counters->row[i];
      Sums *sums = &all[i];

      for (uint32_t at = counter->first_value;
           at < counter->first_value + counter->n_values && sysprof_is_wanted_at (at); at++)
        if (sysprof_event_matcher_takes (&matcher, counters->time[at], counter->pid, -1))
          add_value (sums, counters->time[at], value_at (store, counter, at), begin, end);
      /* Recorders define counters that the machine does not have; those have no values. */
      rows->n_available += counter->n_values > 0;
      rows->total += sums->n > 0;
    }
  if (request->is_overview)
    add_overview (rows, store, all);
  else
    for (unsigned rank = 0; rank < N_RANKS; rank++)
      add_rank (rows, store, all, rank);
  sysprof_event_matcher_clear (&matcher);
  return true;
}

const View sysprof_counters_view = {
  .name = "counters",
  .title = "Counters",
  .summary = "first, last, min, max, mean, growth and a small graph of each",
  .recorded_by = "sysprof-cli records counters unless --no-cpu, --no-memory and similar "
                 "options are given.",
  .options = OPTIONS_EVENTS,
  .fill = fill_counters,
};
