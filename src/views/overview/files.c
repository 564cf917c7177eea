// SPDX-License-Identifier: GPL-3.0-or-later

/* Files that are embedded in the capture. */

#include "views/event-rows.h"

enum
{
  NAME,
  SIZE,
  PID,
  COMPLETE,
  COMPRESSED,
  N_COLUMNS,
};

static const Column columns[] = {
  [NAME] = { "name", "NAME", COLUMN_TEXT },
  [SIZE] = { "size", "BYTES", COLUMN_BYTES },
  [PID] = { "pid", "PID", COLUMN_NUMBER, .json_only = true },
  [COMPLETE] = { "complete", "COMPLETE", COLUMN_BOOL },
  [COMPRESSED] = { "compressed", "COMPRESSED", COLUMN_BOOL, .json_only = true },
};

static bool
fill_files (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;

  sysprof_rows_init_events (rows, columns, N_COLUMNS, "files", store->files.n, store->files.n);
  for (uint32_t i = 0; i < store->files.n && sysprof_is_wanted_at (i); i++)
    {
      const EmbeddedFile *file = &store->files.row[i];
      Cell *cells = sysprof_rows_add (rows);

      cells[NAME].text = sysprof_store_string (store, file->name);
      cells[SIZE].number = (int64_t) file->size;
      cells[PID].number = file->pid;
      cells[COMPLETE].flag = file->is_whole;
      cells[COMPRESSED].flag = g_str_has_suffix (cells[NAME].text, ".gz");
    }
  return true;
}

const View sysprof_files_view = {
  .name = "files",
  .title = "Files",
  .summary = "files in the capture; --extract NAME writes one",
  .recorded_by = "sysprof-cli embeds files of the system into each capture.",
  .options = OPTIONS_SORT | OPTIONS_EXTRACT,
  .fill = fill_files,
};
