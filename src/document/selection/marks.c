// SPDX-License-Identifier: GPL-3.0-or-later

/* --mark GROUP/NAME: the times of such marks, of their processes or CPUs. */

#include "document/selection/parts.h"

#include <fnmatch.h>

static bool
matches (const char *pattern, const char *text)
{
  return g_str_equal (pattern, text) || fnmatch (pattern, text, 0) == 0;
}

#define SCHEDULER "Scheduler" /* group of marks that say who runs on a CPU */

/* Marks of the scheduler count for their CPU, others for their process. */
static OwnedSpan
own_span (const Store *store, const Mark *mark, TimeRange time)
{
  OwnedSpan span = { -1, -1, time };

  if (mark->cpu >= 0 && g_str_equal (sysprof_store_string (store, mark->group), SCHEDULER))
    span.cpu = mark->cpu;
  else
    span.pid = MAX (mark->pid, -1);
  return span;
}

static int
compare_spans (const void *a, const void *b)
{
  const OwnedSpan *left = a, *right = b;

  if (left->pid != right->pid)
    return left->pid < right->pid ? -1 : 1;
  if (left->cpu != right->cpu)
    return left->cpu < right->cpu ? -1 : 1;
  return (left->time.begin > right->time.begin) - (left->time.begin < right->time.begin);
}

/* In order, and those of one owner that meet joined. None where all count for everybody: then the times say it all. */
static void
join_spans (GArray *spans)
{
  OwnedSpan *span = (OwnedSpan *) (void *) spans->data;
  bool has_owner = false;
  guint n = 0;

  g_array_sort (spans, compare_spans);
  for (guint i = 0; i < spans->len; i++)
    {
      OwnedSpan *last = n > 0 ? &span[n - 1] : NULL;

      has_owner |= span[i].pid >= 0 || span[i].cpu >= 0;
      if (last != NULL && last->pid == span[i].pid && last->cpu == span[i].cpu &&
          last->time.end >= span[i].time.begin)
        last->time.end = MAX (last->time.end, span[i].time.end);
      else
        span[n++] = span[i];
    }
  g_array_set_size (spans, has_owner ? n : 0);
}

static void
find_marks (const Store *store,
            const char *group,
            const char *name,
            GArray *ranges,
            GArray *spans)
{
  for (uint32_t i = 0; i < store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &store->marks[i];
      TimeRange range = { mark->time, 0 };
      OwnedSpan span;

      if (!matches (group, sysprof_store_string (store, mark->group)) ||
          !matches (name, sysprof_store_string (store, mark->name)))
        continue;
      /* An instant holds what has its very time. */
      if (__builtin_add_overflow (mark->time, MAX (mark->duration, 1), &range.end))
        range.end = INT64_MAX;
      span = own_span (store, mark, range);
      g_array_append_val (ranges, range);
      g_array_append_val (spans, span);
    }
}

gboolean
sysprof_selection_find_marks (char **marks,
                              const Store *store,
                              GArray *ranges,
                              GArray *spans,
                              GError **error)
{
  for (guint i = 0; marks[i] != NULL; i++)
    {
      const char *slash = strchr (marks[i], '/');
      g_autofree char *group = slash ? g_strndup (marks[i], (gsize) (slash - marks[i])) : NULL;

      if (slash == NULL || slash == marks[i] || slash[1] == 0)
        {
          g_set_error (
              error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
              "--mark %s: give group and name, like Compositor/Paint; both may hold * and ?",
              marks[i]);
          return FALSE;
        }
      find_marks (store, group, slash + 1, ranges, spans);
    }
  sysprof_time_ranges_join (ranges);
  join_spans (spans);
  return TRUE;
}
