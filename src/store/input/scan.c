// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the frames of a capture and brings them into the order of time.
 *
 * walk.c finds them in parts, each part is sorted by a thread of its own (order.c), and the
 * parts are merged into the columns of frames, samples and allocations. */

#include "store/input/scan-parts.h"

#define TIMES_BETWEEN 0x10000 /* between two checks for cancellation */

static void
note_damage (Builder *self, uint64_t at, const char *what)
{
  self->store->damaged_at = at;
  g_string_append_printf (self->damage,
                          "%sAt offset %" G_GUINT64_FORMAT " %s; the %" G_GUINT64_FORMAT
                          " bytes from there on are left out.",
                          self->damage->len > 0 ? " " : "", at, what,
                          (uint64_t) self->store->size - at);
}

static void
tell_damage (Builder *self, const ScannedParts *parts)
{
  uint64_t n_unsound = 0;

  for (size_t i = 0; i < parts->n; i++)
    {
      const ScannedPart *part = &parts->part[i];

      n_unsound += part->n_unsound;
      if (part->harm != NULL)
        note_damage (self, part->end, part->harm);
    }

  if (n_unsound > 0)
    g_string_append_printf (
        self->damage,
        "%s%" G_GUINT64_FORMAT
        " frames are shorter than what they claim to hold; they are left out.",
        self->damage->len > 0 ? " " : "", n_unsound);
}

typedef struct
{
  const ScannedParts *parts;
  const Progress *progress;
} Sorting;

static void
sort_parts (size_t begin, size_t end, unsigned worker, void *data)
{
  const Sorting *self = data;

  for (size_t i = begin; i < end; i++)
    sysprof_scanned_frames_sort (self->parts->part[i].items, self->parts->part[i].n,
                                 self->progress);
}

static void
new_columns (Builder *self, const ScannedParts *parts)
{
  Store *store = self->store;
  FrameTable *frames = &store->frames;
  uint32_t n_of_type[STORE_N_FRAME_TYPES] = { 0 };

  for (size_t i = 0; i < parts->n; i++)
    for (unsigned type = 0; type < STORE_N_FRAME_TYPES; type++)
      n_of_type[type] += (uint32_t) parts->part[i].n_of_type[type];

  frames->offset = sysprof_large_new (parts->n_frames, sizeof *frames->offset);
  frames->time = sysprof_large_new (parts->n_frames, sizeof *frames->time);
  frames->type = sysprof_large_new (parts->n_frames, sizeof *frames->type);
  frames->cpu = sysprof_large_new (parts->n_frames, sizeof *frames->cpu);
  frames->pid = sysprof_large_new (parts->n_frames, sizeof *frames->pid);
  for (unsigned type = 0; type < STORE_N_FRAME_TYPES; type++)
    store->frames_of_type[type].frame = sysprof_large_new (n_of_type[type], sizeof (FrameNo));

  self->sample_digests = sysprof_stack_events_new (
      &store->samples, n_of_type[SYSPROF_CAPTURE_FRAME_SAMPLE], false);
  self->trace_digests =
      sysprof_stack_events_new (&store->traces, n_of_type[SYSPROF_CAPTURE_FRAME_TRACE], false);
  self->allocation_digests = sysprof_stack_events_new (
      &store->allocations, n_of_type[SYSPROF_CAPTURE_FRAME_ALLOCATION], true);
}

static void
add_event (StackEvents *events, StackDigest *digests, const ScannedFrame *found)
{
  events->time[events->n] = found->time;
  events->pid[events->n] = found->pid;
  events->cpu[events->n] = found->cpu;
  events->tid[events->n] = found->tid;
  digests[events->n++] = found->digest;
}

