// SPDX-License-Identifier: GPL-3.0-or-later

/* Log messages of programs and the system. */

#include "views/event-rows.h"

enum
{
  TIME,
  SEVERITY,
  DOMAIN,
  PID,
  CPU,
  MESSAGE,
  N_COLUMNS,
};

static const Column columns[] = {
  [TIME] = { "time", "TIME", COLUMN_TIME },
  [SEVERITY] = { "severity", "SEVERITY", COLUMN_TEXT },
  [DOMAIN] = { "domain", "DOMAIN", COLUMN_TEXT },
  [PID] = { "pid", "PID", COLUMN_NUMBER },
  [CPU] = { "cpu", "CPU", COLUMN_NUMBER, .json_only = true },
  [MESSAGE] = { "message", "MESSAGE", COLUMN_TEXT, .is_long = true },
};

/* GLib's flags; the most severe one counts. */
static const struct
{
  unsigned flag;
  const char *name;
} severities[] = {
  { 4, "error" },    { 8, "critical" }, { 16, "warning" },
  { 32, "message" }, { 64, "info" },    { 128, "debug" },
};

static const char *
name_of_severity (unsigned severity)
{
  for (size_t i = 0; i < G_N_ELEMENTS (severities); i++)
    if (severity & severities[i].flag)
      return severities[i].name;
  return "";
}

static bool
fill_logs (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  EventMatcher matcher;

  sysprof_rows_init_events (rows, columns, N_COLUMNS, "messages", 0, store->n_logs);
  sysprof_event_matcher_init (&matcher, store, request->filter);
  for (uint32_t i = 0; i < store->n_logs && sysprof_is_wanted_at (i); i++)
    {
      const Log *log = &store->logs[i];
      Cell *cells;

      if (!sysprof_event_matcher_takes (&matcher, log->time, log->pid, log->cpu))
        continue;
      rows->total++;
      cells = sysprof_rows_add (rows);
      cells[TIME].number = sysprof_request_offset (request, log->time);
      cells[SEVERITY].text = name_of_severity (log->severity);
      cells[DOMAIN].text = sysprof_store_string (store, log->domain);
      cells[PID].number = log->pid;
      cells[CPU].number = log->cpu;
      cells[MESSAGE].text = sysprof_store_string (store, log->message);
    }
  sysprof_event_matcher_clear (&matcher);
  return true;
}

const View sysprof_logs_view = {
  .name = "logs",
  .title = "Logs",
  .summary = "log messages of programs and the system",
  .recorded_by = "sysprof-cli records the journal unless --no-system-log is given, and with "
                 "--kernel-log messages of the kernel.",
  .options = OPTIONS_EVENTS,
  .fill = fill_logs,
};
