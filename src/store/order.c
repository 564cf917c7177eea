// SPDX-License-Identifier: GPL-3.0-or-later

/* Sorts frames by time, in place.
 *
 * A file is nearly sorted: some thousand runs, each of which begins a little before the one before it ends. Where two
 * runs meet, only what overlaps is moved. */

#include "store/walk.h"

/* The first of [begin, end) at or behind `time`, or behind it only. */
static size_t
find_time (const Found *items, size_t begin, size_t end, int64_t time, bool behind_only)
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

/* Stable. `room` grows to the smaller of the two overlapping pieces. */
static void
merge_runs (Found *items, size_t begin, size_t middle, size_t end, GArray *room)
{
  size_t n_left, n_right, left, right;
  Found *moved;

  if (middle == end || items[middle - 1].time <= items[middle].time)
    return;

  begin = find_time (items, begin, middle, items[middle].time, true);
  end = find_time (items, middle, end, items[middle - 1].time, false);
  n_left = middle - begin;
  n_right = end - middle;
  g_array_set_size (room, 0);
  if (n_left <= n_right)
    {
      g_array_append_vals (room, items + begin, (guint) n_left);
      moved = &g_array_index (room, Found, 0);
      left = 0;
      right = middle;
      for (size_t at = begin; left < n_left; at++)
        items[at] = right == end || moved[left].time <= items[right].time ? moved[left++]
                                                                          : items[right++];
      return;
    }

  g_array_append_vals (room, items + middle, (guint) n_right);
  moved = &g_array_index (room, Found, 0);
  left = middle;
  right = n_right;
  for (size_t at = end; right > 0; at--)
    items[at - 1] = left == begin || items[left - 1].time <= moved[right - 1].time
                        ? moved[--right]
                        : items[--left];
}

void
sysprof_found_sort (Found *items, size_t n)
{
  g_autoptr (GArray) bounds = g_array_new (FALSE, FALSE, sizeof (size_t));
  g_autoptr (GArray) room = g_array_new (FALSE, FALSE, sizeof (Found));
  size_t n_runs;

  for (size_t i = 0; i < n; i++)
    if (i == 0 || items[i].time < items[i - 1].time)
      g_array_append_val (bounds, i);

  n_runs = bounds->len;
  g_array_append_val (bounds, n);
  while (n_runs > 1)
    {
      size_t *bound = &g_array_index (bounds, size_t, 0);
      size_t n_merged = 0;

      for (size_t run = 0; run < n_runs; run += 2)
        {
          size_t middle = bound[run + 1];
          size_t end = run + 1 < n_runs ? bound[run + 2] : middle;
          size_t begin = bound[run];

          merge_runs (items, begin, middle, end, room);
          bound[n_merged++] = begin;
        }

      bound[n_merged] = n;
      n_runs = n_merged;
    }
}
