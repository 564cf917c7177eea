// SPDX-License-Identifier: GPL-3.0-or-later

/* What part of a capture an answer is about, and its shape: the options that all programs spell the same way. */

#include "document/selection/parts.h"

GOptionEntry *
sysprof_selection_option_entries (Selection *selection)
{
  /* clang-format off */
  const GOptionEntry entries[] = {
    { "time", 0, 0, G_OPTION_ARG_STRING_ARRAY, &selection->times,
      "Select what happened in this time, like 2s..2.5s or 500ms..", "A..B" },
    { "process", 0, 0, G_OPTION_ARG_STRING_ARRAY, &selection->processes,
      "Select processes; names may contain * and ?", "NAME|PID" },
    { "thread", 0, 0, G_OPTION_ARG_STRING_ARRAY, &selection->threads, "Select threads", "NAME|TID" },
    { "cpu", 0, 0, G_OPTION_ARG_STRING_ARRAY, &selection->cpus, "Select CPUs, like 0,2-3", "LIST" },
    { "cgroup", 0, 0, G_OPTION_ARG_STRING_ARRAY, &selection->cgroups,
      "Select processes in these control groups, like '/system.slice/*'", "GLOB" },
    { "mark", 0, 0, G_OPTION_ARG_STRING_ARRAY, &selection->marks,
      "Select what processes did during these marks; both parts may contain * and ?", "GROUP/NAME" },
    { "symbol", 0, 0, G_OPTION_ARG_STRING_ARRAY, &selection->symbols,
      "Select stacks with a function that contains TEXT (!TEXT: without)", "TEXT" },
    { "binary", 0, 0, G_OPTION_ARG_STRING_ARRAY, &selection->binaries,
      "Select stacks with a program or library that contains TEXT (!TEXT: without)", "TEXT" },
    { "no-kernel", 0, 0, G_OPTION_ARG_NONE, &selection->no_kernel, "Hide kernel functions; their time counts for the caller", NULL },
    { "idle", 0, 0, G_OPTION_ARG_NONE, &selection->idle, "Include the idle task", NULL },
    { "focus", 0, 0, G_OPTION_ARG_STRING, &selection->focus, "Start at this function", "SYMBOL" },
    { "bottom-up", 0, 0, G_OPTION_ARG_NONE, &selection->bottom_up,
      "Start at the innermost functions and show their callers", NULL },
    { "left-heavy", 0, 0, G_OPTION_ARG_NONE, &selection->left_heavy,
      "Sort the flame graph by weight instead of by name", NULL },
    { "fold-recursion", 0, 0, G_OPTION_ARG_NONE, &selection->fold_recursion,
      "Show recursive calls of a function once", NULL },
    { "threads", 0, 0, G_OPTION_ARG_NONE, &selection->by_threads, "Show one entry per thread", NULL },
    { "merge-processes", 0, 0, G_OPTION_ARG_NONE, &selection->merge_processes,
      "Show processes of the same name as one", NULL },
    { "hide-system", 0, 0, G_OPTION_ARG_NONE, &selection->hide_system,
      "Hide functions of system libraries; their time counts for the caller", NULL },
    { "collapse", 0, 0, G_OPTION_ARG_STRING_ARRAY, &selection->collapse,
      "Show all functions of BINARY as one", "BINARY" },
    { NULL },
  };
  /* clang-format on */

  return g_memdup2 (entries, sizeof entries);
}

