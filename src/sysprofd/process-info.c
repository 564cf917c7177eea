// SPDX-License-Identifier: GPL-3.0-or-later

/* GetProcessInfo: texts of /proc about all processes. */

#include "sysprofd/sysprofd.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_TEXT (4u * 1024 * 1024) /* bytes of one file */

/* Returns the contents with a NUL; NULL if the file cannot be read. */
static char *
read_file (const char *pid, const char *name, size_t *size)
{
  char path[64];
  char *text = NULL;
  size_t n = 0, allocated = 0;
  ssize_t got = 1;
  int fd;

  (void) snprintf (path, sizeof path, "/proc/%.20s/%.20s", pid, name);
  fd = open (path, O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && got > 0)
    {
      if (n + 1 >= allocated)
        {
          char *larger = allocated < MOST_TEXT ? realloc (text, allocated * 2 + 4096) : NULL;

          if (larger == NULL)
            break;
          text = larger;
          allocated = allocated * 2 + 4096;
        }
      got = read (fd, text + n, allocated - n - 1);
      n += got > 0 ? (size_t) got : 0;
    }
  if (fd >= 0)
    (void) close (fd);
  if (fd < 0 || got != 0)
    {
      free (text);
      return NULL;
    }
  text[n] = '\0';
  *size = n;
  return text;
}

/* Appends an argument as a shell would need it, and a space. Returns the end. */
static char *
quote (char *to, const char *argument)
{
  bool needs_quotes = false;

  for (const char *at = argument; *at != '\0'; at++)
    needs_quotes |= isspace ((unsigned char) *at) || *at == '\'' || *at == '"';
  if (needs_quotes)
    *to++ = '\'';
  for (const char *at = argument; *at != '\0'; at++)
    if (*at == '\'')
      to = stpcpy (to, "'\\''");
    else
      *to++ = *at;
  if (needs_quotes)
    *to++ = '\'';
  *to++ = ' ';
  return to;
}

/* Takes the arguments, which end with a NUL each. Empty ones are left out. */
static char *
join_arguments (char *arguments, size_t size)
{
  char *joined = malloc (size * 4 + 8); /* an apostrophe becomes four characters */
  char *to = joined;

  for (size_t at = 0; joined != NULL && at < size; at += strlen (arguments + at) + 1)
    if (arguments[at] != '\0')
      to = quote (to, arguments + at);
  if (joined != NULL)
    *to = '\0';
  free (arguments);
  return joined;
}

static void
write_entry (BusWriter *body, const char *pid, const char *key)
{
  size_t size = 0;
  char *text = read_file (pid, key, &size);

  if (text != NULL && strcmp (key, "cmdline") == 0)
    text = join_arguments (text, size);
  if (text == NULL)
    return;

  for (size = strlen (text); size > 0 && isspace ((unsigned char) text[size - 1]); size--)
    text[size - 1] = '\0';
  sysprof_dbus_write_align (body, 8);
  sysprof_dbus_write_string (body, key);
  sysprof_dbus_write_signature (body, "s");
  sysprof_reply_write_text (body, text);
  free (text);
}

static void
write_process (BusWriter *body, const char *pid, const char *attributes)
{
  static const char *const keys[] = {
    "cmdline", "comm", "statm", "maps", "mountinfo", "cgroup"
  };
  size_t entries = sysprof_dbus_begin_array (body, 8);

  sysprof_dbus_write_align (body, 8);
  sysprof_dbus_write_string (body, "pid");
  sysprof_dbus_write_signature (body, "i");
  sysprof_dbus_write_u32 (body, (uint32_t) strtoul (pid, NULL, 10));
  for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !body->is_failed; i++)
    if (strstr (attributes, keys[i]) != NULL)
      write_entry (body, pid, keys[i]);
  sysprof_dbus_end_array (body, entries, 8);
}

void
sysprof_run_get_process_info (Call *call)
{
  const char *attributes = sysprof_dbus_read_string (call->values);
  BusWriter *body = &call->reply.body;
  size_t processes = sysprof_dbus_begin_array (body, 4);
  DIR *directory = opendir ("/proc");
  const struct dirent *entry;

  while (directory != NULL && !body->is_failed && (entry = readdir (directory)) != NULL)
    if (isdigit ((unsigned char) *entry->d_name))
      write_process (body, entry->d_name, attributes);
  sysprof_dbus_end_array (body, processes, 4);
  if (directory != NULL)
    (void) closedir (directory);
}
