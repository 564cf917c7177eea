// SPDX-License-Identifier: GPL-3.0-or-later

/* Formats names as one line of a given width, and numbers the same way in any locale. */

#include "text/text.h"

#include "text/characters.h"
#include "util/hidden-text.h"

#include <math.h>
#include <string.h>

#define FIXED_MOST  1e6 /* a double holds 100 times this value with an error of 2e-8 */
#define FIXED_DOUBT 1e-6

/* Counts leading printable ASCII characters. They take one column each and need no escapes;
 * most texts have no others. */
static size_t
count_plain (const char *text)
{
  size_t n = 0;

  while (text[n] >= 0x20 && text[n] < 0x7f)
    n++;
  return n;
}

bool
sysprof_is_plain (const char *text)
{
  return !text[count_plain (text)];
}

static bool
ends_line (gunichar character)
{
  return character == 0x2028 || character == 0x2029;
}

static char *
dup_line (const char *text, bool shows_hidden)
{
  size_t n_plain = count_plain (text);
  GString *line;

  if (!text[n_plain])
    return g_strndup (text, n_plain);

  line = g_string_new_len (text, (gssize) n_plain);
  text += n_plain;
  while (*text)
    {
      gunichar character;
      size_t size = sysprof_next_character (text, &character);

      if (character == 0xfffd)
        g_string_append (line, REPLACEMENT);
      else if (shows_hidden && sysprof_is_hidden_character (character))
        sysprof_append_hidden_character (line, character);
      else if (character < 0x20 || (character >= 0x7f && character < 0xa0) ||
               ends_line (character))
        g_string_append_c (line, ' ');
      else
        g_string_append_len (line, text, (gssize) size);
      text += size;
    }
  return g_string_free (line, FALSE);
}

char *
sysprof_dup_one_line (const char *text)
{
  return dup_line (text, true);
}

char *
sysprof_dup_line_of_data (const char *text)
{
  return dup_line (text, false);
}

static size_t
columns_of (gunichar character)
{
  if (g_unichar_iszerowidth (character))
    return 0;
  return g_unichar_iswide (character) ? 2 : 1;
}

size_t
sysprof_text_columns (const char *text)
{
  size_t columns = count_plain (text);

  text += columns;
  while (*text)
    {
      gunichar character;

      text += sysprof_next_character (text, &character);
      columns += columns_of (character);
    }
  return columns;
}

/* Shortens `text` to `columns` and appends `mark`, if it is wider. */
static char *
dup_truncated (const char *text, size_t columns, const char *mark)
{
  size_t room = columns - sysprof_text_columns (mark);
  GString *truncated;
  size_t used = 0;

  if (sysprof_text_columns (text) <= columns)
    return g_strdup (text);

  truncated = g_string_new (NULL);
  while (*text)
    {
      gunichar character;
      size_t size = sysprof_next_character (text, &character);

      used += columns_of (character);
      if (used > room)
        break;
      g_string_append_len (truncated, text, (gssize) size);
      text += size;
    }
  g_string_append (truncated, mark);
  return g_string_free (truncated, FALSE);
}

char *
sysprof_dup_ellipsized (const char *text, size_t columns)
{
  if (columns < 3)
    return sysprof_text_columns (text) <= columns ? g_strdup (text) : g_strnfill (columns, '.');
  return dup_truncated (text, columns, "..");
}

char *
sysprof_dup_wrapped (const char *text, size_t columns, size_t indent)
{
  size_t room = columns > indent + 20 ? columns - indent : 20;
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  GString *lines = g_string_new (NULL);
  size_t used = 0;

  for (char **word = words; *word; word++)
    {
      g_autofree char *cut = sysprof_dup_ellipsized (*word, room);
      size_t width = sysprof_text_columns (cut);

      if (word > words && used + 1 + width > room)
        {
          g_string_append_printf (lines, "\n%*s", (int) indent, "");
          used = 0;
        }
      else if (word > words)
        {
          g_string_append_c (lines, ' ');
          used++;
        }
      g_string_append (lines, cut);
      used += width;
    }
  return g_string_free (lines, FALSE);
}

char *
sysprof_dup_abbreviated (const char *text, size_t columns)
{
  return dup_truncated (text, columns, columns > 0 ? "\342\200\246" : "");
}

const char *
sysprof_format_grouped (uint64_t value, char buffer[SYSPROF_GROUPED_SIZE])
{
  char *at = buffer + SYSPROF_GROUPED_SIZE - 1;
  unsigned digits = 0;

  *at = '\0';
  do
    {
      if (digits > 0 && digits % 3 == 0)
        *--at = ',';
      *--at = (char) ('0' + value % 10);
      value /= 10;
      digits++;
    }
  while (value > 0);
  return at;
}

static const char *
format_hundredths (uint64_t value, char buffer[SYSPROF_GROUPED_SIZE])
{
  char *at = buffer + SYSPROF_GROUPED_SIZE - 1;

  *at = '\0';
  for (unsigned digits = 0; digits < 3 || value > 0; digits++)
    {
      if (digits == 2)
        *--at = '.';
      *--at = (char) ('0' + value % 10);
      value /= 10;
    }
  return at;
}

