// SPDX-License-Identifier: GPL-3.0-or-later

/* Facts about the capture and about what is selected: machine, time, samples, quality. */

#include "document/document.h"
#include "text/text.h"
#include "views/sample-rows.h"
#include "views/views.h"

#include <string.h>

StackFacts
sysprof_stack_facts (const ViewRequest *request, const SampleFilter *filter)
{
  const Store *store = request->store;
  StackWeights weights = { 0 };
  StackFacts facts = { 0 };
  g_autoptr (Quality) quality = NULL;

  sysprof_stack_weights_fold (&weights, store, request->symbols, filter, false);
  quality = sysprof_quality_new (store, request->symbols, &weights);
  facts = (StackFacts){
    .samples = quality->total,
    .whole = quality->whole,
    .kernel_only = quality->kernel_only,
    .cut = quality->cut,
    .empty = quality->empty,
    .not_unwound = quality->not_unwound,
  };
  sysprof_stack_weights_clear (&weights);
  return facts;
}

const char *
sysprof_capture_path (const ViewRequest *request)
{
  if (request->path)
    return request->path;
  return request->store->path ? request->store->path : "-";
}

static const char *
find_metadata (const Store *store, const char *id)
{
  const Metadata *row = sysprof_store_find_metadata (store, id, NULL);

  return row != NULL ? sysprof_store_string (store, row->value) : NULL;
}

/* Value of the first line `KEY SEPARATOR VALUE` of an embedded file; NULL without such a
 * line. *(full)* */
static char *
dup_file_value (const Store *store, const char *file, const char *key, char separator)
{
  g_autoptr (GBytes) bytes = sysprof_store_read_file (store, file, NULL);
  Text text, line, left;

  if (!bytes)
    return NULL;
  text.at = g_bytes_get_data (bytes, NULL);
  text.end = text.at + g_bytes_get_size (bytes);
  while (text.at && sysprof_text_next_line (&text, &line))
    if (sysprof_text_starts_with (line, key) && sysprof_text_until (&line, separator, &left))
      {
        g_autofree char *value = g_strndup (line.at, sysprof_text_size (line));

        g_strstrip (value);
        if (value[0] == '"' && strlen (value) > 1)
          return g_strndup (value + 1, strlen (value) - 2);
        return g_steal_pointer (&value);
      }
  return NULL;
}

static void
add_line (GPtrArray *lines, const char *name, GString *text)
{
  g_autofree char *line = sysprof_dup_one_line (text->str);

  if (line[0])
    g_ptr_array_add (lines, g_strdup_printf ("%-9s %s", name, line));
  g_string_free (text, TRUE);
}

static void
append_part (GString *text, const char *part)
{
  if (part && part[0])
    g_string_append_printf (text, "%s%s", text->len ? ", " : "", part);
}

static GString *
describe_machine (const Store *store)
{
  GString *text = g_string_new (NULL);
  const char *n_cpus = find_metadata (store, "n-cpu");
  const char *release = find_metadata (store, "uname.release");
  g_autofree char *model = dup_file_value (store, "/proc/cpuinfo", "model name", ':');
  g_autofree char *os = dup_file_value (store, "/etc/os-release", "PRETTY_NAME", '=');
  g_autofree char *cpus =
      n_cpus ? g_strdup_printf ("%s x %s", n_cpus, model ? model : "CPU") : g_strdup (model);
  g_autofree char *kernel = release ? g_strdup_printf ("Linux %s", release) : NULL;

  append_part (text, find_metadata (store, "hostname"));
  append_part (text, cpus);
  append_part (text, os);
  append_part (text, kernel);
  return text;
}

