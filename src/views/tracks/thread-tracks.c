// SPDX-License-Identifier: GPL-3.0-or-later

/* One track per thread, busiest first: its time on the CPU by category, and below it the times
 * at which it waited. */

#include "text/text.h"
#include "views/tracks/track-parts.h"

#include <math.h>
#include <string.h>

#define PERCENT     100.0
#define MOST_TRACKS 64

typedef struct
{
  int32_t pid, tid;
  ProcessId process;
  uint64_t n_samples;
  uint32_t rank;                  /* index of its track; UINT32_MAX = none */
  uint32_t *in_bin[N_CATEGORIES]; /* [n_bins] samples; NULL = none of that category */
  SpanList waits;
} Thread;

typedef struct
{
  GHashTable *of_id;  /* (pid, tid) → Thread */
  GPtrArray *threads; /* of Thread, busiest first */
  Thread *last;       /* of the last lookup: samples of a thread follow each other */
} Threads;

static void
thread_free (gpointer data)
{
  Thread *self = data;

  for (unsigned i = 0; i < N_CATEGORIES; i++)
    g_free (self->in_bin[i]);
  g_free (self);
}

static Thread *
find_thread (Threads *self, int32_t pid, int32_t tid)
{
  gint64 id = ((gint64) pid << 32) | (guint32) tid;

  if (self->last == NULL || self->last->pid != pid || self->last->tid != tid)
    self->last = g_hash_table_lookup (self->of_id, &id);
  return self->last;
}

static Thread *
add_thread (Threads *self, const StackEvents *events, uint32_t i)
{
  gint64 id = ((gint64) events->pid[i] << 32) | (guint32) events->tid[i];
  Thread *thread = g_new0 (Thread, 1);

  *thread = (Thread){ .pid = events->pid[i],
                      .tid = events->tid[i],
                      .process = events->process[i],
                      .rank = UINT32_MAX };
  g_hash_table_insert (self->of_id, g_memdup2 (&id, sizeof id), thread);
  g_ptr_array_add (self->threads, thread);
  return self->last = thread;
}

static int
compare_threads (gconstpointer left, gconstpointer right)
{
  const Thread *a = *(Thread *const *) left, *b = *(Thread *const *) right;

  return (a->n_samples < b->n_samples) - (a->n_samples > b->n_samples);
}

/* The busiest threads of the selection, in the shown time. */
static void
rank_threads (Threads *self, const StackEvents *events, const uint32_t *found, uint32_t n)
{
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      uint32_t at = found[i];
      Thread *thread = find_thread (self, events->pid[at], events->tid[at]);

      if (thread == NULL)
        thread = add_thread (self, events, at);
      thread->n_samples++;
    }
  g_ptr_array_sort (self->threads, compare_threads);
  for (uint32_t i = 0; i < MIN (self->threads->len, MOST_TRACKS); i++)
    ((Thread *) self->threads->pdata[i])->rank = i;
}

static void
count_samples (Threads *self,
               TrackFill *fill,
               const uint8_t *category,
               const uint32_t *found,
               uint32_t n)
{
  const StackEvents *events = &fill->store->samples;

  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      uint32_t at = found[i];
      Thread *thread = find_thread (self, events->pid[at], events->tid[at]);
      uint8_t kind = category[events->stack[at]];
      int64_t offset = sysprof_request_offset (fill->request, events->time[at]);

      if (thread->rank == UINT32_MAX)
        continue;
      if (thread->in_bin[kind] == NULL)
        thread->in_bin[kind] = g_new0 (uint32_t, fill->query->n_bins);
      thread->in_bin[kind][sysprof_track_bin (
          fill, CLAMP (offset, fill->query->begin, fill->query->end))]++;
    }
}

