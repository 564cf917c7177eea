// SPDX-License-Identifier: GPL-3.0-or-later

/* Mounts of processes, from the copies of /proc/PID/mountinfo in the capture. */

#include "util/mountinfo.h"
#include "views/event-rows.h"
#include "views/tasks/whole-time.h"

enum
{
  PID,
  ID,
  PARENT,
  MAJOR,
  MINOR,
  POINT,
  SOURCE,
  ROOT,
  TYPE,
  OPTIONS,
  N_COLUMNS,
};

static const Column columns[] = {
  [PID] = { "pid", "PID", COLUMN_NUMBER },
  [ID] = { "id", "ID", COLUMN_NUMBER, .extra = 3 },
  [PARENT] = { "parent", "PARENT", COLUMN_NUMBER, .extra = 3 },
  [MAJOR] = { "major", "MAJOR", COLUMN_NUMBER, .extra = 3 },
  [MINOR] = { "minor", "MINOR", COLUMN_NUMBER, .extra = 3 },
  [POINT] = { "mount-point", "MOUNT POINT", COLUMN_TEXT },
  [SOURCE] = { "source", "MOUNT SOURCE", COLUMN_TEXT },
  [ROOT] = { "root", "ROOT", COLUMN_TEXT, .extra = 2 },
  [TYPE] = { "type", "FILESYSTEM", COLUMN_TEXT },
  [OPTIONS] = { "options", "OPTIONS", COLUMN_TEXT, .is_long = true, .extra = 1 },
};

static const char *
dup_plain (Rows *rows, Text text)
{
  g_autofree char *plain = sysprof_mountinfo_dup_plain (text);

  return sysprof_rows_dup (rows, plain);
}

static void
add_mount (Rows *rows, int32_t pid, const Mountinfo *mount)
{
  Cell *cells = sysprof_rows_add (rows);

  cells[PID].number = pid;
  cells[ID].number = mount->id;
  cells[PARENT].number = mount->parent_id;
  cells[MAJOR].number = mount->device_major;
  cells[MINOR].number = mount->device_minor;
  cells[POINT].text = dup_plain (rows, mount->mount_point);
  cells[SOURCE].text = dup_plain (rows, mount->source);
  cells[ROOT].text = dup_plain (rows, mount->root);
  cells[TYPE].text = dup_plain (rows, mount->type);
  cells[OPTIONS].text = dup_plain (rows, mount->options);
}

static void
add_mounts (Rows *rows, const Store *store, int32_t pid)
{
  g_autofree char *name = g_strdup_printf ("/proc/%d/mountinfo", pid);
  g_autoptr (GBytes) bytes = sysprof_store_read_file (store, name, NULL); /* may be absent */
  Text text = { 0 };
  Mountinfo mount;
  gsize size;

  if (bytes != NULL)
    {
      text.at = g_bytes_get_data (bytes, &size);
      text.end = text.at + size;
    }
  while (text.at != NULL && sysprof_mountinfo_next (&text, &mount))
    add_mount (rows, pid, &mount);
}

static bool
fill_mounts (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  SampleFilter filter = sysprof_filter_of_whole_time (request->filter);
  EventMatcher matcher;

  sysprof_rows_init_events (rows, columns, N_COLUMNS, "mounts", 0, 0);
  sysprof_event_matcher_init (&matcher, store, &filter);
  for (ProcessId i = 1; i < store->processes.n && sysprof_is_wanted_at (i); i++)
    if (sysprof_event_matcher_takes (&matcher, store->begin, store->processes.row[i].pid, -1))
      add_mounts (rows, store, store->processes.row[i].pid);
  sysprof_event_matcher_clear (&matcher);
  rows->total = rows->n_rows;
  rows->n_available = rows->n_rows;
  return true;
}

const View sysprof_mounts_view = {
  .name = "mounts",
  .title = "Mounts",
  .summary = "which file systems processes have mounted",
  .recorded_by = "sysprof-cli embeds the mount tables of all processes that it samples.",
  .options = OPTIONS_EVENTS,
  .fill = fill_mounts,
};