static GString *
describe_stacks (const StackFacts *facts)
{
  GString *text = g_string_new (NULL);
  char share[SYSPROF_GROUPED_SIZE];
  const struct
  {
    uint64_t count;
    const char *words;
  } parts[] = {
    { facts->whole, "complete" },
    { facts->cut, "truncated" },
    { facts->kernel_only, "kernel only" },
    { facts->empty, "empty" },
    { facts->not_unwound, "not unwound (--unwind none)" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (parts); i++)
    if (i == 0 || parts[i].count > 0)
      g_string_append_printf (
          text, "%s%s %% %s", i ? ", " : "",
          sysprof_format_fixed (sysprof_percent (parts[i].count, facts->samples), share),
          parts[i].words);
  return text;
}

/* The samples of the selection, whatever the request weighs. */
static SampleFilter
filter_samples (const ViewRequest *request)
{
  SampleFilter filter = request->filter != NULL ? *request->filter : (SampleFilter){ 0 };

  filter.events = NULL;
  filter.event_is_in = NULL;
  filter.weight_name = filter.weight_unit = NULL;
  filter.weigh_one = true;
  return filter;
}

bool
sysprof_find_beside (const ViewRequest *request, Beside *beside)
{
  const Store *store = request->store;
  SampleFilter filter = filter_samples (request);
  g_autofree ProcessId *process_of = NULL;
  g_autofree bool *is_in = NULL;
  g_autofree uint64_t *weight = NULL;
  g_autofree bool *is_counted = NULL;
  StackWeights weights = { 0 };
  StringId top = 0;
  uint64_t outside = 0;

  *beside = (Beside){ 0 };
  if (request->selection == NULL || !request->selection->command || !filter.has_processes)
    return false;

  is_in = g_new0 (bool, MAX (store->processes.n, 1));
  for (uint32_t i = 0; i < filter.n_processes; i++)
    is_in[filter.processes[i]] = true;
  filter.has_processes = false;
  filter.processes = NULL;
  filter.n_processes = 0;
  sysprof_stack_weights_fold (&weights, store, request->symbols, &filter, false);
  process_of = sysprof_processes_of_stacks (store);
  weight = g_new0 (uint64_t, MAX (store->strings.n_strings, 1));
  is_counted = g_new0 (bool, MAX (store->processes.n, 1));
  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    {
      ProcessId process = process_of[i];
      StringId comm = store->processes.row[process].comm;

      if (is_in[process] || weights.self[i] == 0)
        continue;
      outside += weights.self[i];
      weight[comm] += weights.self[i];
      if (weight[comm] > weight[top])
        top = comm;
      beside->n_processes += !is_counted[process];
      is_counted[process] = true;
    }
  beside->percent = sysprof_percent (outside, weights.total);
  beside->most = top != 0 ? sysprof_store_string (store, top) : NULL;
  sysprof_stack_weights_clear (&weights);
  return true;
}

static GString *
describe_samples (const ViewRequest *request, const StackFacts *facts)
{
  const Store *store = request->store;
  char samples[SYSPROF_GROUPED_SIZE], all[SYSPROF_GROUPED_SIZE], lost[SYSPROF_GROUPED_SIZE];
  g_autofree char *events = sysprof_dup_events (store, NULL);
  GString *text = g_string_new (sysprof_format_grouped (facts->samples, samples));

  if (facts->samples < store->samples.n)
    g_string_append_printf (text, " of %s", sysprof_format_grouped (store->samples.n, all));
  g_string_append_printf (text, "%s, %s lost", events,
                          sysprof_format_grouped (store->n_lost_samples, lost));
  if (store->n_lost > store->n_lost_samples)
    g_string_append_printf (
        text, "; %s record%s lost",
        sysprof_format_grouped (store->n_lost - store->n_lost_samples, lost),
        store->n_lost - store->n_lost_samples == 1 ? "" : "s");
  return text;
}

static GString *
describe_beside (const Beside *beside)
{
  GString *text = g_string_new (NULL);

  g_string_printf (text, "%.1f %% of the samples%s%s; --all shows %u more process%s",
                   beside->percent, beside->most ? ", mostly " : "",
                   beside->most ? beside->most : "", beside->n_processes,
                   beside->n_processes == 1 ? "" : "es");
  return text;
}

char **
sysprof_dup_machine_facts (const ViewRequest *request)
{
  const Store *store = request->store;
  GPtrArray *lines = g_ptr_array_new ();
  SampleFilter filter = filter_samples (request);
  StackFacts facts = sysprof_stack_facts (request, &filter);
  g_autofree char *duration =
      sysprof_dup_duration (sysprof_time_between (store->begin, store->end));
  g_autofree char *selection = sysprof_dup_selection (request);
  GString *text = g_string_new (NULL);
  Beside beside;

  add_line (lines, "Machine", describe_machine (store));
  g_string_printf (text, "%s, started %s", duration, store->capture_time);
  if (store->is_imported)
    g_string_assign (text, "by another profiler, converted");
  add_line (lines, "Recorded", text);
  if (selection != NULL)
    add_line (lines, "Selected", g_string_new (selection));
  add_line (lines, "Samples", describe_samples (request, &facts));
  if (facts.samples > 0 && !store->is_imported)
    {
      bool is_weighed = request->filter != NULL && request->filter->weight_name != NULL;
      GString *stacks = describe_stacks (&facts);

      add_line (lines, "Stacks",
                g_string_append (stacks, is_weighed ? ", of the samples" : ""));
    }
  if (sysprof_find_beside (request, &beside) && beside.n_processes > 0)
    add_line (lines, "Beside it", describe_beside (&beside));
  if (store->damage)
    add_line (lines, "Damage", g_string_new (store->damage));
  if (store->mixed)
    add_line (lines, "Joined", g_string_new (store->mixed));
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