static void
add_frame (Builder *self, const ScannedFrame *found)
{
  Store *store = self->store;
  FrameTable *frames = &store->frames;
  FrameList *of_type = &store->frames_of_type[found->type];

  frames->offset[frames->n] = found->place * FOUND_UNIT;
  frames->time[frames->n] = found->time;
  frames->type[frames->n] = found->type;
  frames->cpu[frames->n] = found->cpu;
  frames->pid[frames->n] = found->pid;
  of_type->frame[of_type->n++] = frames->n++;

  if (found->type == SYSPROF_CAPTURE_FRAME_SAMPLE)
    add_event (&store->samples, self->sample_digests, found);
  else if (found->type == SYSPROF_CAPTURE_FRAME_ALLOCATION)
    add_event (&store->allocations, self->allocation_digests, found);
  else if (found->type == SYSPROF_CAPTURE_FRAME_TRACE)
    add_event (&store->traces, self->trace_digests, found);
}

/* Merges the sorted parts: from the one with the earliest frame, all until another has an
 * earlier one. */
static void
fill_columns (Builder *self, const ScannedParts *parts)
{
  Store *store = self->store;
  g_autofree size_t *next = g_new0 (size_t, parts->n);

  new_columns (self, parts);
  while (store->frames.n < parts->n_frames && !sysprof_progress_is_cancelled (self->progress))
    {
      size_t first = parts->n, second = parts->n;

      for (size_t i = 0; i < parts->n; i++)
        {
          if (next[i] == parts->part[i].n)
            continue;
          if (first == parts->n ||
              parts->part[i].items[next[i]].time < parts->part[first].items[next[first]].time)
            {
              second = first;
              first = i;
            }
          else if (second == parts->n || parts->part[i].items[next[i]].time <
                                             parts->part[second].items[next[second]].time)
            second = i;
        }

      for (const ScannedPart *part = &parts->part[first]; next[first] < part->n; next[first]++)
        {
          const ScannedFrame *found = &part->items[next[first]];

          if (second < parts->n)
            {
              int64_t other = parts->part[second].items[next[second]].time;

              if (found->time > other || (found->time == other && second < first))
                break;
            }
          /* The second half of the stage; the first was to find them. */
          if (!sysprof_builder_goes_on (self, (uint64_t) parts->n_frames + store->frames.n,
                                        2 * (uint64_t) parts->n_frames))
            break;
          add_frame (self, found);
        }
    }

  for (unsigned type = 0; type < STORE_N_FRAME_TYPES; type++)
    store->n_frames_by_type[type] = store->frames_of_type[type].n;
}

typedef struct
{
  int64_t duration;
  uint64_t offset;
  int32_t pid;
  int16_t cpu;
} FoundMark;

static int
compare_longer_first (const void *a, const void *b, void *data)
{
  const FoundMark *left = a, *right = b;

  if (left->duration != right->duration)
    return left->duration > right->duration ? -1 : 1;
  return (left->offset > right->offset) - (left->offset < right->offset);
}

/* Among marks of one time, longer first: they take each other's places, other frames keep
 * theirs. */
static void
order_marks (const Builder *self, const FrameNo *number, uint32_t n, GArray *marks)
{
  Store *store = self->store;
  FrameTable *frames = &store->frames;

  g_array_set_size (marks, 0);
  for (uint32_t i = 0; i < n; i++)
    {
      Frame frame = sysprof_store_frame (store, number[i]);
      FoundMark mark = { sysprof_frame_i64 (&frame, 24), frames->offset[number[i]],
                         frames->pid[number[i]], frames->cpu[number[i]] };

      if (i % TIMES_BETWEEN == 0 && sysprof_progress_is_cancelled (self->progress))
        return;
      g_array_append_val (marks, mark);
    }

  if (!sysprof_progress_sort (self->progress, marks->data, n, sizeof (FoundMark),
                              compare_longer_first, NULL))
    return;
  for (uint32_t i = 0; i < n; i++)
    {
      const FoundMark *mark = &g_array_index (marks, FoundMark, i);

      frames->offset[number[i]] = mark->offset;
      frames->pid[number[i]] = mark->pid;
      frames->cpu[number[i]] = mark->cpu;
    }
}

