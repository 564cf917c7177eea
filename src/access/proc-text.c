// SPDX-License-Identifier: GPL-3.0-or-later

/* Parsers of /proc/PID/maps and /proc/PID/cmdline (see proc-text.h). They never read files
 * themselves. */

#include "access/proc-text.h"

#define DELETED " (deleted)"

static void
cut_suffix (Text *text, const char *suffix)
{
  size_t size = strlen (suffix);

  if (sysprof_text_size (*text) > size && memcmp (text->end - size, suffix, size) == 0)
    text->end -= size;
}

/* "55e8a1c00000-55e8a1c02000 r-xp 00001000 fe:00 1234      /usr/bin/some name (deleted)" */
static bool
parse_mapping (Text line, ProcMapping *mapping)
{
  Text rights, device;
  uint64_t device_major, device_minor;

  if (!sysprof_text_hex (&line, &mapping->start) || !sysprof_text_skip (&line, "-") ||
      !sysprof_text_hex (&line, &mapping->end) || !sysprof_text_next_word (&line, &rights) ||
      sysprof_text_size (rights) < 4 || !sysprof_text_skip (&line, " ") ||
      !sysprof_text_hex (&line, &mapping->offset) || !sysprof_text_next_word (&line, &device) ||
      !sysprof_text_hex (&device, &device_major) || !sysprof_text_skip (&device, ":") ||
      !sysprof_text_hex (&device, &device_minor) || !sysprof_text_skip (&line, " ") ||
      !sysprof_text_u64 (&line, &mapping->inode) || mapping->end < mapping->start)
    return false;

  while (sysprof_text_skip (&line, " "))
    continue;

  mapping->device_major = (uint32_t) device_major;
  mapping->device_minor = (uint32_t) device_minor;
  mapping->is_executable = rights.at[2] == 'x';
  mapping->path = line;
  if (sysprof_text_starts_with (line, "/"))
    cut_suffix (&mapping->path, DELETED);
  return true;
}

bool
sysprof_proc_next_mapping (Text *maps, ProcMapping *mapping)
{
  Text line;

  while (sysprof_text_next_line (maps, &line))
    if (parse_mapping (line, mapping))
      return true;
  return false;
}

size_t
sysprof_proc_join_arguments (char *arguments, size_t size)
{
  while (size > 0 && arguments[size - 1] == '\0')
    size--;

  for (size_t i = 0; i < size; i++)
    if ((unsigned char) arguments[i] < ' ')
      arguments[i] = ' ';

  arguments[size] = '\0';
  return size;
}
