// SPDX-License-Identifier: GPL-3.0-or-later

/* What samples were taken on, and what each of them weighs: docs/format.md. */

#include "store/builder.h"

#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

#define PERIODS_BETWEEN 0x100 /* between two checks for cancellation */
#define MOST_EVENTS     SAMPLED_EVENT_UNKNOWN

/* It is shown, and typed: no blanks, no control characters. */
static bool
is_name (Text text)
{
  bool is_graphic = sysprof_text_size (text) > 0;

  for (const char *at = text.at; at < text.end; at++)
    is_graphic = is_graphic && g_ascii_isgraph (*at);
  return is_graphic;
}

/* NUMBER UNIT PERIOD NAME, the numbers in turn. */
static bool
read_event (Store *store, Text line, uint32_t number, SampledEvent *event)
{
  uint64_t said, period, frequency;
  Text unit, word;

  if (!sysprof_text_u64 (&line, &said) || said != number ||
      !sysprof_text_next_word (&line, &unit) || !sysprof_text_next_word (&line, &word) ||
      !sysprof_text_skip (&line, " ") || !is_name (line))
    return false;

  *event = (SampledEvent){ .is_time = sysprof_text_equal (unit, "ns") };
  if (sysprof_text_u64 (&word, &period))
    event->period = (int64_t) MIN (period, INT64_MAX);
  else if (sysprof_text_skip (&word, "-@") && sysprof_text_u64 (&word, &frequency))
    event->rate = (uint32_t) MIN (frequency, UINT32_MAX);
  event->name = sysprof_store_intern (store, line);
  return true;
}

static void
read_events (Store *store, GBytes *bytes)
{
  g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (SampledEvent));
  gsize size;
  const char *at = g_bytes_get_data (bytes, &size);
  Text text = { at, at + size }, line;
  SampledEvent event;

  while (at != NULL && events->len < MOST_EVENTS && sysprof_text_next_line (&text, &line) &&
         read_event (store, line, events->len, &event))
    g_array_append_val (events, event);
  store->n_sampled_events = events->len;
  store->sampled_events =
      (SampledEvent *) g_array_free (g_steal_pointer (&events), store->n_sampled_events == 0);
}

/* The samples by time and thread. A capture may say of all that they are of one time and
 * thread: no step may look through those that have been given theirs. */
typedef struct
{
  Store *store;
  uint32_t *sample; /* [samples.n], in that order */
  /* [samples.n]: at the first of a time and thread, how many of them have theirs */
  uint32_t *taken;
} Places;

static int
compare_places (const void *a, const void *b, void *data)
{
  const StackEvents *samples = data;
  uint32_t i = *(const uint32_t *) a, j = *(const uint32_t *) b;

  if (samples->tid[i] != samples->tid[j])
    return samples->tid[i] < samples->tid[j] ? -1 : 1;
  return i < j ? -1 : 1;
}

/* They are in the order of their times already. */
static void
init_places (Places *self, Store *store)
{
  const StackEvents *samples = &store->samples;

  self->store = store;
  self->sample = g_new (uint32_t, MAX (samples->n, 1));
  self->taken = g_new0 (uint32_t, MAX (samples->n, 1));
  for (uint32_t i = 0; i < samples->n; i++)
    self->sample[i] = i;
  for (uint32_t i = 0, end; i < samples->n; i = end)
    {
      for (end = i + 1; end < samples->n && samples->time[end] == samples->time[i];)
        end++;
      if (end - i > 1)
        qsort_r (self->sample + i, end - i, sizeof *self->sample, compare_places,
                 (void *) samples);
    }
}

static void
clear_places (Places *self)
{
  g_free (self->sample);
  g_free (self->taken);
}