static void
order_marks_of_equal_time (const Builder *self)
{
  Store *store = self->store;
  const FrameList *of_type = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_MARK];
  const int64_t *time = store->frames.time;
  g_autoptr (GArray) marks = g_array_new (FALSE, FALSE, sizeof (FoundMark));

  for (uint32_t begin = 0, end;
       begin < of_type->n && !sysprof_progress_is_cancelled (self->progress); begin = end)
    {
      for (end = begin + 1;
           end < of_type->n && time[of_type->frame[end]] == time[of_type->frame[begin]]; end++)
        ;
      if (end - begin > 1)
        order_marks (self, of_type->frame + begin, end - begin, marks);
    }
}

/* Types whose time is that of something that happened, not that of a description. */
static const bool is_data[STORE_N_FRAME_TYPES] = {
  [SYSPROF_CAPTURE_FRAME_SAMPLE] = true,       [SYSPROF_CAPTURE_FRAME_MAP] = true,
  [SYSPROF_CAPTURE_FRAME_PROCESS] = true,      [SYSPROF_CAPTURE_FRAME_FORK] = true,
  [SYSPROF_CAPTURE_FRAME_EXIT] = true,         [SYSPROF_CAPTURE_FRAME_CTRSET] = true,
  [SYSPROF_CAPTURE_FRAME_MARK] = true,         [SYSPROF_CAPTURE_FRAME_LOG] = true,
  [SYSPROF_CAPTURE_FRAME_ALLOCATION] = true,   [SYSPROF_CAPTURE_FRAME_TRACE] = true,
  [SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE] = true,
};

/* The header's times hold where they fit the frames. Joined captures carry those of their last
 * source, and a recorder that died left no end. */
static void
find_time_range (const Builder *self, int64_t header_begin, int64_t header_end)
{
  Store *store = self->store;
  uint64_t n_data = 0, n_early = 0;
  int64_t first = 0, last = 0;

  for (uint32_t i = 0; i < store->frames.n; i++)
    {
      int64_t end = store->frames.time[i];

      if (i % TIMES_BETWEEN == 0 && sysprof_progress_is_cancelled (self->progress))
        return;
      if (!is_data[store->frames.type[i]])
        continue;

      n_early += end < header_begin;
      if (n_data++ == 0)
        first = last = end;
      if (store->frames.type[i] == SYSPROF_CAPTURE_FRAME_MARK)
        {
          Frame frame = sysprof_store_frame (store, i);
          int64_t duration = sysprof_frame_i64 (&frame, 24);

          if (duration > 0 && __builtin_add_overflow (end, duration, &end))
            end = store->frames.time[i];
        }
      last = MAX (last, end);
    }

  store->begin = header_begin;
  if (n_data > 0 && (n_early > n_data / 2 || header_begin <= 0))
    store->begin = first;
  store->end = n_data > 0 && last > store->begin ? last : MAX (header_end, store->begin);
}

void
sysprof_builder_scan (Builder *self)
{
  Store *store = self->store;
  Frame header = { .bytes = store->bytes, .size = FILE_HEADER_SIZE };
  ScannedParts parts = { 0 };
  Sorting sorting = { &parts, self->progress };
  Text capture_time;

  header.is_swapped = store->is_swapped =
      (header.bytes[5] & 1) != (G_BYTE_ORDER == G_LITTLE_ENDIAN);
  capture_time = sysprof_frame_field (&header, 8, sizeof store->capture_time - 1);
  memcpy (store->capture_time, capture_time.at, sysprof_text_size (capture_time));

  if (sysprof_scan_parts (self, &parts))
    {
      tell_damage (self, &parts);
      sysprof_parallel_ranges (parts.n, 1, sort_parts, &sorting);
      fill_columns (self, &parts);
    }
  sysprof_scanned_parts_clear (&parts);
  if (sysprof_progress_is_cancelled (self->progress))
    return;

  order_marks_of_equal_time (self);
  find_time_range (self, sysprof_frame_i64 (&header, 72), sysprof_frame_i64 (&header, 80));
}
