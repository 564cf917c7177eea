// SPDX-License-Identifier: GPL-3.0-or-later

/* Tracks of marks, logs, messages and processes: spans and instants. */

#include "text/text.h"
#include "views/tracks/track-parts.h"

#define MOST_LANES 8 /* the last one has what the others have no room for */

typedef struct
{
  TrackFill *fill;
  SpanList list;
  uint32_t most_lanes;
  int64_t lane_end[MOST_LANES]; /* of the last span of each lane */
} EventFill;

/* The times are those of the capture. */
typedef struct
{
  int64_t begin, end;
  uint32_t item, color;
  int32_t pid;
  int16_t cpu;
} Event;

static EventFill
begin_events (TrackFill *fill, uint32_t most_lanes)
{
  EventFill self = { .fill = fill, .most_lanes = most_lanes };

  sysprof_span_list_init (&self.list, fill);
  return self;
}

/* First lane that is free at `begin`. Marks nest, and processes overlap. */
static uint32_t
find_lane (EventFill *self, int64_t begin, int64_t end)
{
  uint32_t lane = 0;

  while (lane + 1 < self->most_lanes && self->lane_end[lane] > begin)
    lane++;
  self->lane_end[lane] = MAX (self->lane_end[lane], end);
  return lane;
}

/* Adds an event that the filter takes, at its begin or, if that is earlier, at the filter's. */
static void
add_event (EventFill *self, const Event *event)
{
  TrackFill *fill = self->fill;
  TrackSpan span = { .begin = sysprof_request_offset (fill->request, event->begin),
                     .end = sysprof_request_offset (fill->request, event->end),
                     .item = event->item,
                     .n = 1,
                     .color = event->color };

  if (span.end < fill->query->begin || span.begin > fill->query->end ||
      !sysprof_event_matcher_takes (&fill->matcher, MAX (event->begin, fill->filter.time_begin),
                                    event->pid, event->cpu))
    return;
  span.lane = find_lane (self, span.begin, span.end);
  sysprof_span_list_add (&self->list, &span);
}

static void
finish_events (EventFill *self, const TrackSource *source)
{
  sysprof_span_list_finish (&self->list,
                            sysprof_track_fill_add (self->fill, source, source->title));
}

void
sysprof_fill_mark_tracks (TrackFill *fill, const TrackSource *source)
{
  EventFill events = begin_events (fill, MOST_LANES);

  for (uint32_t i = 0; i < fill->store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &fill->store->marks[i];

      add_event (&events,
                 &(Event){ mark->time, sysprof_time_sum (mark->time, MAX (mark->duration, 0)),
                           i, mark->name, mark->pid, mark->cpu });
    }
  finish_events (&events, source);
}

/* "Mark (4.10 ms): app / load: main.ui" */
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
  EventFill events = begin_events (fill, 1);

  for (uint32_t i = 0; i < fill->store->n_logs && sysprof_is_wanted_at (i); i++)
    {
      const Log *log = &fill->store->logs[i];

      add_event (&events,
                 &(Event){ log->time, log->time, i, log->severity, log->pid, log->cpu });
    }
  finish_events (&events, source);
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
  EventFill events = begin_events (fill, 1);

  for (uint32_t i = 0; i < fill->store->n_dbus && sysprof_is_wanted_at (i); i++)
    {
      const DBusMessage *message = &fill->store->dbus[i];

      add_event (&events, &(Event){ message->time, message->time, i, message->bus, message->pid,
                                    message->cpu });
    }
  finish_events (&events, source);
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
  EventFill events = begin_events (fill, MOST_LANES);

  for (ProcessId i = 1; i < fill->store->processes.n && sysprof_is_wanted_at (i); i++)
    {
      const Process *process = &fill->store->processes.row[i];

      if (!process->is_kernel)
        add_event (&events, &(Event){ process->start, process->end, i, process->comm,
                                      process->pid, -1 });
    }
  finish_events (&events, source);
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
