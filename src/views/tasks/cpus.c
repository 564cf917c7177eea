// SPDX-License-Identifier: GPL-3.0-or-later

/* CPUs: models and shares; with recorded scheduling, how busy they were. */

#include "views/sample-rows.h"
#include "views/tasks/cpu-slices.h"

#include <math.h>

enum
{
  CPU,
  CORE,
  MODEL,
  SELF,
  TOTAL,
  N_SAMPLED_COLUMNS,
  BUSY = N_SAMPLED_COLUMNS, /* only for captures with scheduler slices */
  UTILIZATION,
  SWITCHES,
  N_COLUMNS,
};

static const Column columns[] = {
  [CPU] = { "cpu", "CPU", COLUMN_NUMBER },
  [CORE] = { "core", "CORE", COLUMN_NUMBER },
  [MODEL] = { "model", "MODEL", COLUMN_TEXT, .is_long = true },
  [SELF] = { "self", "SELF", COLUMN_COUNT, .json_only = true },
  [TOTAL] = { "total", "SAMPLES", COLUMN_COUNT, .share = true, .title_of_time = "TIME" },
  [BUSY] = { "busy", "BUSY", COLUMN_DURATION },
  [UTILIZATION] = { "utilization", "BUSY %", COLUMN_REAL },
  [SWITCHES] = { "switches", "SWITCHES", COLUMN_COUNT },
};

#define MOST_CPUS \
  65536 /* number of values of StackEvents.cpu; the unknown CPU is the last one */

typedef struct
{
  bool is_known;
  int64_t core;
  Text model;
  uint64_t weight;
} Cpu;

/* "key : value" */
static bool
read_value (Text line, const char *key, Text *value)
{
  Text name;

  if (!sysprof_text_starts_with (line, key) || !sysprof_text_until (&line, ':', &name))
    return false;
  while (line.at < line.end && *line.at == ' ')
    line.at++;
  *value = line;
  return true;
}

/* Reads /proc/cpuinfo: one block per CPU, which starts with its number. */
static void
read_cpus (Cpu *cpus, GBytes *bytes)
{
  gsize size;
  const char *at = g_bytes_get_data (bytes, &size);
  Text text = { at, at + size };
  Text line, value;
  Cpu *cpu = NULL;
  uint64_t number;

  while (at != NULL && sysprof_text_next_line (&text, &line))
    if (read_value (line, "processor", &value) && sysprof_text_u64 (&value, &number) &&
        number < MOST_CPUS - 1)
      {
        cpu = &cpus[number];
        cpu->is_known = true;
      }
    else if (cpu != NULL && read_value (line, "model name", &value))
      cpu->model = value;
    else if (cpu != NULL && read_value (line, "core id", &value) &&
             sysprof_text_u64 (&value, &number) && number < INT32_MAX)
      cpu->core = (int64_t) number;
}

static Cell *
add_cpu (Rows *rows, unsigned number, const Cpu *cpu)
{
  Cell *cells = sysprof_rows_add (rows);

  cells[CPU].number = number == MOST_CPUS - 1 ? NO_NUMBER : (int64_t) number;
  cells[CORE].number = cpu->core;
  cells[MODEL].text = sysprof_arena_strndup (&rows->arena, cpu->model.at ? cpu->model.at : "",
                                             sysprof_text_size (cpu->model));
  cells[SELF].count = cells[TOTAL].count = cpu->weight;
  return cells;
}

/* `selected`: nanoseconds; 0 = unknown use */
static void
set_use (Cell *cells, const CpuUse *use, int64_t selected)
{
  cells[BUSY].number = selected > 0 ? use->busy : NO_NUMBER;
  cells[UTILIZATION].real = selected > 0 ? 100.0 * (double) use->busy / (double) selected : NAN;
  cells[SWITCHES].count = use->n_switches;
}

static bool
fill_cpus (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  const SampleFilter *filter = request->filter;
  const StackEvents *events = sysprof_filter_events (filter, store);
  bool weighs_one = events->weight == NULL || (filter != NULL && filter->weigh_one);
  g_autoptr (GBytes) bytes = sysprof_store_read_file (store, "/proc/cpuinfo", NULL);
  g_autofree Cpu *cpus = g_new0 (Cpu, MOST_CPUS);
  bool is_whole = sysprof_request_is_whole (request);
  bool has_slices = sysprof_store_has_slices (store);
  g_autofree CpuUse *uses = g_new0 (CpuUse, MOST_CPUS);
  int64_t selected = 0;
  uint32_t n;
  g_autofree uint32_t *found = sysprof_samples_find (store, request->symbols, filter, &n);

  for (unsigned i = 0; i < MOST_CPUS; i++)
    cpus[i].core = NO_NUMBER;
  if (bytes != NULL)
    read_cpus (cpus, bytes);
  if (has_slices && sysprof_cpu_uses_find (store, filter, uses, MOST_CPUS))
    selected = sysprof_selected_time (store, filter);
  sysprof_rows_init (rows, columns, has_slices ? N_COLUMNS : N_SAMPLED_COLUMNS, 0);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      uint64_t weight = weighs_one ? 1 : (uint64_t) MAX (events->weight[found[i]], 0);

      cpus[(uint16_t) events->cpu[found[i]]].weight += weight;
      rows->total += weight;
    }
  for (unsigned i = 0; i < MOST_CPUS; i++)
    if (cpus[i].weight > 0 || uses[i].busy > 0 || uses[i].n_switches > 0 ||
        (cpus[i].is_known && is_whole))
      {
        Cell *cells = add_cpu (rows, i, &cpus[i]);

        if (has_slices)
          set_use (cells, &uses[i], selected);
      }
  return true;
}

const View sysprof_cpus_view = {
  .name = "cpus",
  .title = "CPUs",
  .summary = "shares, cores, models and load of CPUs",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_SAMPLES,
  .fill = fill_cpus,
};