const char *
sysprof_format_fixed (double value, char buffer[SYSPROF_GROUPED_SIZE])
{
  double hundredths = value * 100;
  double left = hundredths - floor (hundredths);

  /* printf() may round values near the middle between two hundredths in another way, so it
   * formats those. */
  if (value >= 0 && value < FIXED_MOST && fabs (left - 0.5) > FIXED_DOUBT)
    return format_hundredths ((uint64_t) hundredths + (left > 0.5), buffer);
  return g_ascii_formatd (buffer, SYSPROF_GROUPED_SIZE, "%.2f", value);
}

double
sysprof_percent (uint64_t part, uint64_t whole)
{
  return whole > 0 ? 100.0 * (double) part / (double) whole : 0.0;
}

char *
sysprof_dup_duration (int64_t nsec)
{
  static const struct
  {
    int64_t nsec;
    const char *unit;
  } units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };
  char number[SYSPROF_GROUPED_SIZE];

  if (nsec >= 600 * units[0].nsec)
    return g_strdup_printf ("%" G_GINT64_FORMAT " min %02d s", nsec / (60 * units[0].nsec),
                            (int) (nsec / units[0].nsec % 60));
  for (size_t i = 0; i < G_N_ELEMENTS (units); i++)
    if (nsec >= units[i].nsec)
      return g_strdup_printf (
          "%s %s", sysprof_format_fixed ((double) nsec / (double) units[i].nsec, number),
          units[i].unit);
  return g_strdup_printf ("%" G_GINT64_FORMAT " ns", nsec);
}

/* Three digits: "1.23", "12.3", "123". */
static const char *
format_digits (double value, char buffer[G_ASCII_DTOSTR_BUF_SIZE])
{
  return g_ascii_formatd (buffer, G_ASCII_DTOSTR_BUF_SIZE,
                          fabs (value) < 9.995   ? "%.2f"
                          : fabs (value) < 99.95 ? "%.1f"
                                                 : "%.0f",
                          value);
}

char *
sysprof_dup_real (double value)
{
  static const char prefixes[] = "kMGTPE";
  char buffer[G_ASCII_DTOSTR_BUF_SIZE], grouped[SYSPROF_GROUPED_SIZE];
  const char *sign = value < 0 ? "-" : "";
  double size = fabs (value);

  if (size >= 9.995e6 && size < 9.995e20)
    {
      double rest = size / 1e3;
      size_t prefix = 0;

      for (; rest >= 999.5; rest /= 1e3)
        prefix++;
      return g_strdup_printf ("%s%s %c", sign, format_digits (rest, buffer), prefixes[prefix]);
    }

  if (floor (value) == value && size < 0x1p53)
    return g_strdup_printf ("%s%s", sign, sysprof_format_grouped ((uint64_t) size, grouped));
  if (size >= 10000 && size < 0x1p53)
    return g_strdup_printf ("%s%s", sign,
                            sysprof_format_grouped ((uint64_t) (size + 0.5), grouped));
  if (size >= 0.1 && size < 10000)
    return g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.2f", value));
  return g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.3g", value));
}

char *
sysprof_dup_quantity (double value, const char *unit)
{
  /* The greatest one that fits. Units that only repeat the name of the counter, such as
   * "events", are not in the list. */
  static const struct
  {
    const char *unit;
    double size;
    const char *shown;
  } shown_units[] = {
    /* clang-format off */
    { "ns", 1e9, "s" }, { "ns", 1e6, "ms" }, { "ns", 1e3, "us" }, { "ns", 0, "ns" },
    { "bytes", 1e12, "TB" }, { "bytes", 1e9, "GB" }, { "bytes", 1e6, "MB" },
    { "bytes", 1e3, "kB" }, { "bytes", 0, "B" },
    { "uAh", 1e6, "Ah" }, { "uAh", 1e3, "mAh" }, { "uAh", 0, "uAh" },
    { "%", 0, "%" }, { "W", 0, "W" }, { "degC", 0, "degC" },
    /* clang-format on */
  };
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  const char *per_second = g_str_has_suffix (unit, "/s") ? "/s" : "";
  size_t length = strlen (unit) - strlen (per_second);
  double size = fabs (value);

  for (size_t i = 0; i < G_N_ELEMENTS (shown_units); i++)
    {
      /* 999.6 kB would be shown as 1000 kB. */
      double least = shown_units[i].size * 0.9995;
      double number = value / (shown_units[i].size > 0 ? shown_units[i].size : 1);
      g_autofree char *other = NULL;

      if (strncmp (shown_units[i].unit, unit, length) != 0 ||
          shown_units[i].unit[length] != '\0' || size < least)
        continue;
      if (fabs (number) < 0.0995 || fabs (number) >= 999.5 ||
          (shown_units[i].size == 0 && floor (number) == number))
        other = sysprof_dup_real (number);
      return g_strdup_printf ("%s %s%s", other != NULL ? other : format_digits (number, buffer),
                              shown_units[i].shown, per_second);
    }
  return sysprof_dup_real (value);
}
