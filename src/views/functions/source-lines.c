// SPDX-License-Identifier: GPL-3.0-or-later

/* Splits the text of a source file into lines. */

#include "views/functions/source-lines.h"

#include <string.h>

void
sysprof_source_lines_init (SourceLines *self, char *text, size_t size)
{
  *self = (SourceLines){ 0 };
  if (text == NULL)
    return;
  self->lines = g_ptr_array_new ();
  for (char *at = text, *end = at + size; at < end;)
    {
      char *newline = memchr (at, '\n', (size_t) (end - at));

      g_ptr_array_add (self->lines, at);
      if (newline == NULL)
        break;
      *newline = '\0';
      at = newline + 1;
    }
}

void
sysprof_source_lines_clear (SourceLines *self)
{
  g_clear_pointer (&self->lines, g_ptr_array_unref);
}

const char *
sysprof_source_lines_get (const SourceLines *self, uint32_t line)
{
  if (self->lines == NULL || line == 0 || line > self->lines->len)
    return NULL;
  return g_ptr_array_index (self->lines, line - 1);
}