/* The first of that time and thread, or where it would be. */
static uint32_t
find_place (const Places *self, int64_t time, int32_t tid)
{
  const StackEvents *samples = &self->store->samples;
  uint32_t low = 0, high = samples->n;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;
      uint32_t i = self->sample[middle];

      if (samples->time[i] < time || (samples->time[i] == time && samples->tid[i] < tid))
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Of several at one time in one thread, the first that has none. */
static void
set_period (Places *self, int64_t time, int32_t tid, uint8_t event, int64_t period)
{
  const StackEvents *samples = &self->store->samples;
  uint32_t first = find_place (self, time, tid);
  uint32_t i;

  if (first == samples->n || self->taken[first] >= samples->n - first)
    return;
  i = self->sample[first + self->taken[first]];
  if (samples->time[i] != time || samples->tid[i] != tid)
    return;
  self->taken[first]++;
  self->store->sample_event[i] = event;
  self->store->sample_period[i] = period;
}

static void
read_periods (Builder *self, GBytes *bytes)
{
  Store *store = self->store;
  gsize size;
  const uint8_t *at = g_bytes_get_data (bytes, &size);
  gsize n = size / CAPTURE_PERIODS_SIZE;
  Places places;

  store->sample_event = g_malloc (MAX (store->samples.n, 1));
  memset (store->sample_event, SAMPLED_EVENT_UNKNOWN, store->samples.n);
  store->sample_period = g_new0 (int64_t, MAX (store->samples.n, 1));
  init_places (&places, store);
  for (gsize i = 0;
       i < n && (i % PERIODS_BETWEEN != 0 || sysprof_progress_at (self->progress, i, n));
       i++, at += CAPTURE_PERIODS_SIZE)
    {
      int64_t time;
      uint64_t period;
      int32_t tid;

      memcpy (&time, at, sizeof time);
      memcpy (&period, at + 8, sizeof period);
      memcpy (&tid, at + 16, sizeof tid);
      if (at[20] < store->n_sampled_events)
        set_period (&places, GINT64_FROM_LE (time), GINT32_FROM_LE (tid), at[20],
                    (int64_t) MIN (GUINT64_FROM_LE (period), INT64_MAX));
    }
  clear_places (&places);
}

void
sysprof_builder_read_sampled_events (Builder *self)
{
  Store *store = self->store;
  GCancellable *cancellable = self->progress->cancellable;
  g_autoptr (GBytes) events = sysprof_store_read_file_cancellable (
      store, CAPTURE_EVENTS_FILE, cancellable, NULL); /* may be absent */
  const EmbeddedFile *said = sysprof_builder_find_file (self, CAPTURE_EVENTS_FILE);
  const EmbeddedFile *each_says = sysprof_builder_find_file (self, CAPTURE_PERIODS_FILE);
  g_autoptr (GBytes) periods = NULL;

  if (events == NULL)
    return;
  if ((said != NULL && said->is_contradicted) || (each_says != NULL && each_says->is_repeated))
    {
      sysprof_builder_note_mixed (
          self,
          "The sampling events are unknown: the joined captures used different ones. Open each "
          "capture separately to see them.");
      return;
    }

  read_events (store, events);
  periods =
      sysprof_store_read_file_cancellable (store, CAPTURE_PERIODS_FILE, cancellable, NULL);
  if (periods != NULL && store->n_sampled_events > 0)
    read_periods (self, periods);
}

bool
sysprof_store_weigh_event (const Store *self, uint32_t event, WeighedEvent *weighed)
{
  const SampledEvent *row = &self->sampled_events[event];
  uint32_t n = self->samples.n;

  if (self->sample_event == NULL && (row->period == 0 || event > 0))
    return false;

  *weighed = (WeighedEvent){ .samples = self->samples };
  weighed->samples.weight = sysprof_large_new0 (MAX (n, 1), sizeof (int64_t));
  if (self->sample_event != NULL)
    weighed->is_in = g_new0 (uint8_t, MAX (n, 1));
  for (uint32_t i = 0; i < n; i++)
    if (self->sample_event == NULL)
      weighed->samples.weight[i] = row->period;
    else if (self->sample_event[i] == event)
      {
        weighed->samples.weight[i] = self->sample_period[i];
        weighed->is_in[i] = 1;
      }
  return true;
}

void
sysprof_weighed_event_clear (WeighedEvent *self)
{
  g_free (self->samples.weight);
  g_free (self->is_in);
  *self = (WeighedEvent){ 0 };
}
