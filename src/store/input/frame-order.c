// SPDX-License-Identifier: GPL-3.0-or-later

/* Sorts frames by time, in place.
 *
 * A file is nearly sorted: it has some thousand runs, each of which starts shortly before the
 * end of the run before it. Only the overlap of two runs is moved. */

#include "store/input/scan-parts.h"

/* The first of [begin, end) at or behind `time`, or behind it only. */
static size_t
find_time (const ScannedFrame *items, size_t begin, size_t end, int64_t time, bool behind_only)
{
  while (begin < end)
    {
      size_t middle = begin + (end - begin) / 2;

      if (items[middle].time < time || (behind_only && items[middle].time == time))
        begin = middle + 1;
      else
        end = middle;
    }

  return begin;
}

/* Where pieces are put aside. Plain memory: what GLib recycles between threads by itself looks
 * like a race. */
typedef struct
{
  ScannedFrame *items; /* [capacity] */
  size_t capacity;
} Room;

static ScannedFrame *
put_aside (Room *room, const ScannedFrame *items, size_t n)
{
  if (n > room->capacity)
    {
      room->capacity = n;
      room->items = g_renew (ScannedFrame, room->items, n);
    }

  return memcpy (room->items, items, n * sizeof *items);
}

static bool
goes_on (size_t at, const Progress *progress)
{
  return at % 0x10000 != 0 || !sysprof_progress_is_cancelled (progress);
}

/* Stable. `room` grows to the smaller of the two overlapping pieces. */
static void
merge_runs (ScannedFrame *items,
            size_t begin,
            size_t middle,
            size_t end,
            Room *room,
            const Progress *progress)
{
  size_t n_left, n_right, left, right;
  ScannedFrame *moved;

  if (middle == end || items[middle - 1].time <= items[middle].time)
    return;

  begin = find_time (items, begin, middle, items[middle].time, true);
  end = find_time (items, middle, end, items[middle - 1].time, false);
  n_left = middle - begin;
  n_right = end - middle;
  if (n_left <= n_right)
    {
      moved = put_aside (room, items + begin, n_left);
      left = 0;
      right = middle;
      for (size_t at = begin; left < n_left && goes_on (at, progress); at++)
        items[at] = right == end || moved[left].time <= items[right].time ? moved[left++]
                                                                          : items[right++];
      return;
    }

  moved = put_aside (room, items + middle, n_right);
  left = middle;
  right = n_right;
  for (size_t at = end; right > 0 && goes_on (at, progress); at--)
    items[at - 1] = left == begin || items[left - 1].time <= moved[right - 1].time
                        ? moved[--right]
                        : items[--left];
}

void
sysprof_scanned_frames_sort (ScannedFrame *items, size_t n, const Progress *progress)
{
  g_autofree size_t *bound = NULL; /* [n_runs + 1] */
  size_t n_runs = 0, n_seen = 0;
  Room room = { 0 };

  for (size_t i = 0; i < n; i++)
    n_runs += i == 0 || items[i].time < items[i - 1].time;

  bound = g_new (size_t, n_runs + 1);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || items[i].time < items[i - 1].time)
      bound[n_seen++] = i;

  bound[n_runs] = n;
  while (n_runs > 1)
    {
      size_t n_merged = 0;

      for (size_t run = 0; run < n_runs && !sysprof_progress_is_cancelled (progress); run += 2)
        {
          size_t begin = bound[run];
          size_t middle = bound[run + 1];
          size_t end = run + 1 < n_runs ? bound[run + 2] : middle;

          merge_runs (items, begin, middle, end, &room, progress);
          bound[n_merged++] = begin;
        }

      bound[n_merged] = n;
      n_runs = n_merged;
    }

  g_free (room.items);
}
