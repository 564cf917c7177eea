// SPDX-License-Identifier: GPL-3.0-or-later

/* What part of a capture an answer is about, and its shape: the options that all programs
 * spell the same way. */

#include "document/selection/parts.h"

#define LIST(name, member, selects, help, argument)                             \
  {                                                                             \
    name, SELECTION_LIST, offsetof (Selection, member), selects, help, argument \
  }
#define SWITCH(name, member, selects, help)                                   \
  {                                                                           \
    name, SELECTION_SWITCH, offsetof (Selection, member), selects, help, NULL \
  }

/* clang-format off */
const SelectionOption sysprof_selection_options[] = {
  LIST ("time", times, true,
        "Select this time, like 2..2.5 (s) or 500ms.. (!A..B: outside of it)", "A..B"),
  SWITCH ("command", command, true, "Select the recorded command and its descendants"),
  SWITCH ("all", all, false, "Show the whole machine, not the recorded command alone"),
  LIST ("process", processes, true, "Select processes; * and ? in names, !NAME: without", "NAME|PID"),
  LIST ("process-tree", process_trees, true, "Select processes and their descendants",
        "NAME|PID"),
  LIST ("thread", threads, true, "Select threads (!NAME: all others)", "NAME|TID"),
  LIST ("cpu", cpus, true, "Select CPUs, like 0,2-3 (!LIST: all others)", "LIST"),
  LIST ("cgroup", cgroups, true,
        "Select processes in these control groups, like '/system.slice/*'", "GLOB"),
  LIST ("mark", marks, true,
        "Select what processes did during these marks (globs; !GROUP/NAME: outside of them)",
        "GROUP/NAME"),
  LIST ("symbol", symbols, true,
        "Select stacks with a function that contains TEXT (!TEXT: without)", "TEXT"),
  LIST ("binary", binaries, true,
        "Select stacks with a program or library that contains TEXT (!TEXT: without)", "TEXT"),
  SWITCH ("no-kernel", no_kernel, false,
          "Hide kernel functions; their time counts for the caller"),
  SWITCH ("idle", idle, false, "Include the idle task"),
  { "focus", SELECTION_TEXT, offsetof (Selection, focus), false, "Start at this function",
    "SYMBOL" },
  SWITCH ("bottom-up", bottom_up, false,
          "Start at the innermost functions and show their callers"),
  SWITCH ("left-heavy", left_heavy, false, "Sort the flame graph by weight instead of by name"),
  SWITCH ("fold-recursion", fold_recursion, false, "Show recursive calls of a function once"),
  SWITCH ("threads", by_threads, false, "Show one entry per thread"),
  SWITCH ("merge-processes", merge_processes, false, "Show processes of the same name as one"),
  SWITCH ("hide-system", hide_system, false,
          "Hide functions of system libraries; their time counts for the caller"),
  LIST ("merge-function", merged, false,
        "Hide this function; its time counts for the caller", "FUNCTION"),
  LIST ("collapse", collapse, false, "Show all functions of BINARY as one", "BINARY"),
  { NULL },
};
/* clang-format on */

static void *
member (const Selection *self, const SelectionOption *option)
{
  return (char *) self + option->offset;
}

GOptionEntry *
sysprof_selection_option_entries (Selection *selection)
{
  static const GOptionArg kinds[] = {
    [SELECTION_LIST] = G_OPTION_ARG_STRING_ARRAY,
    [SELECTION_TEXT] = G_OPTION_ARG_STRING,
    [SELECTION_SWITCH] = G_OPTION_ARG_NONE,
  };
  GOptionEntry *entries = g_new0 (GOptionEntry, G_N_ELEMENTS (sysprof_selection_options));

  for (size_t i = 0; sysprof_selection_options[i].name != NULL; i++)
    {
      const SelectionOption *option = &sysprof_selection_options[i];

      entries[i] = (GOptionEntry){
        option->name,    0, 0, kinds[option->kind], member (selection, option), option->help,
        option->argument
      };
    }
  return entries;
}

void
sysprof_selection_clear (Selection *self)
{
  for (const SelectionOption *option = sysprof_selection_options; option->name; option++)
    if (option->kind == SELECTION_LIST)
      g_strfreev (*(char ***) member (self, option));
    else if (option->kind == SELECTION_TEXT)
      g_free (*(char **) member (self, option));
  *self = (Selection){ 0 };
}

static gboolean
check_terms (const char *option, const char *what, char **terms, GError **error)
{
  for (guint i = 0; terms != NULL && terms[i] != NULL; i++)
    if (terms[i][terms[i][0] == '!'] == 0)
      {
        g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                     "%s '%s': give a part of the name of a %s, or ! and a part to leave out",
                     option, terms[i], what);
        return FALSE;
      }

  return TRUE;
}

