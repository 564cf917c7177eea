// SPDX-License-Identifier: GPL-3.0-or-later

/* What waits weigh, alone and together with samples. */

#include "analyze/waits/waits.h"

static void
new_events (StackEvents *events, uint32_t n)
{
  events->time = sysprof_large_new (MAX (n, 1), sizeof *events->time);
  events->pid = sysprof_large_new (MAX (n, 1), sizeof *events->pid);
  events->tid = sysprof_large_new (MAX (n, 1), sizeof *events->tid);
  events->cpu = sysprof_large_new (MAX (n, 1), sizeof *events->cpu);
  events->stack = sysprof_large_new (MAX (n, 1), sizeof *events->stack);
  events->process = sysprof_large_new (MAX (n, 1), sizeof *events->process);
  events->weight = sysprof_large_new (MAX (n, 1), sizeof *events->weight);
}

static void
copy_event (StackEvents *to, const StackEvents *from, uint32_t i)
{
  to->time[to->n] = from->time[i];
  to->pid[to->n] = from->pid[i];
  to->tid[to->n] = from->tid[i];
  to->cpu[to->n] = from->cpu[i];
  to->stack[to->n] = from->stack[i];
  to->process[to->n] = from->process[i];
  to->n++;
}

static int64_t
times (int64_t nsec, uint16_t n)
{
  int64_t product;

  return __builtin_mul_overflow (nsec, (int64_t) n, &product) ? INT64_MAX : product;
}

void
sysprof_waits_weigh (WeighedWaits *self,
                     const Store *store,
                     const SymbolTable *symbols,
                     const SampleFilter *filter)
{
  const Waits *waits = &store->waits;
  uint32_t n = waits->events.n;
  g_autofree uint8_t *is_idle =
      filter != NULL && filter->no_idle ? sysprof_waits_find_idle (store, symbols) : NULL;
  TimeClip clip;

  *self = (WeighedWaits){ .is_in = g_new0 (uint8_t, MAX (n, 1)) };
  new_events (&self->events, n);
  sysprof_time_clip_init (&clip, store, filter);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      int64_t begin = waits->events.time[i], end = sysprof_wait_end (waits, i);
      int64_t first = sysprof_time_clip_first (&clip, begin);
      int64_t from = is_idle != NULL && is_idle[i] ? sysprof_wait_woken_at (waits, i) : begin;

      copy_event (&self->events, &waits->events, i);
      self->events.time[i] = first; /* ascending as before: the later cannot come in sooner */
      self->events.weight[i] =
          times (sysprof_time_clip_overlap (&clip, from, end), waits->row[i].stands_for);
      self->is_in[i] = first < end || first == begin;
    }
  sysprof_time_clip_clear (&clip);
}

/* --- with samples --- */

typedef struct
{
  int64_t run; /* ns */
  uint32_t n;  /* samples */
  uint32_t n_seen;
} ThreadRun;

/* Each thread's time on a CPU is shared out among its samples. NULL if no thread's is known. */
static int64_t *
share_out_runs (const Store *store)
{
  const Waits *waits = &store->waits;
  const StackEvents *samples = &store->samples;
  g_autoptr (GHashTable) of_tid = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  int64_t *weight;
  bool is_known = false;

  for (uint32_t i = 0; i < waits->n_threads; i++)
    {
      const WaitThread *thread = &waits->threads[i];
      ThreadRun *run = g_hash_table_lookup (of_tid, GINT_TO_POINTER (thread->tid));

      if (!thread->has_run)
        continue;
      is_known = true;
      if (run == NULL)
        g_hash_table_insert (of_tid, GINT_TO_POINTER (thread->tid),
                             run = g_new0 (ThreadRun, 1));
      run->run = sysprof_time_sum (run->run, thread->run);
    }
  if (!is_known)
    return NULL;

  for (uint32_t i = 0; i < samples->n; i++)
    {
      ThreadRun *run = g_hash_table_lookup (of_tid, GINT_TO_POINTER (samples->tid[i]));

      if (run != NULL)
        run->n++;
    }
  weight = sysprof_large_new0 (MAX (samples->n, 1), sizeof *weight);
  for (uint32_t i = 0; i < samples->n && sysprof_is_wanted_at (i); i++)
    {
      ThreadRun *run = g_hash_table_lookup (of_tid, GINT_TO_POINTER (samples->tid[i]));

      if (run != NULL) /* so that their sum is all of it */
        weight[i] = run->run / run->n + (run->n_seen++ < run->run % run->n);
    }
  return weight;
}

/* [samples.n] ns that each represents; with several events, those with a period in time.
 * NULL if unknown. *(full)* */
static int64_t *
weigh_samples (const Store *store)
{
  const StackEvents *samples = &store->samples;
  bool has_time = false;
  int64_t *weight;

  for (uint32_t i = 0; i < store->n_sampled_events; i++)
    has_time |=
        store->sampled_events[i].is_time &&
        (store->sample_event != NULL || (i == 0 && store->sampled_events[i].period > 0));
  if (!has_time)
    return share_out_runs (store);

  weight = sysprof_large_new0 (MAX (samples->n, 1), sizeof *weight);
  for (uint32_t i = 0; i < samples->n && sysprof_is_wanted_at (i); i++)
    if (store->sample_event == NULL)
      weight[i] = store->sampled_events[0].period;
    else if (store->sample_event[i] < store->n_sampled_events &&
             store->sampled_events[store->sample_event[i]].is_time)
      weight[i] = store->sample_period[i];
  return weight;
}

static void
merge (WeighedWaits *self,
       const StackEvents *samples,
       const int64_t *sample_weight,
       const WeighedWaits *waits)
{
  uint32_t i = 0, j = 0;

  while ((i < samples->n || j < waits->events.n) && sysprof_is_wanted_at (self->events.n))
    {
      uint32_t n = self->events.n;

      if (j == waits->events.n || (i < samples->n && samples->time[i] <= waits->events.time[j]))
        {
          copy_event (&self->events, samples, i);
          self->events.weight[n] = sample_weight[i++];
          self->is_in[n] = 1;
        }
      else
        {
          copy_event (&self->events, &waits->events, j);
          self->events.weight[n] = waits->events.weight[j];
          self->is_in[n] = waits->is_in[j++];
        }
    }
}

bool
sysprof_waits_weigh_wall (WeighedWaits *self,
                          const Store *store,
                          const SymbolTable *symbols,
                          const SampleFilter *filter)
{
  g_autofree int64_t *sample_weight = weigh_samples (store);
  uint64_t n = (uint64_t) store->samples.n + store->waits.events.n;
  WeighedWaits waits;

  *self = (WeighedWaits){ 0 };
  if ((sample_weight == NULL && store->samples.n > 0) || n > UINT32_MAX)
    return false;

  sysprof_waits_weigh (&waits, store, symbols, filter);
  new_events (&self->events, (uint32_t) n);
  self->is_in = g_new0 (uint8_t, MAX (n, 1));
  merge (self, &store->samples, sample_weight, &waits);
  sysprof_weighed_waits_clear (&waits);
  return true;
}

void
sysprof_weighed_waits_clear (WeighedWaits *self)
{
  g_free (self->events.time);
  g_free (self->events.pid);
  g_free (self->events.tid);
  g_free (self->events.cpu);
  g_free (self->events.stack);
  g_free (self->events.process);
  g_free (self->events.weight);
  g_free (self->is_in);
  *self = (WeighedWaits){ 0 };
}
