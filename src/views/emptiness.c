// SPDX-License-Identifier: GPL-3.0-or-later

/* The sentence in place of missing rows: why there are none, and what to do. */

#include "document/document.h"
#include "text/text.h"
#include "views/views.h"

#include <string.h>

#define MOST_NAMES 5 /* of marks */
#define MOST_CPUS  (INT16_MAX + 1)

typedef char *AdviceFunc (const ViewRequest *request);

/* "The samples are of CPUs 0-3, 6." *(full)* */
static char *
advise_cpus (const ViewRequest *request)
{
  const StackEvents *samples = &request->store->samples;
  g_autofree bool *is_in = g_new0 (bool, MOST_CPUS + 1);
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < samples->n && sysprof_is_wanted_at (i); i++)
    if (samples->cpu[i] >= 0)
      is_in[samples->cpu[i]] = true;
  for (int first = 0, last; first < MOST_CPUS; first = last + 1)
    {
      for (last = first; is_in[first] && is_in[last + 1];)
        last++;
      if (!is_in[first])
        continue;
      g_string_append_printf (text, text->len > 0 ? ", %d" : "The samples are of CPU %d",
                              first);
      if (last > first)
        g_string_append_printf (text, "-%d", last);
    }
  g_string_append (text, text->len > 0 ? "." : "The samples have no CPU.");
  return g_string_free (text, FALSE);
}

/* "The recording is 12.4 s long." *(full)* */
static char *
advise_time (const ViewRequest *request)
{
  const Store *store = request->store;
  g_autofree char *duration =
      sysprof_dup_duration (sysprof_time_between (store->begin, store->end));

  return g_strdup_printf ("The recording is %s long.", duration);
}

/* "It has the marks a/b, c/d." *(full)* */
static char *
advise_marks (const ViewRequest *request)
{
  const Store *store = request->store;
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *text = g_string_new (NULL);
  bool has_more = false;

  for (uint32_t i = 0; i < store->n_marks && !has_more && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &store->marks[i];
      g_autofree char *group = sysprof_dup_one_line (sysprof_store_string (store, mark->group));
      g_autofree char *name = sysprof_dup_one_line (sysprof_store_string (store, mark->name));
      char *key = g_strdup_printf ("%s/%s", group, name);

      has_more = g_hash_table_size (known) == MOST_NAMES && !g_hash_table_contains (known, key);
      if (!has_more && !g_hash_table_contains (known, key))
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "The marks are: ", key);
      g_hash_table_add (known, key);
    }
  if (text->len == 0)
    g_string_append (text, "This capture has no marks.");
  else
    g_string_append (text, has_more ? ", … The view 'marks' lists all." : ".");
  return g_string_free (text, FALSE);
}

/* Advice on options of the selection. */
static const struct
{
  const char *option;
  AdviceFunc *advise;
  const char *text; /* if there is no function */
} advices[] = {
  { "time", advise_time, NULL },
  { "mark", advise_marks, NULL },
  { "cpu", advise_cpus, NULL },
  { "process", NULL, "The view 'processes' lists processes." },
  { "process-tree", NULL, "The view 'processes' lists processes." },
  { "thread", NULL, "The view 'threads' lists threads." },
  { "cgroup", NULL, "The view 'cgroups' lists control groups." },
  { "symbol", NULL, "The view 'functions' lists functions and binaries." },
  { "binary", NULL, "The view 'functions' lists functions and binaries." },
};

static bool
is_selected (const Selection *selection, const char *name)
{
  for (const SelectionOption *option = sysprof_selection_options; option->name; option++)
    if (strcmp (option->name, name) == 0)
      return *(char ***) ((char *) selection + option->offset) != NULL;
  return false;
}

/* Appends a sentence for each option that selects, each sentence once. */
static void
append_advice (GString *text, const ViewRequest *request)
{
  for (size_t i = 0; i < G_N_ELEMENTS (advices); i++)
    {
      g_autofree char *advice = NULL;

      if (!is_selected (request->selection, advices[i].option))
        continue;
      advice = advices[i].advise ? advices[i].advise (request) : g_strdup (advices[i].text);
      if (strstr (text->str, advice) == NULL)
        g_string_append_printf (text, " %s", advice);
    }
}

char *
sysprof_dup_emptiness (const ViewRequest *request, const Rows *rows)
{
  const Store *store = request->store;
  g_autofree char *selection = sysprof_dup_selection (request);
  g_autofree char *duration =
      sysprof_dup_duration (sysprof_time_between (store->begin, store->end));
  const char *noun = rows->noun ? rows->noun : rows->weight_name;
  uint64_t n = rows->is_event_list ? rows->n_available : store->samples.n;
  const char *recorded_by = request->hides_options ? request->recorded_by : rows->recorded_by;
  char grouped[SYSPROF_GROUPED_SIZE];
  GString *text;

  if (n == 0 && recorded_by != NULL)
    return g_strdup_printf ("This capture has no %s. %s", noun, recorded_by);
  if (n == 0)
    return g_strdup_printf ("This capture has no %s.", noun);
  if (request->search != NULL && *request->search != '\0')
    return g_strdup_printf ("No row contains '%s'. Use fewer or shorter words.",
                            request->search);
  /* A tree of no samples has a root, which is hidden for having no weight. */
  if (selection == NULL || (rows->n_hidden > 0 && (rows->total > 0 || rows->is_event_list)))
    return g_strdup ("No rows.");
  if (rows->total > 0)
    return g_strdup_printf ("None in the selection (%s).", selection);
  text = g_string_new (NULL);
  g_string_append_printf (text, "None of the %s %s in %s matches %s%s",
                          sysprof_format_grouped (n, grouped), noun, duration, selection,
                          g_str_has_suffix (selection, ".") ? "" : ".");
  append_advice (text, request);
  return g_string_free (text, FALSE);
}
