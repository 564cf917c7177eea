// SPDX-License-Identifier: GPL-3.0-or-later

/* Splits the text of a source file into lines, and finds the end of functions. */

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

/* A tab is as wide as eight blanks. */
static size_t
indentation_of (const char *text)
{
  size_t columns = 0;

  for (; *text == ' ' || *text == '\t'; text++)
    columns = *text == '\t' ? (columns / 8 + 1) * 8 : columns + 1;
  return columns;
}

bool
sysprof_source_line_ends_function (const SourceLines *self, uint32_t begin, const char *text)
{
  const char *first = sysprof_source_lines_get (self, begin);
  const char *word = text + strspn (text, " \t\r");
  size_t size = strlen (text);

  while (size > 0 && g_ascii_isspace (text[size - 1]))
    size--;
  /* Empty lines, directives and comments, the begin of the body, further lines of the
   * declaration, and labels. */
  if (*word == '\0' || strchr ("#{)", *word) != NULL || (size > 0 && text[size - 1] == ':'))
    return false;
  return indentation_of (text) <= indentation_of (first != NULL ? first : "");
}
