// SPDX-License-Identifier: GPL-3.0-or-later

/* Processes: shares, CPU time and memory, start and end times, command lines; with --details,
 * threads, mappings and mounts. */

#include "views/overview/unwind-methods.h"
#include "views/sample-rows.h"

#include <math.h>

enum
{
  PID,
  COMMAND,
  SELF,
  TOTAL,
  CPU_TIME,
  CPU_PERCENT,
  RSS_FIRST,
  RSS_LAST,
  RSS_MAX,
  START,
  END,
  DURATION,
  WHOLE,
  UNWIND,
  N_PLAIN_COLUMNS,
  THREADS = N_PLAIN_COLUMNS,
  MAPS,
  MOUNTS,
  N_COLUMNS,
};

static const Column columns[] = {
  [PID] = { "pid", "PID", COLUMN_NUMBER },
  [COMMAND] = { "command", "COMMAND", COLUMN_TEXT, .is_long = true, .is_command = true },
  [SELF] = { "self", "SELF", COLUMN_COUNT, .json_only = true }, /* same as self */
  [TOTAL] = { "total", "SAMPLES", COLUMN_COUNT, .share = true, .title_of_time = "TIME" },
  [CPU_TIME] = { "cpu-time", "CPU TIME", COLUMN_DURATION, .may_miss = true },
  [CPU_PERCENT] = { "cpu-percent", "CPU %", COLUMN_REAL, .may_miss = true, .extra = 1 },
  [RSS_FIRST] = { "rss-first", "RSS FIRST", COLUMN_BYTES, .may_miss = true, .is_short = true,
                  .extra = 2 },
  [RSS_LAST] = { "rss-last", "RSS LAST", COLUMN_BYTES, .may_miss = true, .is_short = true,
                 .extra = 2 },
  [RSS_MAX] = { "rss-max", "RSS MAX", COLUMN_BYTES, .may_miss = true, .is_short = true },
  [START] = { "start", "START", COLUMN_TIME, .extra = 1 },
  [END] = { "end", "END", COLUMN_TIME, .extra = 1 },
  [DURATION] = { "duration", "DURATION", COLUMN_DURATION, .json_only = true },
  [WHOLE] = { "whole", "COMPLETE", COLUMN_COUNT, .is_weight = true, .extra = 2 },
  [UNWIND] = { "unwind", "UNWOUND BY", COLUMN_TEXT, .extra = 3 },
  [THREADS] = { "threads", "THREADS", COLUMN_TEXTS },
  [MAPS] = { "maps", "MAPS", COLUMN_TEXTS },
  [MOUNTS] = { "mounts", "MOUNTS", COLUMN_TEXTS },
};

typedef struct
{
  uint64_t weight; /* weight of all samples */
  uint64_t whole;  /* weight of complete stacks */
  int64_t start;
  int64_t end;
  ProcessUsage usage;   /* the memory is that of the largest process */
  bool is_shown;        /* even without samples */
  uint32_t n_processes; /* processes of the same name if merged; else 1 */
} Shares;

typedef struct
{
  const Shares *shares; /* [n_processes] */
} Order;

static int
compare_processes (const void *left, const void *right, void *data)
{
  const Order *order = data;
  ProcessId a = *(const ProcessId *) left;
  ProcessId b = *(const ProcessId *) right;

  if (order->shares[a].weight != order->shares[b].weight)
    return order->shares[a].weight < order->shares[b].weight ? 1 : -1;
  if (order->shares[a].usage.cpu_time != order->shares[b].usage.cpu_time)
    return order->shares[a].usage.cpu_time < order->shares[b].usage.cpu_time ? 1 : -1;
  return (a > b) - (a < b);
}

/* Returns the texts of `array`, NULL-terminated, in the arena of the rows. */
static const char *const *
take_texts (Rows *rows, GPtrArray *array)
{
  const char **texts = sysprof_arena_alloc (&rows->arena, (array->len + 1) * sizeof *texts);

  for (uint32_t i = 0; i < array->len; i++)
    texts[i] = sysprof_rows_dup (rows, g_ptr_array_index (array, i));
  texts[array->len] = NULL;
  g_ptr_array_unref (array);
  return texts;
}

static GPtrArray *
list_threads (const Store *store, ProcessId process)
{
  const Process *row = &store->processes.row[process];
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t i = 0; i < row->n_threads; i++)
    {
      int32_t tid = store->processes.thread_ids[row->first_thread + i];
      StringId name = sysprof_store_thread_name (store, process, tid, INT64_MAX);

      g_ptr_array_add (
          texts, name != 0 ? g_strdup_printf ("%d %s", tid, sysprof_store_string (store, name))
                           : g_strdup_printf ("%d", tid));
    }
  return texts;
}