static void
add_waits (Threads *self, TrackFill *fill)
{
  const Waits *waits = &fill->store->waits;
  const StackEvents *events = &waits->events;
  g_autofree uint8_t *is_idle =
      waits->is_recorded ? sysprof_waits_find_idle (fill->store, fill->request->symbols) : NULL;

  for (uint32_t i = 0; is_idle != NULL && i < events->n && sysprof_is_wanted_at (i); i++)
    {
      int64_t begin = sysprof_request_offset (fill->request, events->time[i]);
      int64_t end = sysprof_request_offset (fill->request, sysprof_wait_end (waits, i));
      Thread *thread;

      if (end < fill->query->begin || begin > fill->query->end)
        continue;
      thread = find_thread (self, events->pid[i], events->tid[i]);
      if (thread == NULL || thread->rank == UINT32_MAX)
        continue;
      sysprof_span_list_add (&thread->waits,
                             &(TrackSpan){ .begin = begin,
                                           .end = end,
                                           .item = i,
                                           .n = 1,
                                           .color = is_idle[i] ? 0 : waits->row[i].reason });
    }
}

/* Number of samples that a thread has in a bin if it runs all the time. It follows from the
 * period of the sampled event if that is a time; else the busiest bin of a thread is a full
 * one. */
static double
most_in_bin (const TrackFill *fill, const Threads *threads)
{
  const Store *store = fill->store;
  double width = (double) (fill->query->end - fill->query->begin) / fill->query->n_bins;
  double most = 1;

  if (store->n_sampled_events == 1 && store->sampled_events[0].is_time &&
      store->sampled_events[0].period > 0)
    return fmax (width / (double) store->sampled_events[0].period, 1);
  for (guint i = 0; i < MIN (threads->threads->len, MOST_TRACKS); i++)
    for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
      {
        const Thread *thread = threads->threads->pdata[i];
        double sum = 0;

        for (unsigned kind = 0; kind < N_CATEGORIES; kind++)
          sum += thread->in_bin[kind] != NULL ? thread->in_bin[kind][bin] : 0;
        most = fmax (most, sum);
      }
  return most;
}

/* The categories of a bin stand above each other. */
static void
add_series (TrackFill *fill, Track *track, const Thread *thread, double most)
{
  g_autofree double *base = g_new0 (double, fill->query->n_bins);

  for (unsigned kind = 0; kind < N_CATEGORIES; kind++)
    {
      TrackSeries *series;

      if (thread->in_bin[kind] == NULL)
        continue;
      series = sysprof_track_add_series (fill, track, sysprof_category_to_string (kind));
      for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
        if (thread->in_bin[kind][bin] > 0)
          {
            series->least[bin] = base[bin];
            base[bin] = fmin (base[bin] + PERCENT * thread->in_bin[kind][bin] / most, PERCENT);
            series->most[bin] = base[bin];
          }
    }
  sysprof_track_measure (fill, track);
}

static void
add_track (TrackFill *fill, const TrackSource *source, Thread *thread, double most)
{
  g_autofree char *label =
      sysprof_store_dup_thread_label (fill->store, thread->process, thread->tid);
  g_autofree char *title = sysprof_dup_one_line (label);
  Track *track = sysprof_track_fill_add (fill, source, title);

  add_series (fill, track, thread, most);
  sysprof_span_list_finish (&thread->waits, track);
  track->activity = thread->n_samples;
}

void
sysprof_fill_thread_tracks (TrackFill *fill, const TrackSource *source)
{
  const Store *store = fill->store;
  g_autoptr (GHashTable) of_id =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (thread_free);
  Threads threads = { of_id, list, NULL };
  g_autofree uint8_t *category =
      sysprof_stacks_categorize (store, fill->request->symbols, NULL);
  SampleFilter filter = fill->filter;
  g_autofree uint32_t *found = NULL;
  uint32_t n;
  double most;

  filter.events = NULL;
  filter.event_is_in = NULL;
  found = sysprof_samples_find (store, fill->request->symbols, &filter, &n);
  rank_threads (&threads, &store->samples, found, n);
  for (guint i = 0; i < MIN (list->len, MOST_TRACKS); i++)
    sysprof_span_list_init (&((Thread *) list->pdata[i])->waits, fill);
  count_samples (&threads, fill, category, found, n);
  add_waits (&threads, fill);
  most = most_in_bin (fill, &threads);
  for (guint i = 0; i < MIN (list->len, MOST_TRACKS); i++)
    add_track (fill, source, list->pdata[i], most);
}
