// SPDX-License-Identifier: GPL-3.0-or-later

/* The events that a call tree sums, one by one, in order of time: samples, allocations or
 * waits. They have the numbers of their stacks: the texts of all stacks would be large. */

#include "text/text.h"
#include "views/event-rows.h"
#include "views/unlisted.h"

#include <string.h>

enum
{
  TIME,
  PID,
  TID,
  CPU,
  DEPTH,
  STACK,
  DURATION, /* of waits */
  EVENT,
  SIZE, /* of allocations */
  N_COLUMNS,
};

static const Column columns[] = {
  [TIME] = { "time", "TIME", COLUMN_TIME },
  [PID] = { "pid", "PID", COLUMN_NUMBER },
  [TID] = { "tid", "TID", COLUMN_NUMBER },
  [CPU] = { "cpu", "CPU", COLUMN_NUMBER },
  [DEPTH] = { "depth", "DEPTH", COLUMN_NUMBER },
  [STACK] = { "stack", "STACK", COLUMN_NUMBER, .json_only = true }, /* StackId */
  [DURATION] = { "duration", "DURATION", COLUMN_DURATION },
  [EVENT] = { "event", "EVENT", COLUMN_TEXT },
  [SIZE] = { "size", "SIZE", COLUMN_BYTES },
};

char *
sysprof_dup_wait_text (const Store *store, uint32_t item)
{
  static const char *const reasons[N_OFF_CPU_REASONS] = {
    "", "page fault", "child", "sleep", "futex", "io", "system call", "other", "preempted",
  };
  const Wait *wait = &store->waits.row[item];
  g_autofree char *duration = sysprof_dup_duration (store->waits.events.weight[item]);
  g_autofree char *waker = NULL;
  g_autofree char *text = NULL;

  if (wait->waker != 0)
    {
      const WaitThread *thread = &store->waits.threads[wait->waker - 1];

      waker = g_strdup_printf (", ended by %s (%d)", sysprof_store_string (store, thread->comm),
                               thread->tid);
    }
  text = g_strdup_printf (
      "%s (%s, %s)%s", wait->reason == OFF_CPU_PREEMPTED ? "Ready, without a CPU" : "Waits",
      reasons[MIN (wait->reason, N_OFF_CPU_REASONS - 1)], duration, waker != NULL ? waker : "");
  return sysprof_dup_one_line (text);
}

/* Text of the wait that is an event; "" if it is a sample. Events of wall time may be both.
 * *(full)* */
static char *
dup_wait (const Store *store, const StackEvents *events, uint32_t event)
{
  const StackEvents *waits = &store->waits.events;
  uint32_t at;

  if (events->n == waits->n)
    return sysprof_dup_wait_text (store, event);
  at = sysprof_stack_events_find_time (waits, events->time[event]);
  while (at < waits->n && waits->time[at] == events->time[event])
    if (waits->tid[at] == events->tid[event] && waits->stack[at] == events->stack[event])
      return sysprof_dup_wait_text (store, at);
    else
      at++;
  return g_strdup ("");
}

static bool
fill_stack_events (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  const StackEvents *events = sysprof_filter_events (request->filter, store);
  const char *weight = request->filter != NULL ? request->filter->weight_name : NULL;
  bool is_heap = events == &store->allocations;
  bool has_waits = g_strcmp0 (weight, "time") == 0 || g_strcmp0 (weight, "wall") == 0;
  g_autofree uint32_t *found = NULL;
  uint32_t n;

  found = sysprof_samples_find (store, request->symbols, request->filter, &n);
  sysprof_rows_init_events (rows, columns,
                            is_heap     ? N_COLUMNS
                            : has_waits ? SIZE
                                        : DURATION,
                            is_heap ? "allocations" : "samples", n, events->n);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      uint32_t at = found[i];
      g_autofree char *wait = has_waits ? dup_wait (store, events, at) : NULL;
      Cell *cells = sysprof_rows_add (rows);

      cells[TIME].number = sysprof_request_offset (request, events->time[at]);
      cells[PID].number = events->pid[at];
      cells[TID].number = events->tid[at] >= 0 ? events->tid[at] : NO_NUMBER;
      cells[CPU].number = events->cpu[at] >= 0 ? events->cpu[at] : NO_NUMBER;
      cells[DEPTH].number = store->stacks.depth[events->stack[at]];
      cells[STACK].number = events->stack[at];
      if (has_waits)
        {
          cells[DURATION].number = events->weight ? events->weight[at] : 0;
          cells[EVENT].text = sysprof_rows_dup (rows, wait);
        }
      if (is_heap)
        cells[SIZE].number = events->weight ? events->weight[at] : 0;
    }
  if (is_heap)
    {
      sysprof_rows_drop_column (rows, EVENT);
      sysprof_rows_drop_column (rows, DURATION);
    }
  return true;
}

const View sysprof_stack_events_view = {
  .name = "stack-events",
  .title = "Events",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_SAMPLES | OPTIONS_FUNCTIONS | OPTIONS_STACKS,
  .fill = fill_stack_events,
};