/* Mappings grouped by process. */
typedef struct
{
  MappingId *mapping; /* [n_mappings - 1] in their order in the store */
  uint32_t *end; /* [n_processes + 1] end[p] … end[p + 1] are those of process p in `mapping` */
} Maps;

static void
maps_clear (Maps *self)
{
  g_free (self->mapping);
  g_free (self->end);
}

static void
maps_init (Maps *self, const Store *store)
{
  const uint32_t n = store->processes.n;

  self->mapping = g_new (MappingId, MAX (store->n_mappings, 1));
  self->end = g_new0 (uint32_t, n + 2);
  /* Count sort: count per process two entries ahead, sum up to start indexes one entry
   * ahead, which become end indexes. */
  for (MappingId i = 1; i < store->n_mappings; i++)
    self->end[store->mappings[i].process + 2]++;
  for (uint32_t i = 2; i < n + 2; i++)
    self->end[i] += self->end[i - 1];
  for (MappingId i = 1; i < store->n_mappings; i++)
    self->mapping[self->end[store->mappings[i].process + 1]++] = i;
}

static GPtrArray *
list_maps (const Store *store, const Maps *maps, ProcessId process)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t i = maps->end[process]; i < maps->end[process + 1]; i++)
    {
      const Mapping *mapping = &store->mappings[maps->mapping[i]];

      g_ptr_array_add (texts,
                       g_strdup_printf ("%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER
                                        "x %" G_GINT64_MODIFIER "x %s",
                                        mapping->start, mapping->end, mapping->file_offset,
                                        sysprof_store_string (store, mapping->path)));
    }
  return texts;
}

static GPtrArray *
list_mounts (const Store *store, ProcessId process)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *name =
      g_strdup_printf ("/proc/%d/mountinfo", store->processes.row[process].pid);
  g_autoptr (GBytes) bytes =
      sysprof_store_read_file (store, name, NULL); /* NULL: mounts unknown */
  Text text, line;

  if (!bytes || g_bytes_get_size (bytes) == 0)
    return texts;
  text.at = g_bytes_get_data (bytes, NULL);
  text.end = text.at + g_bytes_get_size (bytes);
  while (sysprof_text_next_line (&text, &line))
    g_ptr_array_add (texts, g_strndup (line.at, sysprof_text_size (line)));
  return texts;
}

static void
set_usage (Cell *cells, const ProcessUsage *usage, TimeRange time)
{
  int64_t recorded = sysprof_time_between (time.begin, time.end);

  cells[CPU_TIME].number = usage->cpu_time < 0 ? NO_NUMBER : usage->cpu_time;
  cells[CPU_PERCENT].real = usage->cpu_time < 0 || recorded == 0
                                ? NAN
                                : 100 * (double) usage->cpu_time / (double) recorded;
  cells[RSS_FIRST].number = usage->resident_first < 0 ? NO_NUMBER : usage->resident_first;
  cells[RSS_LAST].number = usage->resident_last < 0 ? NO_NUMBER : usage->resident_last;
  cells[RSS_MAX].number = usage->resident_max < 0 ? NO_NUMBER : usage->resident_max;
}

static Cell *
add_process (Rows *rows,
             const ViewRequest *request,
             ProcessId process,
             Shares shares,
             const Maps *maps,
             GHashTable *found_by)
{
  const Store *store = request->store;
  const Process *row = &store->processes.row[process];
  const char *command =
      sysprof_store_string (store, shares.n_processes > 1 ? row->comm : row->command_line);
  Cell *cells = sysprof_rows_add (rows);
  const char *found = g_hash_table_lookup (found_by, GINT_TO_POINTER (row->pid));

  cells[PID].number = row->pid;
  cells[COMMAND].text = command[0] ? command : sysprof_store_string (store, row->comm);
  cells[SELF].count = cells[TOTAL].count = shares.weight;
  cells[START].number = sysprof_request_offset (request, shares.start);
  cells[END].number = sysprof_request_offset (request, shares.end);
  cells[DURATION].number = cells[END].number - cells[START].number;
  cells[WHOLE].count = shares.whole;
  cells[UNWIND].text = found != NULL ? sysprof_rows_dup (rows, found) : "";
  if (rows->n_columns != N_COLUMNS)
    return cells;
  cells[THREADS].texts = take_texts (rows, list_threads (store, process));
  cells[MAPS].texts = take_texts (rows, list_maps (store, maps, process));
  cells[MOUNTS].texts = take_texts (rows, list_mounts (store, process));
  return cells;
}

