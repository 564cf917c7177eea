// SPDX-License-Identifier: GPL-3.0-or-later

/* What the recorder wrote about the machine and the recording. */

#include "views/event-rows.h"

enum
{
  TIME,
  PID,
  ID,
  VALUE,
  N_COLUMNS,
};

static const Column columns[] = {
  [TIME] = { "time", "TIME", COLUMN_TIME, .json_only = true },
  [PID] = { "pid", "PID", COLUMN_NUMBER, .json_only = true },
  [ID] = { "id", "ID", COLUMN_TEXT },
  [VALUE] = { "value", "VALUE", COLUMN_TEXT, .is_long = true },
};

static bool
fill_metadata (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;

  sysprof_rows_init_events (rows, columns, N_COLUMNS, "entries", store->n_metadata,
                            store->n_metadata);
  for (uint32_t i = 0; i < store->n_metadata && sysprof_is_wanted_at (i); i++)
    {
      const Metadata *metadata = &store->metadata[i];
      Cell *cells = sysprof_rows_add (rows);

      cells[TIME].number = sysprof_request_offset (request, metadata->time);
      cells[PID].number = metadata->pid;
      cells[ID].text = sysprof_store_string (store, metadata->id);
      cells[VALUE].text = sysprof_store_string (store, metadata->value);
    }
  return true;
}

const View sysprof_metadata_view = {
  .name = "metadata",
  .title = "Metadata",
  .summary = "what the recorder wrote about the machine and the recording",
  .recorded_by = "sysprof-cli writes metadata into each capture.",
  .options = OPTIONS_SORT,
  .fill = fill_metadata,
};
