// SPDX-License-Identifier: GPL-3.0-or-later

/* Tracks of marks, logs, messages and processes: spans and instants. */

#include "text/text.h"
#include "views/tracks/track-parts.h"

#define MOST_LANES 8 /* the last one has what the others have no room for */

/* First lane that is free at `begin`. Marks nest, and processes overlap. */
static uint32_t
find_lane (int64_t *lane_end, int64_t begin, int64_t end)
{
  uint32_t lane = 0;

  while (lane + 1 < MOST_LANES && lane_end[lane] > begin)
    lane++;
  lane_end[lane] = MAX (lane_end[lane], end);
  return lane;
}

static bool
is_shown (const TrackFill *fill, int64_t begin, int64_t end)
{
  return end >= fill->query->begin && begin <= fill->query->end;
}

void
sysprof_fill_mark_tracks (TrackFill *fill, const TrackSource *source)
{
  const Store *store = fill->store;
  int64_t lane_end[MOST_LANES] = { 0 };
  SpanList list;

  sysprof_span_list_init (&list, fill);
  for (uint32_t i = 0; i < store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &store->marks[i];
      int64_t begin = sysprof_request_offset (fill->request, mark->time);
      int64_t end = sysprof_time_sum (begin, MAX (mark->duration, 0));

      if (!is_shown (fill, begin, end) ||
          !sysprof_event_matcher_takes (
              &fill->matcher, MAX (mark->time, fill->filter.time_begin), mark->pid, mark->cpu))
        continue;
      sysprof_span_list_add (&list, &(TrackSpan){ .begin = begin,
                                                  .end = end,
                                                  .item = i,
                                                  .n = 1,
                                                  .lane = find_lane (lane_end, begin, end),
                                                  .color = mark->name });
    }
  sysprof_span_list_finish (&list, sysprof_track_fill_add (fill, source, source->title));
}

/* "load: main.ui, 4.10 ms at 1.234567 s" */
char *
sysprof_dup_mark_text (const Store *store, uint32_t item)
{
  const Mark *mark = &store->marks[item];
  const char *name = sysprof_store_string (store, mark->name);
  const char *message = sysprof_store_string (store, mark->message);
  g_autofree char *duration = sysprof_dup_duration (mark->duration);
  g_autofree char *text = NULL;

  text = g_strdup_printf ("Mark (%s): %s / %s%s%s", duration,
                          sysprof_store_string (store, mark->group), name,
                          message[0] ? ": " : "", message);
  return sysprof_dup_one_line (text);
}

void
sysprof_fill_log_tracks (TrackFill *fill, const TrackSource *source)
{
  const Store *store = fill->store;
  SpanList list;

  sysprof_span_list_init (&list, fill);
  for (uint32_t i = 0; i < store->n_logs && sysprof_is_wanted_at (i); i++)
    {
      const Log *log = &store->logs[i];
      int64_t at = sysprof_request_offset (fill->request, log->time);

      if (sysprof_event_matcher_takes (&fill->matcher, log->time, log->pid, log->cpu))
        sysprof_span_list_add (
            &list,
            &(TrackSpan){ .begin = at, .end = at, .item = i, .n = 1, .color = log->severity });
    }
  sysprof_span_list_finish (&list, sysprof_track_fill_add (fill, source, source->title));
}

char *
sysprof_dup_log_text (const Store *store, uint32_t item)
{
  const Log *log = &store->logs[item];
  const char *domain = sysprof_store_string (store, log->domain);
  g_autofree char *text = g_strdup_printf ("%s%s%s", domain, domain[0] ? ": " : "",
                                           sysprof_store_string (store, log->message));

  return sysprof_dup_one_line (text);
}

void
sysprof_fill_dbus_tracks (TrackFill *fill, const TrackSource *source)
{
  const Store *store = fill->store;
  SpanList list;

  sysprof_span_list_init (&list, fill);
  for (uint32_t i = 0; i < store->n_dbus && sysprof_is_wanted_at (i); i++)
    {
      const DBusMessage *message = &store->dbus[i];
      int64_t at = sysprof_request_offset (fill->request, message->time);

      if (sysprof_event_matcher_takes (&fill->matcher, message->time, message->pid,
                                       message->cpu))
        sysprof_span_list_add (
            &list,
            &(TrackSpan){ .begin = at, .end = at, .item = i, .n = 1, .color = message->bus });
    }
  sysprof_span_list_finish (&list, sysprof_track_fill_add (fill, source, source->title));
}

char *
sysprof_dup_dbus_text (const Store *store, uint32_t item)
{
  DBusHeader header;
  g_autofree char *text = NULL;

  if (!sysprof_store_read_dbus_header (store, item, &header))
    return g_strdup ("Message that was not stored");
  text =
      g_strdup_printf ("%.*s.%.*s %.*s", (int) sysprof_text_size (header.interface),
                       header.interface.at, (int) sysprof_text_size (header.member),
                       header.member.at, (int) sysprof_text_size (header.path), header.path.at);
  return sysprof_dup_one_line (g_strstrip (text));
}

void
sysprof_fill_process_tracks (TrackFill *fill, const TrackSource *source)
{
  const Processes *processes = &fill->store->processes;
  int64_t lane_end[MOST_LANES] = { 0 };
  SpanList list;

  sysprof_span_list_init (&list, fill);
  for (ProcessId i = 1; i < processes->n && sysprof_is_wanted_at (i); i++)
    {
      const Process *process = &processes->row[i];
      int64_t begin = sysprof_request_offset (fill->request, process->start);
      int64_t end = sysprof_request_offset (fill->request, process->end);

      if (process->is_kernel || !is_shown (fill, begin, end) ||
          !sysprof_event_matcher_takes (&fill->matcher, fill->filter.time_begin, process->pid,
                                        -1))
        continue;
      sysprof_span_list_add (&list, &(TrackSpan){ .begin = begin,
                                                  .end = end,
                                                  .item = i,
                                                  .n = 1,
                                                  .lane = find_lane (lane_end, begin, end),
                                                  .color = process->comm });
    }
  sysprof_span_list_finish (&list, sysprof_track_fill_add (fill, source, source->title));
}

char *
sysprof_dup_process_text (const Store *store, uint32_t item)
{
  const Process *process = &store->processes.row[item];
  g_autofree char *duration =
      sysprof_dup_duration (sysprof_time_between (process->start, process->end));
  StringId command = process->command_line ? process->command_line : process->comm;
  g_autofree char *text = g_strdup_printf ("Process %d (%s): %s", process->pid, duration,
                                           sysprof_store_string (store, command));

  return sysprof_dup_one_line (text);
}
