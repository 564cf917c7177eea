// SPDX-License-Identifier: GPL-3.0-or-later

/* Parses the lines of /proc/PID/mountinfo. Source: proc(5), "/proc/pid/mountinfo". */

#include "util/mountinfo.h"

#include <glib.h>
#include <limits.h>

static bool
take_number (Text *line, char separator, int *number)
{
  uint64_t value;
  Text word;

  if (!sysprof_text_until (line, separator, &word) || !sysprof_text_u64 (&word, &value) ||
      sysprof_text_size (word) > 0 || value > INT_MAX)
    return false;

  *number = (int) value;
  return true;
}

/* Skips any number of fields, up to a dash. */
static bool
skip_optional_fields (Text *line)
{
  Text word;

  while (sysprof_text_until (line, ' ', &word))
    if (sysprof_text_equal (word, "-"))
      return true;
  return false;
}

/* Fields are separated by one space each, because the source may be empty. */
static bool
parse_line (Text line, Mountinfo *mount)
{
  Text mount_options;

  return take_number (&line, ' ', &mount->id) && take_number (&line, ' ', &mount->parent_id) &&
         take_number (&line, ':', &mount->device_major) &&
         take_number (&line, ' ', &mount->device_minor) &&
         sysprof_text_until (&line, ' ', &mount->root) &&
         sysprof_text_until (&line, ' ', &mount->mount_point) &&
         sysprof_text_until (&line, ' ', &mount_options) && skip_optional_fields (&line) &&
         sysprof_text_until (&line, ' ', &mount->type) &&
         sysprof_text_until (&line, ' ', &mount->source) &&
         sysprof_text_next_word (&line, &mount->options);
}

bool
sysprof_mountinfo_next (Text *text, Mountinfo *mount)
{
  Text line;

  while (sysprof_text_next_line (text, &line))
    if (parse_line (line, mount))
      return true;
  return false;
}

bool
sysprof_mountinfo_next_option (Text *options, Text *option)
{
  if (options->at == options->end)
    return false;

  if (!sysprof_text_until (options, ',', option))
    {
      *option = *options;
      options->at = options->end;
    }
  return true;
}

char *
sysprof_mountinfo_dup_plain (Text text)
{
  char *plain = g_malloc (sysprof_text_size (text) + 1);
  char *to = plain;

  for (const char *at = text.at; at < text.end; at++)
    {
      bool is_octal = *at == '\\' && text.end - at > 3;

      for (int i = 1; i <= 3 && is_octal; i++)
        is_octal = at[i] >= '0' && at[i] <= (i == 1 ? '3' : '7');
      if (is_octal)
        {
          *to++ = (char) ((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
          at += 3;
        }
      else
        *to++ = *at;
    }
  *to = '\0';
  return plain;
}
