// SPDX-License-Identifier: GPL-3.0-or-later

/* Tracks of samples, allocations and counters: values over time. */

#include "text/text.h"
#include "views/tracks/track-parts.h"

#include <math.h>
#include <string.h>

#define PERCENT      100.0
#define ROUNDING     0.01
#define MOST_SERIES  8
#define MOST_TRACKS  64            /* of threads */
#define SHOWN_SERIES "(0123456789" /* names of counters of single parts contain these */

static void
put (TrackSeries *series, uint32_t bin, double value)
{
  series->least[bin] = fmin (series->least[bin], value);
  series->most[bin] = fmax (series->most[bin], value);
}

/* Sets the scale and the figures of series from their bins. */
static void
measure (const TrackFill *fill, Track *track)
{
  for (uint32_t i = 0; i < track->n_series; i++)
    {
      TrackSeries *series = &track->series[i];
      double sum = 0;
      uint32_t n = 0;

      for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
        if (isfinite (series->most[bin]))
          {
            series->min = fmin (series->min, series->least[bin]);
            series->max = fmax (series->max, series->most[bin]);
            sum += series->least[bin] / 2 + series->most[bin] / 2;
            n++;
          }
      series->mean = n > 0 ? sum / n : NAN;
      if (isfinite (series->max))
        {
          track->max = i == 0 ? series->max : fmax (track->max, series->max);
          track->min = fmin (track->min, series->min);
        }
    }
  /* Sums of shares may exceed 100 % by rounding. */
  if (strcmp (track->unit, "%") == 0 && !(track->max > PERCENT + ROUNDING))
    track->max = PERCENT;
  if (track->max <= track->min)
    track->max = track->min + 1;
}

/* Calls `func` for each event of `events` that the filter takes within the shown time. */
typedef void EventFunc (TrackFill *fill, const StackEvents *events, uint32_t i, void *data);

static void
for_each_event (TrackFill *fill, const StackEvents *events, EventFunc *func, void *data)
{
  SampleFilter filter = fill->filter;
  g_autofree uint32_t *found = NULL;
  uint32_t n;

  filter.events = events;
  filter.event_is_in = NULL;
  found = sysprof_samples_find (fill->store, fill->request->symbols, &filter, &n);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    func (fill, events, found[i], data);
}

static uint32_t
bin_of (const TrackFill *fill, const StackEvents *events, uint32_t i)
{
  int64_t offset = sysprof_request_offset (fill->request, events->time[i]);

  return sysprof_track_bin (fill, CLAMP (offset, fill->query->begin, fill->query->end));
}

static void
put_depth (TrackFill *fill, const StackEvents *events, uint32_t i, void *data)
{
  Track *track = data;

  put (track->series, bin_of (fill, events, i), fill->store->stacks.depth[events->stack[i]]);
  track->activity++;
}

void
sysprof_fill_sample_tracks (TrackFill *fill, const TrackSource *source)
{
  Track *track = sysprof_track_fill_add (fill, source, source->title);

  (void) sysprof_track_add_series (fill, track, "Depth of stacks");
  for_each_event (fill, &fill->store->samples, put_depth, track);
  for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
    if (isfinite (track->series->least[bin]))
      track->series->least[bin] = 0;
  measure (fill, track);
}

/* Coarse bins, in which a thread's number of samples is a share of time. */
typedef struct
{
  Track *track;
  uint8_t *category;   /* [stacks.n] or NULL */
  GHashTable *threads; /* (pid, tid) → 1 + index of `counts` */
  GPtrArray *counts;   /* ThreadCounts */
} Counting;

typedef struct
{
  int32_t pid, tid;
  ProcessId process;
  uint64_t n;
  uint32_t *in_bin; /* [n_bins] */
} ThreadCounts;

static void
thread_counts_free (gpointer data)
{
  ThreadCounts *self = data;

  g_free (self->in_bin);
  g_free (self);
}

static void
count_thread (TrackFill *fill, const StackEvents *events, uint32_t i, void *data)
{
  Counting *counting = data;
  gint64 key = ((gint64) events->pid[i] << 32) | (guint32) events->tid[i];
  ThreadCounts *counts = g_hash_table_lookup (counting->threads, &key);

  if (counts == NULL)
    {
      gint64 *stored = g_memdup2 (&key, sizeof key);

      counts = g_new0 (ThreadCounts, 1);
      *counts = (ThreadCounts){ .pid = events->pid[i],
                                .tid = events->tid[i],
                                .process = events->process[i],
                                .in_bin = g_new0 (uint32_t, fill->query->n_bins) };
      g_hash_table_insert (counting->threads, stored, counts);
      g_ptr_array_add (counting->counts, counts);
    }
  counts->n++;
  counts->in_bin[bin_of (fill, events, i)]++;
}

static int
compare_counts (gconstpointer left, gconstpointer right)
{
  const ThreadCounts *a = *(ThreadCounts *const *) left, *b = *(ThreadCounts *const *) right;

  return (a->n < b->n) - (a->n > b->n);
}

/* Number of samples that a thread has in a bin if it runs all the time. It follows from the
 * period of the sampled event if that is a time; else the busiest bin of a thread is a full one. */
static double
most_in_bin (const TrackFill *fill, const GPtrArray *counts)
{
  const Store *store = fill->store;
  double width = (double) (fill->query->end - fill->query->begin) / fill->query->n_bins;
  uint32_t most = 1;

  if (store->n_sampled_events == 1 && store->sampled_events[0].is_time &&
      store->sampled_events[0].period > 0)
    return fmax (width / (double) store->sampled_events[0].period, 1);
  for (guint i = 0; i < counts->len; i++)
    for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
      most = MAX (most, ((ThreadCounts *) counts->pdata[i])->in_bin[bin]);
  return most;
}

