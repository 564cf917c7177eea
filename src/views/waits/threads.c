// SPDX-License-Identifier: GPL-3.0-or-later

/* Time of each thread: running, runnable, waiting.
 *
 * For the whole recording, running time is what the recorder counted. For a part of it,
 * running time is the time between waits. */

#include "views/waits/selected-waits.h"

#include <string.h>

enum
{
  PROCESS,
  PID,
  THREAD,
  TID,
  RUNNING,
  RUNNABLE,
  WAITING,
  IDLE,
  WALL,
  COUNT,
  N_COLUMNS,
};

static const Column columns[] = {
  [PROCESS] = { "process", "PROCESS", COLUMN_TEXT },
  [PID] = { "pid", "PID", COLUMN_NUMBER },
  [THREAD] = { "thread", "THREAD", COLUMN_TEXT },
  [TID] = { "tid", "TID", COLUMN_NUMBER },
  [RUNNING] = { "running", "RUNNING", COLUMN_DURATION },
  [RUNNABLE] = { "runnable", "RUNNABLE", COLUMN_DURATION },
  [WAITING] = { "waiting", "WAITING", COLUMN_DURATION },
  [IDLE] = { "idle", "IDLE", COLUMN_DURATION },
  [WALL] = { "wall", "WALL", COLUMN_DURATION },
  [COUNT] = { "count", "WAITS", COLUMN_COUNT },
};

#define FRAME_FORK    5  /* frame type */
#define FORK_CHILD_AT 24 /* offset in bytes */

typedef struct
{
  uint32_t thread; /* last row of Waits.threads, which has the current name */
  bool is_selected;
  bool has_run;
  uint64_t n_waits;
  int64_t start;
  int64_t end;
  int64_t run; /* as counted by the recorder */
  int64_t runnable;
  int64_t waiting;
  int64_t idle;
  int64_t between; /* between waits, in the selection */
  int64_t ran;     /* the same from start to last wait, without a selection */
  int64_t seen_until;
  bool is_waiting; /* at its last event, and until the end of the recording */
} Total;

/* The time span in which the scheduler was recorded. It starts later and ends earlier than
 * the recording. */
static TimeRange
find_span (const Store *store)
{
  const Waits *waits = &store->waits;
  TimeRange span = { INT64_MAX, INT64_MIN };

  for (uint32_t i = 0; i < waits->events.n && sysprof_is_wanted_at (i); i++)
    {
      if ((waits->row[i].flags & OFF_CPU_WAS_BEFORE) != 0)
        span.begin = MIN (span.begin, waits->events.time[i]);
      if ((waits->row[i].flags & OFF_CPU_GOES_ON) != 0)
        span.end = MAX (span.end, sysprof_wait_end (waits, i));
    }
  return (TimeRange){ span.begin < INT64_MAX ? span.begin : store->begin,
                      span.end > INT64_MIN ? span.end : store->end };
}

/* One entry for each process and thread. */
static GArray *
collect_threads (const Store *store, uint32_t *total_of_thread)
{
  const Waits *waits = &store->waits;
  TimeRange span = find_span (store);
  GArray *totals = g_array_new (FALSE, FALSE, sizeof (Total));
  g_autoptr (GHashTable) of_id =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (uint32_t i = 0; i < waits->n_threads && sysprof_is_wanted_at (i); i++)
    {
      const WaitThread *thread = &waits->threads[i];
      int64_t id = (int64_t) thread->pid << 32 | thread->tid;
      uint32_t known = GPOINTER_TO_UINT (g_hash_table_lookup (of_id, &id));
      Total *total;

      if (known == 0)
        {
          const Process *process = &store->processes.row[thread->process];
          Total fresh = { .start = MAX (process->start, span.begin),
                          .end = MIN (process->end, span.end) };

          g_array_append_val (totals, fresh);
          known = totals->len;
          g_hash_table_insert (of_id, g_memdup2 (&id, sizeof id), GUINT_TO_POINTER (known));
        }
      total = &g_array_index (totals, Total, known - 1);
      total->thread = i;
      total->has_run |= thread->has_run;
      total->run = sysprof_time_sum (total->run, thread->run);
      total_of_thread[i] = known - 1;
    }
  return totals;
}

/* Finds threads that started during the recording. */
static void
find_starts (const Store *store, GArray *totals)
{
  const FrameList *forks = &store->frames_of_type[FRAME_FORK];
  g_autoptr (GHashTable) of_tid = g_hash_table_new (NULL, NULL); /* 1 + index of the frame */

  for (uint32_t i = 0; i < forks->n && sysprof_is_wanted_at (i); i++)
    {
      FrameNo frame = forks->frame[i];
      int32_t tid;

      memcpy (&tid, store->bytes + store->frames.offset[frame] + FORK_CHILD_AT, sizeof tid);
      if (store->is_swapped)
        tid = (int32_t) GUINT32_SWAP_LE_BE ((uint32_t) tid);
      g_hash_table_insert (of_tid, GINT_TO_POINTER (tid), GUINT_TO_POINTER (frame + 1));
    }
  for (uint32_t i = 0; i < totals->len && sysprof_is_wanted_at (i); i++)
    {
      Total *total = &g_array_index (totals, Total, i);
      int32_t tid = store->waits.threads[total->thread].tid;
      FrameNo frame = GPOINTER_TO_UINT (g_hash_table_lookup (of_tid, GINT_TO_POINTER (tid)));

      if (frame != 0)
        total->start = MAX (total->start, store->frames.time[frame - 1]);
      total->seen_until = total->start;
    }
}