static gboolean
check_focus (const char *focus, GError **error)
{
  if (focus == NULL || focus[0] != 0)
    return TRUE;

  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
               "--focus '': give the name of a function, or a part of it");
  return FALSE;
}

/* AND between kinds. */
static void
intersect_processes (GArray *processes, const GArray *others)
{
  guint n = 0;

  for (guint i = 0; i < processes->len; i++)
    for (guint j = 0; j < others->len; j++)
      if (g_array_index (processes, ProcessId, i) == g_array_index (others, ProcessId, j))
        {
          g_array_index (processes, ProcessId, n++) = g_array_index (processes, ProcessId, i);
          break;
        }
  g_array_set_size (processes, n);
}

static bool
selects_processes (const Selection *self)
{
  return self->processes != NULL || self->process_trees != NULL || self->command;
}

void
sysprof_selection_default_to_command (Selection *self, const Store *store)
{
  if (!self->all && !selects_processes (self) && self->threads == NULL && self->cgroups == NULL)
    self->command = sysprof_store_find_command (store) != 0;
}

static gboolean
resolve_processes (const Selection *self, const Store *store, GArray *processes, GError **error)
{
  g_autoptr (GArray) in_groups = g_array_new (FALSE, FALSE, sizeof (ProcessId));

  if (selects_processes (self) &&
      !sysprof_selection_find_processes (self, store, processes, error))
    return FALSE;
  if (self->cgroups == NULL)
    return TRUE;
  if (!selects_processes (self))
    return sysprof_selection_find_cgroups (self->cgroups, store, processes, error);
  if (!sysprof_selection_find_cgroups (self->cgroups, store, in_groups, error))
    return FALSE;
  intersect_processes (processes, in_groups);
  return TRUE;
}

static bool
has_values (char **values, bool is_excluding)
{
  for (; values != NULL && *values != NULL; values++)
    if (((*values)[0] == '!') == is_excluding)
      return true;
  return false;
}

/* The values without "!", or those behind a "!"; NULL if there are none. The texts are
 * borrowed. *(full)* */
static char **
find_values (char **values, bool is_excluding)
{
  char **found;
  guint n = 0;

  if (!has_values (values, is_excluding))
    return NULL;
  found = g_new0 (char *, g_strv_length (values) + 1);
  for (; *values != NULL; values++)
    if (((*values)[0] == '!') == is_excluding)
      found[n++] = *values + is_excluding;
  return found;
}

static void
narrow (GArray *times, GArray *ranges, bool is_excluding)
{
  if (is_excluding)
    sysprof_time_ranges_invert (ranges);
  sysprof_time_ranges_intersect (times, ranges);
}

/* Narrows the times to those of --time and --mark, or to all but these. */
static gboolean
resolve_times (const Selection *self,
               bool is_excluding,
               const Store *store,
               ResolvedSelection *resolved,
               GError **error)
{
  GArray *spans = is_excluding ? resolved->other_spans : resolved->spans;
  g_autofree char **times = find_values (self->times, is_excluding);
  g_autofree char **marks = find_values (self->marks, is_excluding);
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (TimeRange));

  if (times != NULL)
    {
      if (!sysprof_selection_parse_times (times, store, ranges, error))
        return FALSE;
      narrow (resolved->times, ranges, is_excluding);
    }
  if (marks == NULL)
    return TRUE;
  g_array_set_size (ranges, 0);
  if (!sysprof_selection_find_marks (marks, store, ranges, spans, error))
    return FALSE;
  /* The time of a mark of one process is not excluded for others. */
  if (!is_excluding || spans->len == 0)
    narrow (resolved->times, ranges, is_excluding);
  return TRUE;
}

typedef gboolean (*FindNumbers) (char **values,
                                 const Store *store,
                                 GArray *numbers,
                                 GError **error);

/* The numbers that values without "!" name, less those that others name. If all values have a
 * "!", the numbers to exclude. */
static gboolean
resolve_numbers (char **values,
                 FindNumbers find,
                 const Store *store,
                 GArray *numbers,
                 GError **error)
{
  g_autofree char **wanted = find_values (values, false);
  g_autofree char **excluded = find_values (values, true);
  g_autoptr (GArray) others = g_array_new (FALSE, FALSE, sizeof (int32_t));
  guint n = 0;

  if (wanted == NULL)
    return excluded == NULL || find (excluded, store, numbers, error);
  if (!find (wanted, store, numbers, error) ||
      (excluded != NULL && !find (excluded, store, others, error)))
    return FALSE;
  for (guint i = 0; i < numbers->len; i++)
    {
      int32_t number = g_array_index (numbers, int32_t, i);
      bool is_excluded = false;

      for (guint j = 0; j < others->len; j++)
        is_excluded |= g_array_index (others, int32_t, j) == number;
      if (!is_excluded)
        g_array_index (numbers, int32_t, n++) = number;
    }
  g_array_set_size (numbers, n);
  return TRUE;
}