void
sysprof_selection_clear (Selection *self)
{
  g_strfreev (self->times);
  g_strfreev (self->processes);
  g_strfreev (self->threads);
  g_strfreev (self->cpus);
  g_strfreev (self->cgroups);
  g_strfreev (self->marks);
  g_strfreev (self->symbols);
  g_strfreev (self->binaries);
  g_strfreev (self->collapse);
  g_free (self->focus);
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

static gboolean
resolve_processes (const Selection *self, const Store *store, GArray *processes, GError **error)
{
  g_autoptr (GArray) in_groups = g_array_new (FALSE, FALSE, sizeof (ProcessId));

  if (self->processes != NULL &&
      !sysprof_selection_find_processes (self->processes, store, processes, error))
    return FALSE;
  if (self->cgroups == NULL)
    return TRUE;
  if (self->processes == NULL)
    return sysprof_selection_find_cgroups (self->cgroups, store, processes, error);
  if (!sysprof_selection_find_cgroups (self->cgroups, store, in_groups, error))
    return FALSE;
  intersect_processes (processes, in_groups);
  return TRUE;
}

static gboolean
resolve_times (const Selection *self,
               const Store *store,
               GArray *times,
               GArray *spans,
               GError **error)
{
  g_autoptr (GArray) in_marks = g_array_new (FALSE, FALSE, sizeof (TimeRange));

  if (self->times != NULL && !sysprof_selection_parse_times (self->times, store, times, error))
    return FALSE;
  if (self->marks == NULL)
    return TRUE;
  if (self->times == NULL)
    return sysprof_selection_find_marks (self->marks, store, times, spans, error);
  if (!sysprof_selection_find_marks (self->marks, store, in_marks, spans, error))
    return FALSE;
  sysprof_time_ranges_intersect (times, in_marks);
  return TRUE;
}

static gboolean
resolve (const Selection *self, const Store *store, ResolvedSelection *resolved, GError **error)
{
  resolved->times = g_array_new (FALSE, FALSE, sizeof (TimeRange));
  resolved->spans = g_array_new (FALSE, FALSE, sizeof (OwnedSpan));
  resolved->processes = g_array_new (FALSE, FALSE, sizeof (ProcessId));
  resolved->tids = g_array_new (FALSE, FALSE, sizeof (int32_t));
  resolved->cpus = g_array_new (FALSE, FALSE, sizeof (int32_t));

  return resolve_times (self, store, resolved->times, resolved->spans, error) &&
         resolve_processes (self, store, resolved->processes, error) &&
         (self->threads == NULL ||
          sysprof_selection_find_threads (self->threads, store, resolved->tids, error)) &&
         (self->cpus == NULL ||
          sysprof_selection_parse_cpus (self->cpus, resolved->cpus, error)) &&
         check_terms ("--symbol", "function", self->symbols, error) &&
         check_terms ("--binary", "program or library", self->binaries, error) &&
         check_focus (self->focus, error);
}

static void
fill_filter (SampleFilter *filter, const Selection *self, const ResolvedSelection *resolved)
{
  static const TimeRange nothing = { INT64_MIN, INT64_MIN };

  *filter = (SampleFilter){
    .spans =
        resolved->spans->len > 0 ? (const OwnedSpan *) (void *) resolved->spans->data : NULL,
    .n_spans = resolved->spans->len,
    .processes = (const ProcessId *) resolved->processes->data,
    .n_processes = resolved->processes->len,
    .has_processes = self->processes != NULL || self->cgroups != NULL,
    .tids = (const int32_t *) resolved->tids->data,
    .n_tids = resolved->tids->len,
    .has_tids = self->threads != NULL,
    .cpus = (const int32_t *) resolved->cpus->data,
    .n_cpus = resolved->cpus->len,
    .has_cpus = self->cpus != NULL,
    /* A process that the user names is selected. */
    .no_idle = !self->idle && self->processes == NULL,
    .symbol_terms = (const char *const *) self->symbols,
    .binary_terms = (const char *const *) self->binaries,
  };

  if (resolved->times->len == 0 && (self->times != NULL || self->marks != NULL))
    {
      filter->times = &nothing;
      filter->time_begin = filter->time_end = nothing.begin;
    }
  else if (resolved->times->len > 0)
    {
      const TimeRange *times = (const TimeRange *) resolved->times->data;

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
    .focus = self->focus,
  };
  return TRUE;
}

void
sysprof_resolved_selection_clear (ResolvedSelection *self)
{
  g_clear_pointer (&self->times, g_array_unref);
  g_clear_pointer (&self->spans, g_array_unref);
  g_clear_pointer (&self->processes, g_array_unref);
  g_clear_pointer (&self->tids, g_array_unref);
  g_clear_pointer (&self->cpus, g_array_unref);
  *self = (ResolvedSelection){ 0 };
}
