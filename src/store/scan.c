// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the frames of a capture and brings them into the order of time.
 *
 * A frame's header says where the next one begins, so this is a walk from the first to the last.
 * Most files are nearly sorted (each CPU's ring is), hence a merge of the runs that are there. */

#include "store/builder.h"

typedef struct
{
  int64_t time;
  uint64_t offset;
  int32_t pid;
  int16_t cpu;
  uint8_t type;
} Found;

typedef struct
{
  Found *items; /* [n] */
  size_t n;
  size_t capacity;
} FoundList;

#define CANCEL_EVERY 0x10000 /* frames */

static void
add_found (FoundList *list, const Found *found)
{
  if (list->n == list->capacity)
    {
      list->capacity = MAX (list->capacity * 2, 1024);
      list->items = g_renew (Found, list->items, list->capacity);
    }

  list->items[list->n++] = *found;
}

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

/* FALSE if cancelled. */
static bool
walk_frames (Builder *self, FoundList *list, GError **error)
{
  const Store *store = self->store;
  uint64_t at = FILE_HEADER_SIZE;
  uint64_t n_unsound = 0;
  size_t left_until = 0;

  while (at < store->size)
    {
      Frame frame = { .bytes = store->bytes + at, .is_swapped = store->is_swapped };
      uint64_t left = store->size - at;
      Found found;

      if (left < FRAME_HEADER_SIZE)
        {
          note_damage (self, at, "the file ends in the middle of a frame");
          break;
        }

      frame.size = sysprof_frame_u16 (&frame, 0);
      if (frame.size < FRAME_HEADER_SIZE || frame.size % 8 != 0)
        {
          note_damage (self, at, "what should be a frame has an impossible length");
          break;
        }
      if (frame.size > left)
        {
          note_damage (self, at, "the file ends in the middle of a frame");
          break;
        }

      found.offset = at;
      found.time = sysprof_frame_i64 (&frame, 8);
      found.pid = sysprof_frame_i32 (&frame, 4);
      found.cpu = (int16_t) sysprof_frame_u16 (&frame, 2);
      found.type = sysprof_frame_type (&frame);
      if (!sysprof_capture_frame_validate (frame.bytes, left, store->is_swapped))
        {
          n_unsound++;
          found.type = FRAME_UNKNOWN;
        }

      add_found (list, &found);
      at += frame.size;
      if (list->n == G_MAXUINT32)
        {
          note_damage (self, at, "more frames follow than can be counted");
          break;
        }
      sysprof_file_bytes_leave_behind (self->file, at, &left_until);
      if (list->n % CANCEL_EVERY == 0 &&
          g_cancellable_set_error_if_cancelled (self->cancellable, error))
        return false;
    }

  if (n_unsound > 0)
    g_string_append_printf (
        self->damage,
        "%s%" G_GUINT64_FORMAT
        " frames are shorter than what they claim to hold; they are left out.",
        self->damage->len > 0 ? " " : "", n_unsound);
  return true;
}

static void
merge_runs (const Found *from, size_t begin, size_t middle, size_t end, Found *to)
{
  size_t left = begin, right = middle;

  for (size_t at = begin; at < end; at++)
    to[at] = right == end || (left < middle && from[left].time <= from[right].time)
                 ? from[left++]
                 : from[right++];
}

/* Stable, by time. */
static void
sort_by_time (FoundList *list)
{
  g_autoptr (GArray) bounds = g_array_new (FALSE, FALSE, sizeof (size_t));
  Found *from = list->items, *to;
  size_t n_runs;

  for (size_t i = 0; i < list->n; i++)
    if (i == 0 || from[i].time < from[i - 1].time)
      g_array_append_val (bounds, i);
  n_runs = bounds->len;
  if (n_runs <= 1)
    return;

  g_array_append_val (bounds, list->n);
  to = g_new (Found, list->n);
  while (n_runs > 1)
    {
      size_t *bound = &g_array_index (bounds, size_t, 0);
      size_t n_merged = 0;

      for (size_t run = 0; run < n_runs; run += 2)
        {
          size_t begin = bound[run];
          size_t middle = bound[run + 1];
          size_t end = run + 1 < n_runs ? bound[run + 2] : middle;

          merge_runs (from, begin, middle, end, to);
          bound[n_merged++] = begin;
        }

      bound[n_merged] = list->n;
      n_runs = n_merged;
      list->items = to;
      to = from;
      from = list->items;
    }

  g_free (to);
  list->capacity = list->n;
}

typedef struct
{
  int64_t duration;
  Found found;
} FoundMark;

static int
compare_longer_first (const void *a, const void *b)
{
  const FoundMark *left = a, *right = b;

  if (left->duration != right->duration)
    return left->duration > right->duration ? -1 : 1;
  return (left->found.offset > right->found.offset) -
         (left->found.offset < right->found.offset);
}

/* Among marks of one time, longer first: they take each other's places, other frames keep theirs. */
static void
order_marks (const Store *store, Found *items, size_t n, GArray *marks)
{
  size_t next = 0;

  g_array_set_size (marks, 0);
  for (size_t i = 0; i < n; i++)
    if (items[i].type == SYSPROF_CAPTURE_FRAME_MARK)
      {
        Frame frame = { .bytes = store->bytes + items[i].offset,
                        .is_swapped = store->is_swapped };
        FoundMark mark = { sysprof_frame_i64 (&frame, 24), items[i] };

        g_array_append_val (marks, mark);
      }

  if (marks->len < 2)
    return;

  g_array_sort (marks, compare_longer_first);
  for (size_t i = 0; i < n; i++)
    if (items[i].type == SYSPROF_CAPTURE_FRAME_MARK)
      items[i] = g_array_index (marks, FoundMark, next++).found;
}

static void
order_marks_of_equal_time (const Store *store, FoundList *list)
{
  g_autoptr (GArray) marks = g_array_new (FALSE, FALSE, sizeof (FoundMark));

  for (size_t begin = 0, end; begin < list->n; begin = end)
    {
      for (end = begin + 1; end < list->n && list->items[end].time == list->items[begin].time;
           end++)
        ;
      if (end - begin > 1)
        order_marks (store, list->items + begin, end - begin, marks);
    }
}

static void
fill_columns (Store *store, const FoundList *list)
{
  FrameTable *frames = &store->frames;
  size_t n = list->n;

  frames->n = (uint32_t) n;
  frames->offset = g_new (uint64_t, n);
  frames->time = g_new (int64_t, n);
  frames->type = g_new (uint8_t, n);
  frames->cpu = g_new (int16_t, n);
  frames->pid = g_new (int32_t, n);

  for (size_t i = 0; i < n; i++)
    {
      const Found *found = &list->items[i];

      frames->offset[i] = found->offset;
      frames->time[i] = found->time;
      frames->type[i] = found->type;
      frames->cpu[i] = found->cpu;
      frames->pid[i] = found->pid;
      store->n_frames_by_type[found->type]++;
    }

  for (unsigned type = 0; type < STORE_N_FRAME_TYPES; type++)
    store->frames_of_type[type].frame = g_new (FrameNo, store->n_frames_by_type[type]);

  for (uint32_t i = 0; i < n; i++)
    {
      FrameList *of_type = &store->frames_of_type[frames->type[i]];

      of_type->frame[of_type->n++] = i;
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
find_time_range (Store *store, int64_t header_begin, int64_t header_end)
{
  uint64_t n_data = 0, n_early = 0;
  int64_t first = 0, last = 0;

  for (uint32_t i = 0; i < store->frames.n; i++)
    {
      int64_t end = store->frames.time[i];

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

bool
sysprof_builder_scan (Builder *self, GError **error)
{
  Store *store = self->store;
  Frame header = { .bytes = store->bytes, .size = FILE_HEADER_SIZE };
  FoundList list = { 0 };
  Text capture_time;

  header.is_swapped = store->is_swapped =
      (header.bytes[5] & 1) != (G_BYTE_ORDER == G_LITTLE_ENDIAN);
  capture_time = sysprof_frame_field (&header, 8, sizeof store->capture_time - 1);
  memcpy (store->capture_time, capture_time.at, sysprof_text_size (capture_time));

  if (!walk_frames (self, &list, error))
    {
      g_free (list.items);
      return false;
    }

  sort_by_time (&list);
  if (store->size > FILE_HEADER_SIZE)
    order_marks_of_equal_time (store, &list);
  fill_columns (store, &list);
  g_free (list.items);
  find_time_range (store, sysprof_frame_i64 (&header, 72), sysprof_frame_i64 (&header, 80));
  return true;
}