static void
add_usage (ProcessUsage *to, const ProcessUsage *usage)
{
  int64_t cpu_time = sysprof_time_sum (MAX (to->cpu_time, 0), MAX (usage->cpu_time, 0));
  bool is_known = to->cpu_time >= 0 || usage->cpu_time >= 0;

  if (usage->resident_max > to->resident_max)
    *to = *usage;
  to->cpu_time = is_known ? cpu_time : -1;
}

/* Adds the shares of processes with the same name to the first of them, and clears the
 * others. */
static void
merge_shares (Shares *shares, const Store *store)
{
  const Processes *processes = &store->processes;
  g_autofree ProcessId *first = g_new0 (ProcessId, MAX (store->strings.n_strings, 1));

  for (ProcessId i = 1; i < processes->n && sysprof_is_wanted_at (i); i++)
    {
      ProcessId *of_name = &first[processes->row[i].comm];
      Shares *to = &shares[*of_name];

      if (*of_name == 0)
        {
          *of_name = i;
          continue;
        }
      to->weight += shares[i].weight;
      to->whole += shares[i].whole;
      to->start = MIN (to->start, shares[i].start);
      to->end = MAX (to->end, shares[i].end);
      to->n_processes += shares[i].n_processes;
      to->is_shown |= shares[i].is_shown;
      add_usage (&to->usage, &shares[i].usage);
      shares[i] = (Shares){ 0 };
    }
}

static bool
fill_processes (const ViewRequest *request, Rows *rows, GError **error)
{
  bool has_details = sysprof_request_has (request, "details");
  const Store *store = request->store;
  g_autofree ProcessId *process_of = sysprof_processes_of_stacks (store);
  g_autofree Shares *shares = g_new0 (Shares, MAX (store->processes.n, 1));
  g_autoptr (GHashTable) found_by = sysprof_unwind_methods_load (request->store);
  g_autofree ProcessId *order = g_new0 (ProcessId, MAX (store->processes.n, 1));
  bool is_whole = sysprof_request_is_whole (request);
  g_autofree bool *is_in = sysprof_request_find_processes (request);
  TimeRange time;
  g_autofree ProcessUsage *usage = sysprof_usage_of_processes (store, request->filter, &time);
  StackWeights weights;
  Maps maps = { 0 };
  uint32_t n = 0;

  sysprof_request_fold (request, false, &weights);
  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    if (weights.self[i] > 0)
      {
        Shares *of_process = &shares[process_of[i]];

        of_process->weight += weights.self[i];
        if (sysprof_stack_end (store, request->symbols, i) == STACK_WHOLE)
          of_process->whole += weights.self[i];
      }
  for (ProcessId i = 0; i < store->processes.n; i++)
    {
      shares[i].start = store->processes.row[i].start;
      shares[i].end = store->processes.row[i].end;
      shares[i].usage = usage[i];
      shares[i].n_processes = 1;
      /* A selected process that only waits has CPU time and memory, and no samples. */
      shares[i].is_shown = i > 0 && is_in[i] && (is_whole || usage[i].cpu_time >= 0);
    }
  if (sysprof_request_shape (request).merge_processes)
    merge_shares (shares, store);
  for (ProcessId i = 0; i < store->processes.n; i++)
    if (shares[i].weight > 0 || (shares[i].is_shown && shares[i].n_processes > 0))
      order[n++] = i;
  (void) sysprof_sort_if_wanted (order, n, sizeof *order, compare_processes,
                                 &(Order){ shares });

  sysprof_rows_init (rows, columns, has_details ? N_COLUMNS : N_PLAIN_COLUMNS, weights.total);
  if (has_details)
    maps_init (&maps, store);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    set_usage (add_process (rows, request, order[i], shares[order[i]], &maps, found_by),
               &shares[order[i]].usage, time);
  maps_clear (&maps);
  sysprof_stack_weights_clear (&weights);
  return true;
}

static const ViewSwitch switches[] = {
  { "details", "Show threads, maps and mounts of processes" },
  { NULL },
};

const View sysprof_processes_view = {
  .name = "processes",
  .title = "Processes",
  .summary = "shares, CPU, memory, commands; --details: threads, maps, mounts",
  .switches = switches,
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_SAMPLES | OPTIONS_SHARES | OPTIONS_MERGE,
  .fill = fill_processes,
};
