// SPDX-License-Identifier: GPL-3.0-or-later

/* --time A..B: offsets from the start of the recording. */

#include "document/selection/parts.h"

#define MAX_DECIMALS 9 /* a second has 10^9 ns */

static const struct
{
  const char *name;
  int64_t nsec;
} units[] = {
  { "s", 1000 * 1000 * 1000 }, /* first, because it is the default */
  { "us", 1000 },
  { "μs", 1000 },
  { "ms", 1000 * 1000 },
  { "ns", 1 },
};

static bool
take_unit (Text text, int64_t *nsec)
{
  for (size_t i = 0; i < G_N_ELEMENTS (units); i++)
    if (sysprof_text_size (text) == 0 || sysprof_text_equal (text, units[i].name))
      {
        *nsec = units[i].nsec;
        return true;
      }

  return false;
}

/* Digits behind the point, as billionths. More than nine are below a nanosecond. */
static int64_t
take_decimals (Text *text)
{
  int64_t billionths = 0;
  int n = 0;

  for (; text->at < text->end && g_ascii_isdigit (*text->at); text->at++)
    if (n < MAX_DECIMALS)
      {
        billionths = billionths * 10 + (*text->at - '0');
        n++;
      }
  for (; n < MAX_DECIMALS; n++)
    billionths *= 10;

  return billionths;
}

/* "1.5ms"; without a unit, seconds. */
static bool
parse_offset (Text text, int64_t *offset)
{
  uint64_t whole;
  int64_t billionths = 0;
  int64_t unit;

  if (!sysprof_text_u64 (&text, &whole))
    return false;
  if (sysprof_text_skip (&text, "."))
    billionths = take_decimals (&text);
  if (!take_unit (text, &unit))
    return false;

  /* One that is later than all times there are is as good as any such. */
  if (whole > INT64_MAX || __builtin_mul_overflow ((int64_t) whole, unit, offset) ||
      __builtin_add_overflow (*offset, billionths * unit / (1000 * 1000 * 1000), offset))
    *offset = INT64_MAX;
  return true;
}

static int64_t
instant (const Store *store, int64_t offset)
{
  int64_t time;

  return __builtin_add_overflow (store->begin, offset, &time) ? INT64_MAX : time;
}

static bool
parse_range (const char *string, const Store *store, TimeRange *range)
{
  Text text = sysprof_text_from_string (string);
  const char *dots = strstr (string, "..");
  Text begin;
  Text end;
  int64_t offset;

  *range = (TimeRange){ INT64_MIN, INT64_MAX };
  if (dots == NULL)
    return false;

  begin = (Text){ string, dots };
  end = (Text){ dots + 2, text.end };

  if (sysprof_text_size (begin) > 0)
    {
      if (!parse_offset (begin, &offset))
        return false;
      /* Times before the start are shown as 0. */
      range->begin = offset == 0 ? INT64_MIN : instant (store, offset);
    }
  if (sysprof_text_size (end) > 0)
    {
      if (!parse_offset (end, &offset))
        return false;
      range->end = instant (store, offset);
    }
  return true;
}

static int
compare_ranges (const void *a, const void *b, void *data)
{
  const TimeRange *left = a;
  const TimeRange *right = b;

  return (left->begin > right->begin) - (left->begin < right->begin);
}

void
sysprof_time_ranges_join (GArray *ranges)
{
  guint n = 0;

  (void) sysprof_sort_if_wanted (ranges->data, ranges->len, sizeof (TimeRange), compare_ranges,
                                 NULL);
  for (guint i = 0; i < ranges->len; i++)
    {
      TimeRange range = g_array_index (ranges, TimeRange, i);
      TimeRange *last = n > 0 ? &g_array_index (ranges, TimeRange, n - 1) : NULL;

      if (last != NULL && range.begin <= last->end)
        last->end = MAX (last->end, range.end);
      else
        g_array_index (ranges, TimeRange, n++) = range;
    }
  g_array_set_size (ranges, n);
}

void
sysprof_time_ranges_invert (GArray *ranges)
{
  int64_t begin = INT64_MIN;
  guint n = 0;

  for (guint i = 0; i < ranges->len; i++)
    {
      TimeRange range = g_array_index (ranges, TimeRange, i);

      if (range.begin > begin)
        g_array_index (ranges, TimeRange, n++) = (TimeRange){ begin, range.begin };
      begin = range.end;
    }
  g_array_set_size (ranges, n);
  if (begin < INT64_MAX)
    g_array_append_val (ranges, ((TimeRange){ begin, INT64_MAX }));
}

void
sysprof_time_ranges_intersect (GArray *ranges, const GArray *others)
{
  g_autoptr (GArray) mine = g_array_copy (ranges);
  guint i = 0, j = 0;

  g_array_set_size (ranges, 0);
  while (i < mine->len && j < others->len)
    {
      const TimeRange *a = &g_array_index (mine, TimeRange, i);
      const TimeRange *b = &g_array_index (others, TimeRange, j);
      TimeRange both = { MAX (a->begin, b->begin), MIN (a->end, b->end) };

      if (both.begin < both.end)
        g_array_append_val (ranges, both);
      if (a->end < b->end)
        i++;
      else
        j++;
    }
}

gboolean
sysprof_selection_parse_times (char **times, const Store *store, GArray *ranges, GError **error)
{
  for (guint i = 0; times[i] != NULL; i++)
    {
      TimeRange range;

      if (!parse_range (times[i], store, &range))
        {
          g_set_error (
              error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
              "--time %s: give two offsets from the start of the recording in seconds or with "
              "a unit (ns, us, ms, s), like 2..2.5; either may be left out, like 500ms..",
              times[i]);
          return FALSE;
        }
      if (range.end < range.begin)
        {
          g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                       "--time %s: give the earlier offset first; the end is before the begin",
                       times[i]);
          return FALSE;
        }
      g_array_append_val (ranges, range);
    }

  sysprof_time_ranges_join (ranges);
  return TRUE;
}
