// SPDX-License-Identifier: GPL-3.0-or-later

/* A cursor over untrusted text. Each step checks the end. */

#include "util/text.h"

static bool
is_blank (char c)
{
  return c == ' ' || c == '\t';
}

bool
sysprof_text_next_line (Text *self, Text *line)
{
  const char *newline;

  if (self->at >= self->end)
    return false;

  newline = memchr (self->at, '\n', sysprof_text_size (*self));
  *line = (Text){ self->at, newline != NULL ? newline : self->end };
  self->at = newline != NULL ? newline + 1 : self->end;
  return true;
}

bool
sysprof_text_next_word (Text *self, Text *word)
{
  const char *at = self->at;
  const char *begin;

  while (at < self->end && is_blank (*at))
    at++;
  begin = at;
  while (at < self->end && !is_blank (*at))
    at++;

  self->at = at;
  *word = (Text){ begin, at };
  return begin < at;
}

bool
sysprof_text_until (Text *self, char separator, Text *part)
{
  const char *found;

  if (self->at >= self->end)
    return false;

  found = memchr (self->at, separator, sysprof_text_size (*self));
  if (found == NULL)
    return false;

  *part = (Text){ self->at, found };
  self->at = found + 1;
  return true;
}

bool
sysprof_text_starts_with (Text self, const char *prefix)
{
  size_t size = strlen (prefix);

  return sysprof_text_size (self) >= size && memcmp (self.at, prefix, size) == 0;
}

bool
sysprof_text_skip (Text *self, const char *prefix)
{
  if (!sysprof_text_starts_with (*self, prefix))
    return false;

  self->at += strlen (prefix);
  return true;
}

bool
sysprof_text_equal (Text self, const char *string)
{
  return sysprof_text_size (self) == strlen (string) && sysprof_text_starts_with (self, string);
}

static int
digit_value (char c)
{
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 16;
}

static bool
take_number (Text *self, int base, uint64_t *value)
{
  const char *at = self->at;
  uint64_t result = 0;

  for (; at < self->end; at++)
    {
      int digit = digit_value (*at);

      if (digit >= base)
        break;
      if (__builtin_mul_overflow (result, (uint64_t) base, &result) ||
          __builtin_add_overflow (result, (uint64_t) digit, &result))
        return false;
    }

  if (at == self->at)
    return false;

  self->at = at;
  *value = result;
  return true;
}

bool
sysprof_text_u64 (Text *self, uint64_t *value)
{
  return take_number (self, 10, value);
}

bool
sysprof_text_hex (Text *self, uint64_t *value)
{
  return take_number (self, 16, value);
}

bool
sysprof_text_u64_after (Text self, const char *key, uint64_t *value)
{
  const char *found;

  if (self.at >= self.end)
    return false;

  found = memmem (self.at, sysprof_text_size (self), key, strlen (key));
  if (found == NULL)
    return false;

  self.at = found + strlen (key);
  return sysprof_text_u64 (&self, value);
}