static gboolean
resolve (const Selection *self, const Store *store, ResolvedSelection *resolved, GError **error)
{
  static const TimeRange always = { INT64_MIN, INT64_MAX };

  resolved->times = g_array_new (FALSE, FALSE, sizeof (TimeRange));
  g_array_append_val (resolved->times, always);
  resolved->spans = g_array_new (FALSE, FALSE, sizeof (OwnedSpan));
  resolved->other_spans = g_array_new (FALSE, FALSE, sizeof (OwnedSpan));
  resolved->processes = g_array_new (FALSE, FALSE, sizeof (ProcessId));
  resolved->tids = g_array_new (FALSE, FALSE, sizeof (int32_t));
  resolved->cpus = g_array_new (FALSE, FALSE, sizeof (int32_t));

  return resolve_times (self, false, store, resolved, error) &&
         resolve_times (self, true, store, resolved, error) &&
         resolve_processes (self, store, resolved->processes, error) &&
         resolve_numbers (self->threads, sysprof_selection_find_threads, store, resolved->tids,
                          error) &&
         resolve_numbers (self->cpus, sysprof_selection_parse_cpus, store, resolved->cpus,
                          error) &&
         check_terms ("--symbol", "function", self->symbols, error) &&
         check_terms ("--binary", "program or library", self->binaries, error) &&
         check_focus (self->focus, error);
}

static void
fill_filter (SampleFilter *filter, const Selection *self, const ResolvedSelection *resolved)
{
  static const TimeRange nothing = { INT64_MIN, INT64_MIN };
  const TimeRange *times = (const TimeRange *) resolved->times->data;

  *filter = (SampleFilter){
    .spans =
        resolved->spans->len > 0 ? (const OwnedSpan *) (void *) resolved->spans->data : NULL,
    .n_spans = resolved->spans->len,
    .other_spans = resolved->other_spans->len > 0
                       ? (const OwnedSpan *) (void *) resolved->other_spans->data
                       : NULL,
    .n_other_spans = resolved->other_spans->len,
    .processes = (const ProcessId *) resolved->processes->data,
    .n_processes = resolved->processes->len,
    .has_processes = selects_processes (self) || self->cgroups != NULL,
    .tids = (const int32_t *) resolved->tids->data,
    .n_tids = resolved->tids->len,
    .has_tids = has_values (self->threads, false),
    .cpus = (const int32_t *) resolved->cpus->data,
    .n_cpus = resolved->cpus->len,
    .has_cpus = has_values (self->cpus, false),
    .excludes_tids = has_values (self->threads, true) && !has_values (self->threads, false),
    .excludes_cpus = has_values (self->cpus, true) && !has_values (self->cpus, false),
    /* A process that the user names is selected. */
    .no_idle = !self->idle && (self->processes == NULL || self->processes[0][0] == '!'),
    .symbol_terms = (const char *const *) self->symbols,
    .binary_terms = (const char *const *) self->binaries,
  };

  if (resolved->times->len == 0)
    {
      filter->times = &nothing;
      filter->time_begin = filter->time_end = nothing.begin;
    }
  else if (times->begin != INT64_MIN || times->end != INT64_MAX)
    {
      filter->times = times;
      filter->n_times = resolved->times->len;
      filter->time_begin = times[0].begin;
      filter->time_end = times[filter->n_times - 1].end;
    }
}

gboolean
sysprof_selection_resolve (const Selection *self,
                           const Store *store,
                           ResolvedSelection *resolved,
                           GError **error)
{
  *resolved = (ResolvedSelection){ 0 };

  if (!resolve (self, store, resolved, error) ||
      g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error))
    {
      sysprof_resolved_selection_clear (resolved);
      return FALSE;
    }

  fill_filter (&resolved->filter, self, resolved);
  resolved->shape = (Shape){
    .bottom_up = self->bottom_up,
    .threads = self->by_threads,
    .no_kernel = self->no_kernel,
    .merge_processes = self->merge_processes,
    .fold_recursion = self->fold_recursion,
    .hide_system = self->hide_system,
    .collapse = (const char *const *) self->collapse,
    .merge = (const char *const *) self->merged,
    .focus = self->focus,
  };
  return TRUE;
}

void
sysprof_resolved_selection_clear (ResolvedSelection *self)
{
  g_clear_pointer (&self->times, g_array_unref);
  g_clear_pointer (&self->spans, g_array_unref);
  g_clear_pointer (&self->other_spans, g_array_unref);
  g_clear_pointer (&self->processes, g_array_unref);
  g_clear_pointer (&self->tids, g_array_unref);
  g_clear_pointer (&self->cpus, g_array_unref);
  *self = (ResolvedSelection){ 0 };
}
