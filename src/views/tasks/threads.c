// SPDX-License-Identifier: GPL-3.0-or-later

/* Threads: shares by process and thread. */

#include "views/sample-rows.h"

enum
{
  PID,
  TID,
  NAME,
  COMMAND,
  SELF,
  TOTAL,
  START,
  END,
  MAIN,
  N_COLUMNS,
};

static const Column columns[] = {
  [PID] = { "pid", "PID", COLUMN_NUMBER },
  [TID] = { "tid", "TID", COLUMN_NUMBER },
  [NAME] = { "name", "NAME", COLUMN_TEXT },
  [COMMAND] = { "command", "COMMAND", COLUMN_TEXT, .is_long = true, .is_command = true },
  [SELF] = { "self", "SELF", COLUMN_COUNT, .json_only = true },
  [TOTAL] = { "total", "SAMPLES", COLUMN_COUNT, .share = true, .title_of_time = "TIME" },
  [START] = { "start", "START", COLUMN_TIME,
              .json_only = true }, /* of the process: start times of threads are not recorded */
  [END] = { "end", "END", COLUMN_TIME, .json_only = true },
  [MAIN] = { "main", "MAIN", COLUMN_BOOL, .json_only = true },
};

typedef struct
{
  ProcessId process;
  int32_t tid;
  uint64_t weight;
} ThreadRow;

static int
compare_place (const void *left, const void *right, void *data)
{
  const ThreadRow *a = left, *b = right;

  if (a->process != b->process)
    return a->process < b->process ? -1 : 1;
  return (a->tid > b->tid) - (a->tid < b->tid);
}

static int
compare_weight (const void *left, const void *right, void *data)
{
  const ThreadRow *a = left, *b = right;

  if (a->weight != b->weight)
    return a->weight < b->weight ? 1 : -1;
  return compare_place (left, right, NULL);
}

/* Whether nothing but the process decides what is selected. */
static bool
selects_by_process (const ViewRequest *request)
{
  SampleFilter filter = { 0 };

  if (request->filter != NULL)
    filter = *request->filter;
  filter.has_processes = false;
  filter.n_processes = 0;
  return sysprof_filter_is_whole (&filter);
}

static bool
is_selected (const SampleFilter *filter, ProcessId process)
{
  if (filter == NULL || !filter->has_processes)
    return true;
  for (uint32_t i = 0; i < filter->n_processes; i++)
    if (filter->processes[i] == process)
      return true;
  return false;
}

/* Collects threads that have samples; of processes that are selected as a whole, all known
 * threads. */
static GArray *
collect_threads (const ViewRequest *request, const StackWeights *weights)
{
  const Store *store = request->store;
  g_autofree ProcessId *process_of = sysprof_processes_of_stacks (store);
  GArray *threads = g_array_new (FALSE, FALSE, sizeof (ThreadRow));
  uint32_t n = 0;

  for (uint32_t i = 0; i < weights->by_thread.n && sysprof_is_wanted_at (i); i++)
    {
      ThreadRow row = { process_of[weights->by_thread.stack[i]], weights->by_thread.tid[i],
                        weights->by_thread.self[i] };
      ThreadRow *last =
          threads->len ? &g_array_index (threads, ThreadRow, threads->len - 1) : NULL;

      if (last && compare_place (last, &row, NULL) == 0)
        last->weight += row.weight;
      else
        g_array_append_val (threads, row);
    }
  for (ProcessId i = 1;
       selects_by_process (request) && i < store->processes.n && sysprof_is_wanted_at (i); i++)
    if (is_selected (request->filter, i))
      for (uint32_t j = 0; j < store->processes.row[i].n_threads; j++)
        {
          ThreadRow row = {
            i, store->processes.thread_ids[store->processes.row[i].first_thread + j], 0
          };

          g_array_append_val (threads, row);
        }

  (void) sysprof_sort_if_wanted (threads->data, threads->len, sizeof (ThreadRow), compare_place,
                                 NULL);
  for (uint32_t i = 0; i < threads->len; i++)
    {
      ThreadRow *row = &g_array_index (threads, ThreadRow, i);
      ThreadRow *kept = n > 0 ? &g_array_index (threads, ThreadRow, n - 1) : NULL;

      if (kept && compare_place (kept, row, NULL) == 0)
        kept->weight += row->weight;
      else
        g_array_index (threads, ThreadRow, n++) = *row;
    }
  g_array_set_size (threads, n);
  (void) sysprof_sort_if_wanted (threads->data, threads->len, sizeof (ThreadRow),
                                 compare_weight, NULL);
  return threads;
}

static bool
fill_threads (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  g_autoptr (GArray) threads = NULL;
  StackWeights weights;

  sysprof_request_fold (request, true, &weights);
  threads = collect_threads (request, &weights);
  sysprof_rows_init (rows, columns, N_COLUMNS, weights.total);
  sysprof_stack_weights_clear (&weights);
  for (uint32_t i = 0; i < threads->len && sysprof_is_wanted_at (i); i++)
    {
      const ThreadRow *row = &g_array_index (threads, ThreadRow, i);
      const Process *process = &store->processes.row[row->process];
      Cell *cells = sysprof_rows_add (rows);

      cells[PID].number = process->pid;
      cells[TID].number = row->tid;
      cells[NAME].text = sysprof_store_string (
          store, sysprof_store_thread_name (store, row->process, row->tid, INT64_MAX));
      cells[COMMAND].text = sysprof_store_string (store, process->comm);
      cells[MAIN].flag = row->tid == process->pid;
      cells[SELF].count = cells[TOTAL].count = row->weight;
      cells[START].number = sysprof_request_offset (request, process->start);
      cells[END].number = sysprof_request_offset (request, process->end);
    }
  return true;
}

const View sysprof_threads_view = {
  .name = "threads",
  .title = "Threads",
  .summary = "shares by thread",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_SAMPLES | OPTIONS_SHARES,
  .fill = fill_threads,
};
