// SPDX-License-Identifier: GPL-3.0-or-later

#include "views/source-lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES (16 << 20)

/* Not of a pipe, which would keep us waiting. */
static char *
read_regular (const char *path, size_t *size)
{
  autofd fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  g_autofree char *text = NULL;
  struct stat info;
  ssize_t n = 1;

  if (fd < 0 || fstat (fd, &info) != 0)
    return NULL;
  if (!S_ISREG (info.st_mode) || info.st_size > MOST_BYTES)
    {
      errno = S_ISREG (info.st_mode) ? EFBIG : ENOENT;
      return NULL;
    }
  text = g_malloc ((size_t) info.st_size + 1);
  for (*size = 0; *size < (size_t) info.st_size && n > 0; *size += (size_t) MAX (n, 0))
    n = read (fd, text + *size, (size_t) info.st_size - *size);
  if (n < 0)
    return NULL;
  text[*size] = '\0';
  return g_steal_pointer (&text);
}

bool
sysprof_source_lines_init (SourceLines *self, const char *sysroot, const char *path)
{
  g_autofree char *below = g_build_filename (sysroot != NULL ? sysroot : "/", path, NULL);
  size_t size = 0;

  *self = (SourceLines){ .text = read_regular (below, &size) };
  if (self->text == NULL)
    return false;
  self->lines = g_ptr_array_new ();
  for (char *at = self->text, *end = at + size; at < end;)
    {
      char *newline = memchr (at, '\n', (size_t) (end - at));

      g_ptr_array_add (self->lines, at);
      if (newline == NULL)
        break;
      *newline = '\0';
      at = newline + 1;
    }
  return true;
}

void
sysprof_source_lines_clear (SourceLines *self)
{
  g_clear_pointer (&self->text, g_free);
  g_clear_pointer (&self->lines, g_ptr_array_unref);
}

const char *
sysprof_source_lines_get (const SourceLines *self, uint32_t line)
{
  if (self->lines == NULL || line == 0 || line > self->lines->len)
    return NULL;
  return g_ptr_array_index (self->lines, line - 1);
}
