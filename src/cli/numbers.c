// SPDX-License-Identifier: GPL-3.0-or-later

/* Parses the numbers of the command line. See numbers.h. */

#include "cli/numbers.h"

#include "util/util.h"

#define NSEC_PER_MSEC INT64_C (1000000)
#define NSEC_PER_SEC  INT64_C (1000000000)
#define MAX_NSEC      (NSEC_PER_SEC * 100 * 365 * 24 * 3600)

bool
sysprof_cli_read_number (const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
  Text rest = sysprof_text_from_string (text);
  uint64_t number;

  if (!sysprof_text_u64 (&rest, &number) || sysprof_text_size (rest) != 0)
    return false;
  if (number < least || number > most)
    return false;
  *value = number;
  return true;
}

static bool
read_unit (Text text, int64_t *nsec)
{
  static const struct
  {
    const char *name;
    int64_t nsec;
  } units[] = {
    { "", NSEC_PER_SEC },         { "s", NSEC_PER_SEC },      { "ms", NSEC_PER_MSEC },
    { "min", 60 * NSEC_PER_SEC }, { "m", 60 * NSEC_PER_SEC }, { "h", 3600 * NSEC_PER_SEC },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (units); i++)
    if (sysprof_text_equal (text, units[i].name))
      {
        *nsec = units[i].nsec;
        return true;
      }
  return false;
}

bool
sysprof_cli_read_duration (const char *text, int64_t *nsec)
{
  Text rest = sysprof_text_from_string (text);
  uint64_t whole = 0;
  int64_t billionths = 0, unit;
  bool has_digit = sysprof_text_u64 (&rest, &whole);

  if (sysprof_text_skip (&rest, "."))
    {
      /* Ignores digits after the ninth, which are below a nanosecond. */
      for (int64_t digit = NSEC_PER_SEC / 10; rest.at < rest.end && g_ascii_isdigit (*rest.at);
           rest.at++, digit /= 10)
        {
          billionths += digit * (*rest.at - '0');
          has_digit = true;
        }
    }
  if (!has_digit || !read_unit (rest, &unit) || whole > (uint64_t) (MAX_NSEC / unit))
    return false;
  *nsec = (int64_t) whole * unit + billionths * (unit / NSEC_PER_MSEC) / 1000;
  return true;
}

bool
sysprof_cli_read_size (const char *text, uint64_t *bytes)
{
  static const char units[] = "KMGT";
  Text rest = sysprof_text_from_string (text);
  uint64_t size;

  if (!sysprof_text_u64 (&rest, &size) || size == 0)
    return false;
  if (rest.at < rest.end)
    {
      const char *unit = strchr (units, g_ascii_toupper (*rest.at));

      if (unit != NULL && *unit != '\0')
        {
          rest.at++;
          (void) sysprof_text_skip (&rest, "i"); /* KiB and KB mean the same here */
          for (const char *u = units; u <= unit; u++)
            if (__builtin_mul_overflow (size, UINT64_C (1024), &size))
              return false;
        }
      (void) sysprof_text_skip (&rest, "B"); /* the B is optional */
    }
  if (sysprof_text_size (rest) != 0)
    return false;
  *bytes = size;
  return true;
}

bool
sysprof_cli_read_cpu_list (const char *text, unsigned n_cpus, GArray *cpus)
{
  Text rest = sysprof_text_from_string (text);

  do
    {
      uint64_t first, last;

      if (!sysprof_text_u64 (&rest, &first))
        return false;
      last = first;
      if (sysprof_text_skip (&rest, "-") && !sysprof_text_u64 (&rest, &last))
        return false;
      if (last < first || last >= n_cpus)
        return false;
      for (uint64_t cpu = first; cpu <= last; cpu++)
        {
          gint number = (gint) cpu;

          g_array_append_val (cpus, number);
        }
    }
  while (sysprof_text_skip (&rest, ","));
  return sysprof_text_size (rest) == 0;
}
