// SPDX-License-Identifier: GPL-3.0-or-later

/* Each value of the counters, in order of time. */

#include "views/counter-units.h"
#include "views/event-rows.h"

enum
{
  TIME,
  CATEGORY,
  NAME,
  VALUE,
  N_COLUMNS,
};

static const Column columns[] = {
  [TIME] = { "time", "TIME", COLUMN_TIME },
  [CATEGORY] = { "category", "CATEGORY", COLUMN_TEXT },
  [NAME] = { "name", "NAME", COLUMN_TEXT },
  [VALUE] = { "value", "VALUE", COLUMN_QUANTITY },
};

typedef struct
{
  int64_t time;
  uint32_t counter, value; /* indices */
} Point;

static int
compare_points (gconstpointer left, gconstpointer right)
{
  const Point *a = left, *b = right;

  if (a->time != b->time)
    return a->time < b->time ? -1 : 1;
  return (a->value > b->value) - (a->value < b->value);
}

/* The values that the filter takes. *(full)* */
static GArray *
find_points (const ViewRequest *request)
{
  const Counters *counters = &request->store->counters;
  GArray *points = g_array_new (FALSE, FALSE, sizeof (Point));
  EventMatcher matcher;

  sysprof_event_matcher_init (&matcher, request->store, request->filter);
  for (uint32_t i = 0; i < counters->n; i++)
    {
      const Counter *counter = &counters->row[i];
      uint32_t end = counter->first_value + counter->n_values;

      for (uint32_t at = counter->first_value; at < end && sysprof_is_wanted_at (at); at++)
        if (sysprof_event_matcher_takes (&matcher, counters->time[at], counter->pid, -1))
          {
            Point point = { counters->time[at], i, at };

            g_array_append_val (points, point);
          }
    }
  sysprof_event_matcher_clear (&matcher);
  g_array_sort (points, compare_points);
  return points;
}

static bool
fill_counter_values (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  const Counters *counters = &store->counters;
  g_autoptr (GArray) points = find_points (request);

  sysprof_rows_init_events (rows, columns, N_COLUMNS, "values", points->len,
                            counters->n_values);
  for (guint i = 0; i < points->len && sysprof_is_wanted_at (i); i++)
    {
      const Point *point = &g_array_index (points, Point, i);
      const Counter *counter = &counters->row[point->counter];
      const CounterValue *value = &counters->value[point->value];
      const char *category = sysprof_store_string (store, counter->category);
      const char *name = sysprof_store_string (store, counter->name);
      Cell *cells = sysprof_rows_add (rows);

      cells[TIME].number = sysprof_request_offset (request, point->time);
      cells[CATEGORY].text = category;
      cells[NAME].text = name;
      sysprof_rows_set_quantity (rows, &cells[VALUE],
                                 counter->is_double ? value->dbl : (double) value->i64,
                                 sysprof_counter_find_unit (category, name)->unit);
    }
  return true;
}

const View sysprof_counter_values_view = {
  .name = "counter-values",
  .title = "Counters Table",
  .options = OPTIONS_EVENTS,
  .fill = fill_counter_values,
};
