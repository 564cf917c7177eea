// SPDX-License-Identifier: GPL-3.0-or-later

/* Findings about frames: how many took longer than a screen's interval, and where. Frames are
 * marks that a toolkit writes. */

#include "document/document.h"
#include "views/overview/findings.h"

#include <string.h>

#define INTERVAL_NSEC INT64_C (16666667) /* of a screen with 60 Hz */

/* Marks that span a frame, and marks that only contain others. */
static const struct
{
  const char *group;
  const char *frame;
  const char *container;
} toolkits[] = {
  { "gtk", "frameclock cycle", "frameclock paint" },
};

/* The frames of one process. */
typedef struct
{
  GArray *slow; /* uint32_t: marks, by time */
  uint32_t n;
  uint32_t slowest; /* mark */
} Frames;

static bool
is_text (const Store *store, StringId id, const char *text)
{
  return strcmp (sysprof_store_string (store, id), text) == 0;
}

/* Finds the process with the slowest frame, and its frames. */
static bool
find_frames (const Store *store, const bool *is_in, size_t toolkit, Frames *frames)
{
  g_autofree bool *is_frame = g_new0 (bool, MAX (store->n_marks, 1));
  const Mark *slowest = NULL;

  for (uint32_t i = 0; i < store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &store->marks[i];

      is_frame[i] = is_in[i] && is_text (store, mark->group, toolkits[toolkit].group) &&
                    is_text (store, mark->name, toolkits[toolkit].frame);
      if (is_frame[i] && (slowest == NULL || mark->duration > slowest->duration))
        slowest = mark;
    }
  for (uint32_t i = 0; slowest != NULL && i < store->n_marks && sysprof_is_wanted_at (i); i++)
    if (is_frame[i] && store->marks[i].pid == slowest->pid)
      {
        frames->n++;
        if (store->marks[i].duration > INTERVAL_NSEC)
          g_array_append_val (frames->slow, i);
      }
  frames->slowest = slowest != NULL ? (uint32_t) (slowest - store->marks) : 0;
  return frames->slow->len > 0;
}

static int64_t
frame_end (const Store *store, const Frames *frames, uint32_t index)
{
  const Mark *mark = &store->marks[g_array_index (frames->slow, uint32_t, index)];

  return sysprof_time_sum (mark->time, mark->duration);
}

static const Mark *
slow_frame (const Store *store, const Frames *frames, uint32_t index)
{
  return &store->marks[g_array_index (frames->slow, uint32_t, index)];
}

/* The mark in which slow frames were longest; 0 = none. */
static StringId
find_phase (const Store *store, const Frames *frames, size_t toolkit)
{
  g_autofree int64_t *self = sysprof_marks_find_self (store);
  g_autofree int64_t *time = g_new0 (int64_t, MAX (store->strings.n_strings, 1));
  StringId longest = 0;
  uint32_t at = 0;

  for (uint32_t i = 0; i < store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &store->marks[i], *frame;

      while (at < frames->slow->len && mark->time >= frame_end (store, frames, at))
        at++;
      if (at == frames->slow->len)
        break;
      frame = slow_frame (store, frames, at);
      if (mark->pid != frame->pid || mark->time < frame->time ||
          is_text (store, mark->name, toolkits[toolkit].frame) ||
          is_text (store, mark->name, toolkits[toolkit].container))
        continue;
      time[mark->name] = sysprof_time_sum (time[mark->name], self[i]);
      if (time[mark->name] > time[longest])
        longest = mark->name;
    }
  return longest;
}

/* The own function with most samples in slow frames, of the thread that draws. */
static OwnFunction
find_function (const Findings *self, const Frames *frames)
{
  const Store *store = self->store;
  const StackEvents *samples = &store->samples;
  g_autofree uint64_t *weight = g_new0 (uint64_t, MAX (store->stacks.n, 1));
  StackWeights weights = { .self = weight };
  uint32_t n, at = 0;
  g_autofree uint32_t *found =
      sysprof_samples_find (store, self->symbols, self->request->filter, &n);

  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      uint32_t sample = found[i];
      const Mark *frame;

      while (at < frames->slow->len && samples->time[sample] >= frame_end (store, frames, at))
        at++;
      if (at == frames->slow->len)
        break;
      frame = slow_frame (store, frames, at);
      if (samples->pid[sample] == frame->pid && samples->time[sample] >= frame->time &&
          (samples->tid[sample] == frame->pid || samples->tid[sample] < 0))
        {
          weight[samples->stack[sample]]++;
          weights.total++;
        }
    }
  return sysprof_own_functions_find_heaviest (&self->own, store, self->symbols, &weights);
}

static void
add_frames (Findings *self, const Frames *frames, size_t toolkit)
{
  const Store *store = self->store;
  const Mark *slowest = &store->marks[frames->slowest];
  StringId phase = find_phase (store, frames, toolkit);
  OwnFunction function = find_function (self, frames);
  int64_t offset = sysprof_request_offset (self->request, slowest->time);
  int64_t begin = offset / 1000000;
  int64_t end = sysprof_time_sum (offset, slowest->duration) / 1000000 + 1;
  g_autofree char *time =
      g_strdup_printf ("%" G_GINT64_FORMAT "ms..%" G_GINT64_FORMAT "ms", begin, end);
  g_autofree char *pid = g_strdup_printf ("%d", slowest->pid);
  g_autofree char *comm = sysprof_dup_one_line (sysprof_store_string (
      store, store->processes.row[sysprof_store_find_process (store, slowest->pid)].comm));
  g_autofree char *process = g_strdup_printf ("%s/%d", comm, slowest->pid);
  g_autofree char *duration = sysprof_dup_duration (slowest->duration);
  g_autofree char *name = NULL;
  g_autoptr (GString) place = g_string_new (NULL);

  if (function.symbol != 0)
    {
      g_autofree char *shown = NULL,
                      *location = sysprof_findings_dup_location (self, function.symbol);

      name = sysprof_dup_one_line (sysprof_symbol_name (self->symbols, function.symbol));
      shown = sysprof_findings_dup_shown_name (self, function.symbol);
      g_string_append_printf (place, ": mostly in %s%s", shown, location);
    }
  if (phase != 0)
    {
      g_autofree char *shown = sysprof_dup_one_line (sysprof_store_string (store, phase));

      g_string_append_printf (place, "%s, during %s", function.symbol != 0 ? "" : ":", shown);
    }
  sysprof_findings_add (self,
                        &(Finding){ .kind = "frames",
                                    .view = "tree",
                                    .process = process,
                                    .symbol = name,
                                    .share = (double) frames->slow->len / frames->n,
                                    .options = { "process", pid, "time", time } },
                        "%u of %u frames took more than 16.7 ms, the slowest %s%s.",
                        frames->slow->len, frames->n, duration, place->str);
}

void
sysprof_find_frames (Findings *self)
{
  g_autofree bool *is_in = sysprof_request_find_marks (self->request, NULL);

  for (size_t i = 0; i < G_N_ELEMENTS (toolkits); i++)
    {
      Frames frames = { .slow = g_array_new (FALSE, FALSE, sizeof (uint32_t)) };

      if (find_frames (self->store, is_in, i, &frames))
        add_frames (self, &frames, i);
      g_array_unref (frames.slow);
    }
}
