// SPDX-License-Identifier: GPL-3.0-or-later

/* Address layout of processes: which file is mapped where. */

#include "views/event-rows.h"
#include "views/tasks/whole-time.h"

enum
{
  PID,
  TIME,
  BEGIN,
  END,
  OFFSET,
  FILE_NAME,
  N_COLUMNS,
};

/* Addresses are texts, because programs do not read hexadecimal numbers from JSON. */
static const Column columns[] = {
  [PID] = { "pid", "PID", COLUMN_NUMBER },
  [TIME] = { "time", "TIME", COLUMN_TIME },
  [BEGIN] = { "begin", "START ADDRESS", COLUMN_TEXT },
  [END] = { "end", "END ADDRESS", COLUMN_TEXT },
  [OFFSET] = { "offset", "OFFSET", COLUMN_TEXT, .extra = 1 },
  [FILE_NAME] = { "file", "FILE", COLUMN_TEXT, .is_long = true },
};

typedef struct
{
  const Mapping *mapping;
  int32_t pid;
} MapRow;

static int
compare_maps (const void *left, const void *right, void *data)
{
  const MapRow *a = left, *b = right;

  if (a->pid != b->pid)
    return a->pid < b->pid ? -1 : 1;
  if (a->mapping->start != b->mapping->start)
    return a->mapping->start < b->mapping->start ? -1 : 1;
  return (a->mapping->time > b->mapping->time) - (a->mapping->time < b->mapping->time);
}

/* With equal numbers of digits, so that texts sort like the numbers. */
static const char *
dup_address (Rows *rows, uint64_t address)
{
  g_autofree char *text = g_strdup_printf ("0x%012" G_GINT64_MODIFIER "x", address);

  return sysprof_rows_dup (rows, text);
}

static void
add_map (const ViewRequest *request, Rows *rows, const MapRow *row)
{
  Cell *cells = sysprof_rows_add (rows);

  cells[PID].number = row->pid;
  cells[TIME].number = sysprof_request_offset (request, row->mapping->time);
  cells[BEGIN].text = dup_address (rows, row->mapping->start);
  cells[END].text = dup_address (rows, row->mapping->end);
  cells[OFFSET].text = dup_address (rows, row->mapping->file_offset);
  cells[FILE_NAME].text = sysprof_store_string (request->store, row->mapping->path);
}

static bool
fill_maps (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  g_autofree MapRow *list = g_new (MapRow, MAX (store->n_mappings, 1));
  SampleFilter filter = sysprof_filter_of_whole_time (request->filter);
  uint32_t n = 0;
  EventMatcher matcher;

  sysprof_event_matcher_init (&matcher, store, &filter);
  for (MappingId i = 1; i < store->n_mappings && sysprof_is_wanted_at (i); i++)
    {
      const Mapping *mapping = &store->mappings[i];
      int32_t pid = store->processes.row[mapping->process].pid;

      if (sysprof_event_matcher_takes (&matcher, store->begin, pid, -1))
        list[n++] = (MapRow){ mapping, pid };
    }
  sysprof_event_matcher_clear (&matcher);
  (void) sysprof_sort_if_wanted (list, n, sizeof *list, compare_maps, NULL);
  sysprof_rows_init_events (rows, columns, N_COLUMNS, "mappings", n,
                            store->n_mappings > 0 ? store->n_mappings - 1 : 0);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    add_map (request, rows, &list[i]);
  return true;
}

const View sysprof_maps_view = {
  .name = "maps",
  .title = "Address layout",
  .summary = "which files processes have mapped, and where",
  .recorded_by = "sysprof-cli records the mappings of all processes that it samples.",
  .options = OPTIONS_EVENTS,
  .fill = fill_maps,
};
