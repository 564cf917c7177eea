// SPDX-License-Identifier: GPL-3.0-or-later

/* Tracks of counters. Counters that grow are drawn as their growth per second. */

#include "views/counter-units.h"
#include "views/tracks/track-parts.h"

#include <math.h>
#include <string.h>

#define MOST_SERIES 8
#define MOST_TRACKS 200 /* of single counters */
#define NSEC        1e9
#define WHOLE       "(Combined)"
#define PARTS       "(0123456789" /* names of counters of single parts contain these */

static const char *
name_of (const TrackFill *fill, const Counter *counter)
{
  return sysprof_store_string (fill->store, counter->name);
}

static const char *
category_of (const TrackFill *fill, const Counter *counter)
{
  return sysprof_store_string (fill->store, counter->category);
}

static const CounterUnit *
unit_of (const TrackFill *fill, const Counter *counter)
{
  return sysprof_counter_find_unit (category_of (fill, counter), name_of (fill, counter));
}

static bool
has_prefix_of (const char *name, const char *prefixes)
{
  g_auto (GStrv) list = g_strsplit (prefixes, "|", -1);

  for (size_t i = 0; list[i] != NULL; i++)
    if (g_str_has_prefix (name, list[i]))
      return true;
  return false;
}

/* "bytes/s" for a counter of bytes that grows. */
static const char *
shown_unit (TrackFill *fill, const Counter *counter)
{
  const CounterUnit *unit = unit_of (fill, counter);
  g_autofree char *rate = NULL;

  if (unit->kind == COUNTER_VALUE)
    return unit->unit;
  rate = g_strconcat (unit->unit, "/s", NULL);
  return sysprof_arena_strndup (&fill->set->arena, rate, strlen (rate));
}

static double
value_at (const TrackFill *fill, const Counter *counter, uint32_t i)
{
  const CounterValue *value = &fill->store->counters.value[i];

  return counter->is_double ? value->dbl : (double) value->i64;
}

/* The value to show. NaN for the first value of a counter that grows. */
static double
shown_value (const TrackFill *fill, const Counter *counter, CounterKind kind, uint32_t i)
{
  const int64_t *time = fill->store->counters.time;
  double value = value_at (fill, counter, i), seconds;

  if (kind == COUNTER_VALUE)
    return value;
  if (i == counter->first_value || time[i] <= time[i - 1])
    return NAN;
  if (kind == COUNTER_TOTAL)
    value -= value_at (fill, counter, i - 1);
  seconds = (double) (time[i] - time[i - 1]) / NSEC;
  return value / seconds;
}

static void
put_value (TrackFill *fill, TrackSeries *series, int64_t offset, double value)
{
  const TrackQuery *query = fill->query;
  uint32_t bin;

  sysprof_track_select (fill, series, offset, value, 1);
  if (offset < query->begin || offset > query->end)
    return;
  bin = sysprof_track_bin (fill, offset);
  series->least[bin] = fmin (series->least[bin], value);
  series->most[bin] = fmax (series->most[bin], value);
}

static void
put_counter (TrackFill *fill, Track *track, const Counter *counter)
{
  const char *name = name_of (fill, counter);
  TrackSeries *series = sysprof_track_add_series (fill, track, name);
  uint32_t end = counter->first_value + counter->n_values;
  CounterKind kind = unit_of (fill, counter)->kind;
  const char *out = track->source->out;
  double sign = track->is_mirrored && has_prefix_of (name, out) ? -1 : 1;

  for (uint32_t i = counter->first_value; i < end && sysprof_is_wanted_at (i); i++)
    {
      double value = shown_value (fill, counter, kind, i);

      if (isfinite (value))
        put_value (fill, series,
                   sysprof_request_offset (fill->request, fill->store->counters.time[i]),
                   sign * value);
      track->activity++;
    }
}

static bool
is_in_source (const TrackFill *fill, const TrackSource *source, const Counter *counter)
{
  return counter->n_values > 0 &&
         sysprof_counter_is_in_track (source->name, category_of (fill, counter));
}

/* A counter of the whole machine, not of one of its parts. */
static bool
is_of_whole (const TrackSource *source, const char *name)
{
  if (source->main != NULL)
    return has_prefix_of (name, source->main);
  return !name[strcspn (name, PARTS)] || g_str_has_suffix (name, WHOLE);
}

static bool
is_constant (const TrackFill *fill, const Counter *counter)
{
  uint32_t end = counter->first_value + counter->n_values;

  for (uint32_t i = counter->first_value; i < end; i++)
    if (value_at (fill, counter, i) != value_at (fill, counter, counter->first_value))
      return false;
  return true;
}