static void
add_selected (const SelectedWaits *self, Total *totals, const uint32_t *total_of_thread)
{
  const Waits *waits = &self->request->store->waits;

  for (uint32_t i = 0; i < self->n && sysprof_is_wanted_at (i); i++)
    {
      uint32_t wait = self->found[i];
      Total *total = &totals[total_of_thread[waits->row[wait].thread]];
      int64_t waiting = sysprof_selected_wait_waiting (self, wait);

      total->is_selected = true;
      total->n_waits += waits->row[wait].stands_for;
      total->waiting = sysprof_time_sum (total->waiting, waiting);
      if (self->is_idle[wait])
        total->idle = sysprof_time_sum (total->idle, waiting);
      total->runnable =
          sysprof_time_sum (total->runnable, sysprof_selected_wait_runnable (self, wait));
    }
}

/* Captures have end times of processes only. A thread that does not wait at the end either
 * runs or has exited; then its end follows from its counted running time. */
static void
find_end (const Waits *waits, Total *total)
{
  const WaitThread *thread = &waits->threads[total->thread];

  if (!total->is_waiting && total->has_run && thread->tid != thread->pid)
    total->end = MIN (total->end,
                      sysprof_time_sum (total->seen_until, MAX (total->run - total->ran, 0)));
}

/* Uses all waits: a wait that is not selected is still not running time. */
static void
find_between (const SelectedWaits *self, GArray *array, const uint32_t *total_of_thread)
{
  const Waits *waits = &self->request->store->waits;
  Total *totals = (Total *) array->data;

  for (uint32_t i = 0; i < waits->events.n && sysprof_is_wanted_at (i); i++)
    {
      Total *total = &totals[total_of_thread[waits->row[i].thread]];

      total->between +=
          sysprof_time_clip_overlap (&self->clip, total->seen_until, waits->events.time[i]);
      total->ran = sysprof_time_sum (
          total->ran, sysprof_time_between (total->seen_until, waits->events.time[i]));
      total->is_waiting = (waits->row[i].flags & OFF_CPU_GOES_ON) != 0;
      total->seen_until = MAX (total->seen_until, sysprof_wait_end (waits, i));
    }
  for (uint32_t i = 0; i < array->len; i++)
    {
      find_end (waits, &totals[i]);
      totals[i].between +=
          sysprof_time_clip_overlap (&self->clip, totals[i].seen_until, totals[i].end);
    }
}

/* Longest time without idle waits first. */
static int
compare_totals (const void *left, const void *right, void *data)
{
  const Total *a = left, *b = right;
  int64_t a_time = a->waiting - a->idle, b_time = b->waiting - b->idle;

  if (a_time != b_time)
    return a_time < b_time ? 1 : -1;
  return (a->thread > b->thread) - (a->thread < b->thread);
}

static void
add_row (SelectedWaits *self, const Total *total, bool is_whole)
{
  const Store *store = self->request->store;
  const WaitThread *thread = &store->waits.threads[total->thread];
  Cell *cells = sysprof_rows_add (self->rows);

  cells[PROCESS].text =
      sysprof_store_string (store, store->processes.row[thread->process].comm);
  cells[PID].number = thread->pid;
  cells[THREAD].text = sysprof_store_string (store, thread->comm);
  cells[TID].number = thread->tid;
  cells[RUNNING].number = is_whole && total->has_run ? total->run : total->between;
  cells[RUNNABLE].number = total->runnable;
  cells[WAITING].number = total->waiting;
  cells[IDLE].number = total->idle;
  cells[WALL].number = sysprof_time_clip_overlap (&self->clip, total->start, total->end);
  cells[COUNT].count = total->n_waits;
}

void
sysprof_waits_fill_by_thread (SelectedWaits *self)
{
  const Store *store = self->request->store;
  g_autofree uint32_t *total_of_thread = g_new0 (uint32_t, MAX (store->waits.n_threads, 1));
  g_autoptr (GArray) totals = collect_threads (store, total_of_thread);
  bool has_times = self->clip.ranges != &self->clip.limits ||
                   self->clip.limits.begin > store->begin || self->clip.limits.end < store->end;
  uint64_t sum = 0;

  sysprof_rows_init (self->rows, columns, N_COLUMNS, 0);
  find_starts (store, totals);
  add_selected (self, (Total *) totals->data, total_of_thread);
  find_between (self, totals, total_of_thread);
  (void) sysprof_sort_if_wanted (totals->data, totals->len, sizeof (Total), compare_totals,
                                 NULL);
  for (uint32_t i = 0; i < totals->len && sysprof_is_wanted_at (i); i++)
    {
      const Total *total = &g_array_index (totals, Total, i);

      if (!total->is_selected)
        continue;
      add_row (self, total, !has_times);
      sum += (uint64_t) total->waiting + (uint64_t) total->runnable;
    }
  sysprof_selected_waits_name_rows (self, sum);
}
