// SPDX-License-Identifier: GPL-3.0-or-later

/* Formats the lines that captures contain, one for each function of a JIT compiler. */

#include "jit/jit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINES   (UINT32_C (1) << 20)
#define MOST_NAME    4096 /* bytes */
#define MOST_NUMBERS 64   /* bytes before a name */
#define FIRST_SIZE   65536

const char *
sysprof_jit_status_to_string (JitStatus status)
{
  switch (status)
    {
    case JIT_OK:
      return "";
    case JIT_TRUNCATED:
      return "it ends within a record";
    case JIT_CORRUPT:
      return "a record in it is invalid";
    case JIT_NOT_A_DUMP:
      return "it does not begin like a jitdump";
    case JIT_TOO_LARGE:
      return "it is larger than the limit";
    case JIT_NO_MEMORY:
      return "there is not enough memory";
    case JIT_IO_ERROR:
      break;
    }
  return "it cannot be read, or has changed meanwhile";
}

void
sysprof_jit_lines_clear (JitLines *self)
{
  free (self->text);
  *self = (JitLines){ 0 };
}

static bool
make_room (JitLines *self, size_t size)
{
  size_t capacity = self->capacity > 0 ? self->capacity : FIRST_SIZE;
  char *text;

  while (capacity - self->size < size)
    capacity *= 2;
  if (capacity == self->capacity)
    return true;

  text = realloc (self->text, capacity);
  if (text == NULL)
    return false;
  self->text = text;
  self->capacity = capacity;
  return true;
}

JitStatus
sysprof_jit_lines_add (JitLines *self,
                       uint64_t start,
                       uint64_t size,
                       uint64_t time,
                       const char *name,
                       size_t name_size)
{
  size_t own = self->size;
  bool is_own = self->text != NULL && (uintptr_t) name >= (uintptr_t) self->text &&
                (uintptr_t) name < (uintptr_t) self->text + self->size;
  size_t n = name_size < MOST_NAME ? name_size : MOST_NAME;
  int written;

  if (size == 0 || n == 0 || start > UINT64_MAX - size)
    return JIT_OK;
  if (self->n == MOST_LINES || self->size > JIT_MOST_TEXT - MOST_NUMBERS - MOST_NAME - 1)
    return JIT_TOO_LARGE;
  if (is_own)
    own = (size_t) (name - self->text);
  if (!make_room (self, MOST_NUMBERS + n + 1))
    return JIT_NO_MEMORY;
  if (is_own)
    name = self->text + own;

  written = snprintf (self->text + self->size, MOST_NUMBERS,
                      "%" PRIx64 " %" PRIx64 " %" PRIu64 " ", start, size, time);
  self->size += (size_t) written;
  self->last_name = self->size;
  for (size_t i = 0; i < n; i++)
    self->text[self->size++] = (unsigned char) name[i] < ' ' || name[i] == 0x7f ? '?' : name[i];
  self->text[self->size++] = '\n';
  self->n++;
  return JIT_OK;
}