void
sysprof_fill_thread_tracks (TrackFill *fill, const TrackSource *source)
{
  g_autoptr (GHashTable) threads =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GPtrArray) counts = g_ptr_array_new_with_free_func (thread_counts_free);
  Counting counting = { .threads = threads, .counts = counts };
  double most;

  for_each_event (fill, &fill->store->samples, count_thread, &counting);
  g_ptr_array_sort (counts, compare_counts);
  most = most_in_bin (fill, counts);
  for (guint i = 0; i < MIN (counts->len, MOST_TRACKS); i++)
    {
      ThreadCounts *thread = counts->pdata[i];
      g_autofree char *label =
          sysprof_store_dup_thread_label (fill->store, thread->process, thread->tid);
      g_autofree char *title = sysprof_dup_one_line (label);
      Track *track = sysprof_track_fill_add (fill, source, title);
      TrackSeries *series = sysprof_track_add_series (fill, track, "Samples");

      for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
        if (thread->in_bin[bin] > 0)
          {
            put (series, bin, fmin (PERCENT * thread->in_bin[bin] / most, PERCENT));
            series->least[bin] = 0;
          }
      track->activity = thread->n;
      measure (fill, track);
    }
}

static void
count_category (TrackFill *fill, const StackEvents *events, uint32_t i, void *data)
{
  Counting *counting = data;
  TrackSeries *series = counting->track->series;
  uint8_t category = counting->category[events->stack[i]];
  uint32_t bin = bin_of (fill, events, i);

  series[category].most[bin] =
      isfinite (series[category].most[bin]) ? series[category].most[bin] + 1 : 1;
  counting->track->activity++;
}

/* Samples of each category in a bin, one above the other; the fullest bin has 100 %. */
void
sysprof_fill_category_tracks (TrackFill *fill, const TrackSource *source)
{
  Track *track = sysprof_track_fill_add (fill, source, source->title);
  g_autofree uint8_t *category =
      sysprof_stacks_categorize (fill->store, fill->request->symbols, NULL);
  g_autofree double *base = g_new0 (double, fill->query->n_bins);
  Counting counting = { .track = track, .category = category };
  double most = 1;

  for (unsigned i = 0; i < N_CATEGORIES; i++)
    (void) sysprof_track_add_series (fill, track, sysprof_category_to_string (i));
  for_each_event (fill, &fill->store->samples, count_category, &counting);
  for (unsigned i = 0; i < N_CATEGORIES; i++)
    for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
      if (isfinite (track->series[i].most[bin]))
        {
          track->series[i].least[bin] = base[bin];
          track->series[i].most[bin] += base[bin];
          base[bin] = track->series[i].most[bin];
          most = fmax (most, base[bin]);
        }
  for (unsigned i = 0; i < N_CATEGORIES; i++)
    for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
      {
        track->series[i].least[bin] *= PERCENT / most;
        track->series[i].most[bin] *= PERCENT / most;
      }
  measure (fill, track);
}

static void
put_size (TrackFill *fill, const StackEvents *events, uint32_t i, void *data)
{
  Track *track = data;
  uint32_t bin = bin_of (fill, events, i);
  double before = isfinite (track->series->most[bin]) ? track->series->most[bin] : 0;

  track->series->most[bin] = before + (double) events->weight[i];
  track->series->least[bin] = 0;
  track->activity++;
}

void
sysprof_fill_allocation_tracks (TrackFill *fill, const TrackSource *source)
{
  Track *track = sysprof_track_fill_add (fill, source, source->title);

  (void) sysprof_track_add_series (fill, track, "Allocated");
  for_each_event (fill, &fill->store->allocations, put_size, track);
  measure (fill, track);
}

static void
put_counter (TrackFill *fill, Track *track, const Counter *counter)
{
  const Counters *counters = &fill->store->counters;
  TrackSeries *series =
      sysprof_track_add_series (fill, track, sysprof_store_string (fill->store, counter->name));
  uint32_t end = counter->first_value + counter->n_values;

  for (uint32_t i = counter->first_value; i < end && sysprof_is_wanted_at (i); i++)
    {
      const CounterValue *value = &counters->value[i];
      int64_t offset = sysprof_request_offset (fill->request, counters->time[i]);

      if (offset < fill->query->begin || offset > fill->query->end)
        continue;
      put (series, sysprof_track_bin (fill, offset),
           counter->is_double ? value->dbl : (double) value->i64);
      track->activity++;
    }
}

/* One track for all counters of a group, with the counters of the whole machine; those of its
 * parts only if there are no others. */
void
sysprof_fill_counter_tracks (TrackFill *fill, const TrackSource *source)
{
  const Store *store = fill->store;
  const Counters *counters = &store->counters;
  Track *track = sysprof_track_fill_add (fill, source, source->title);

  for (unsigned parts = 0; parts < 2 && track->n_series == 0; parts++)
    for (uint32_t i = 0; i < counters->n && track->n_series < MOST_SERIES; i++)
      {
        const Counter *counter = &counters->row[i];
        const char *name = sysprof_store_string (store, counter->name);

        if (counter->n_values > 0 && (parts > 0 || !name[strcspn (name, SHOWN_SERIES)]) &&
            sysprof_counter_is_in_track (source->name,
                                         sysprof_store_string (store, counter->category)))
          put_counter (fill, track, counter);
      }
  measure (fill, track);
  if (track->n_series == 0)
    g_array_set_size (fill->tracks, fill->tracks->len - 1);
}
