// SPDX-License-Identifier: GPL-3.0-or-later

/* The resident memory of the selected processes, largest first. */

#include "views/overview/summary-parts.h"
#include "views/sample-rows.h"

enum
{
  PROCESS,
  FIRST,
  LAST,
  MOST,
  N_COLUMNS,
};

static const Column columns[] = {
  [PROCESS] = { "process", "PROCESS", COLUMN_TEXT },
  [FIRST] = { "first", "FIRST", COLUMN_BYTES, .is_short = true },
  [LAST] = { "last", "LAST", COLUMN_BYTES, .is_short = true },
  [MOST] = { "max", "MAX", COLUMN_BYTES, .is_short = true },
};

static bool
fill_memory (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  g_autofree bool *is_in = sysprof_request_find_processes (request);
  TimeRange time;
  g_autofree ProcessUsage *usage = sysprof_usage_of_processes (store, request->filter, &time);

  sysprof_rows_init (rows, columns, N_COLUMNS, 0);
  for (ProcessId i = 1; i < store->processes.n && sysprof_is_wanted_at (i); i++)
    if (is_in[i] && usage[i].resident_max >= 0)
      {
        const Process *process = &store->processes.row[i];
        g_autofree char *name = g_strdup_printf (
            "%s/%d", sysprof_store_string (store, process->comm), process->pid);
        Cell *cells = sysprof_rows_add (rows);

        cells[PROCESS].text = sysprof_rows_dup (rows, name);
        cells[FIRST].number = usage[i].resident_first;
        cells[LAST].number = usage[i].resident_last;
        cells[MOST].number = usage[i].resident_max;
      }
  return sysprof_rows_sort (rows, "max", error);
}

const View sysprof_memory_view = {
  .name = "memory",
  .title = "Memory",
  .fill = fill_memory,
};