/* Which counters a track may have. */
enum
{
  TAKE_PARTS = 1 << 0,
  TAKE_OTHER_UNITS = 1 << 1,
  TAKE_CONSTANT = 1 << 2, /* in tracks of any unit, others take these always */
  TAKE_ALL = TAKE_PARTS | TAKE_OTHER_UNITS | TAKE_CONSTANT,
};

/* Counters of one unit: that of the source, or that of the first counter. */
static void
put_all (TrackFill *fill, Track *track, unsigned takes)
{
  const TrackSource *source = track->source;
  bool skips_constant = source->unit[0] == '\0' && !(takes & TAKE_CONSTANT);
  const Counters *counters = &fill->store->counters;

  if (takes & TAKE_OTHER_UNITS)
    track->unit = "";
  for (uint32_t i = 0; i < counters->n && track->n_series < MOST_SERIES; i++)
    {
      const Counter *counter = &counters->row[i];
      const char *unit = shown_unit (fill, counter);

      if (!is_in_source (fill, source, counter) ||
          (!(takes & TAKE_PARTS) && !is_of_whole (source, name_of (fill, counter))) ||
          (skips_constant && is_constant (fill, counter)))
        continue;
      if (track->n_series == 0 && track->unit[0] == '\0')
        track->unit = unit;
      if (strcmp (unit, track->unit) == 0)
        put_counter (fill, track, counter);
    }
}

static void
add_single (TrackFill *fill,
            const TrackSource *source,
            const Counter *counter,
            bool never_changes)
{
  const char *name = name_of (fill, counter);
  Track *track = sysprof_track_fill_add (fill, source, name);

  track->unit = shown_unit (fill, counter);
  track->is_constant = never_changes;
  track->group = sysprof_track_fill_title (fill, category_of (fill, counter));
  track->description =
      sysprof_track_fill_title (fill, sysprof_store_string (fill->store, counter->description));
  put_counter (fill, track, counter);
  sysprof_track_measure (fill, track);
}

/* What is to be done with a counter. */
enum
{
  ADD_FIRST, /* it changes */
  ADD_LAST,  /* it does not */
  IS_DONE,
};

static void
add_category (TrackFill *fill, const TrackSource *source, uint32_t first, uint8_t *state)
{
  const Counters *counters = &fill->store->counters;
  uint8_t wanted = state[first];

  for (uint32_t i = first; i < counters->n && sysprof_is_wanted_at (i); i++)
    {
      if (state[i] != wanted || counters->row[i].category != counters->row[first].category)
        continue;
      state[i] = IS_DONE;
      if (fill->tracks->len < MOST_TRACKS)
        add_single (fill, source, &counters->row[i], wanted == ADD_LAST);
      else
        fill->set->n_left_out++;
    }
}

/* One track for each counter; those of one category are neighbors. Counters that never change
 * come last. */
static void
add_singles (TrackFill *fill, const TrackSource *source)
{
  const Counters *counters = &fill->store->counters;
  g_autofree uint8_t *state = g_new0 (uint8_t, MAX (counters->n, 1));

  for (uint32_t i = 0; i < counters->n && sysprof_is_wanted_at (i); i++)
    state[i] = !is_in_source (fill, source, &counters->row[i]) ? IS_DONE
               : is_constant (fill, &counters->row[i])         ? ADD_LAST
                                                               : ADD_FIRST;
  for (unsigned pass = ADD_FIRST; pass <= ADD_LAST; pass++)
    for (uint32_t i = 0; i < counters->n && sysprof_is_wanted_at (i); i++)
      if (state[i] == pass && fill->tracks->len < MOST_TRACKS)
        add_category (fill, source, i, state);
      else if (state[i] == pass)
        fill->set->n_left_out++;
}

/* One track for all counters of a group, with the counters of the whole machine; those of its
 * parts only if there are no others. */
void
sysprof_fill_counter_tracks (TrackFill *fill, const TrackSource *source)
{
  Track *track;

  if (fill->query->splits)
    {
      add_singles (fill, source);
      return;
    }
  track = sysprof_track_fill_add (fill, source, source->title);
  track->is_mirrored = source->out != NULL;
  for (unsigned takes = 0; takes <= TAKE_ALL && track->n_series == 0; takes++)
    put_all (fill, track, takes);
  sysprof_track_measure (fill, track);
  if (track->n_series == 0)
    g_array_set_size (fill->tracks, fill->tracks->len - 1);
}
