// SPDX-License-Identifier: GPL-3.0-or-later

/* Parsers of texts in /proc/PID (see proc-text.h). They never read files themselves. */

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

/* Takes a word that is a number. */
static bool
next_number (Text *text, uint64_t *value)
{
  Text word;

  return sysprof_text_next_word (text, &word) && sysprof_text_u64 (&word, value) &&
         sysprof_text_size (word) == 0;
}

/* "1234 (some name) S 1200 1234 1200 0 -1 4194304 …": proc(5) numbers the fields from 1. */
bool
sysprof_proc_parse_stat (Text text, ProcStat *stat)
{
  enum
  {
    PARENT = 4,
    USER_TIME = 14,
    SYSTEM_TIME = 15,
    START_TIME = 22,
  };
  const char *name_end = memrchr (text.at, ')', sysprof_text_size (text));
  uint64_t parent, user, system;
  Text pid, state, skipped;

  if (name_end == NULL || !sysprof_text_until (&text, '(', &pid) || text.at > name_end)
    return false;
  stat->comm = (Text){ text.at, name_end };
  text.at = name_end + 1;

  if (!sysprof_text_next_word (&text, &state) || !next_number (&text, &parent) ||
      parent > INT32_MAX)
    return false;
  for (unsigned i = PARENT + 1; i < USER_TIME; i++)
    if (!sysprof_text_next_word (&text, &skipped))
      return false;
  if (!next_number (&text, &user) || !next_number (&text, &system) ||
      __builtin_add_overflow (user, system, &stat->cpu_ticks))
    return false;
  for (unsigned i = SYSTEM_TIME + 1; i < START_TIME; i++)
    if (!sysprof_text_next_word (&text, &skipped))
      return false;

  stat->state = state.at[0];
  stat->parent_pid = (int32_t) parent;
  return next_number (&text, &stat->start_ticks);
}

/* "5371 1011 833 …": the first two numbers are the size and the resident size in pages. */
bool
sysprof_proc_parse_resident (Text statm, uint64_t *pages)
{
  uint64_t size;

  return next_number (&statm, &size) && next_number (&statm, pages);
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
