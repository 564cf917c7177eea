// SPDX-License-Identifier: GPL-3.0-or-later

/* Two generations of events. When the current one is too old or full, it replaces the older
 * one, so memory stays bounded. */

#include "unwinder/history.h"

#include "unwinder/files.h"

#include <string.h>

#define AGE_USEC  (1 * G_TIME_SPAN_SECOND)
#define MOST_KEPT 65536 /* events per generation: 5 MB */

void
sysprof_history_init (History *self)
{
  *self = (History){ 0 };
  for (unsigned i = 0; i < G_N_ELEMENTS (self->events); i++)
    self->events[i] = g_array_new (false, false, sizeof (TaskEvent));
}

void
sysprof_history_clear (History *self)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (self->events); i++)
    g_clear_pointer (&self->events[i], g_array_unref);
}

void
sysprof_history_add (History *self, const TaskEvent *event, int64_t now)
{
  if (now - self->begin_usec >= AGE_USEC || self->events[0]->len >= MOST_KEPT)
    {
      GArray *older = self->events[1];

      self->events[1] = self->events[0];
      self->events[0] = older;
      g_array_set_size (older, 0);
      self->begin_usec = now;
    }

  g_array_append_vals (self->events[0], event, 1);
  if (event->kind == TASK_MAPPED)
    g_array_index (self->events[0], TaskEvent, self->events[0]->len - 1).path =
        strcmp (event->path, VDSO_PATH) == 0 ? VDSO_PATH : "";
}

void
sysprof_history_forget (History *self)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (self->events); i++)
    g_array_set_size (self->events[i], 0);
}

static int
compare_times (const void *a, const void *b)
{
  const TaskEvent *left = a, *right = b;

  return (left->time > right->time) - (left->time < right->time);
}

/* While the pump takes over from the unwinder's rings, both deliver the same events. */
static void
drop_doubles (GArray *events)
{
  guint n = 0;

  for (guint i = 0; i < events->len; i++)
    {
      const TaskEvent *event = &g_array_index (events, TaskEvent, i);
      const TaskEvent *last = n > 0 ? &g_array_index (events, TaskEvent, n - 1) : NULL;

      if (last == NULL || last->time != event->time || last->kind != event->kind ||
          last->start != event->start)
        g_array_index (events, TaskEvent, n++) = *event;
    }
  g_array_set_size (events, n);
}

void
sysprof_history_find (const History *self, int32_t pid, GArray *found)
{
  g_array_set_size (found, 0);
  for (unsigned i = G_N_ELEMENTS (self->events); i > 0; i--)
    {
      const GArray *events = self->events[i - 1];

      for (guint at = 0; at < events->len; at++)
        {
          const TaskEvent *event = &g_array_index (events, TaskEvent, at);

          if (event->pid == pid)
            g_array_append_vals (found, event, 1);
        }
    }
  /* g_array_sort() is stable: events with equal times keep their order. */
  g_array_sort (found, compare_times);
  drop_doubles (found);
}
