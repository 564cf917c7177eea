// SPDX-License-Identifier: BSD-2-Clause

/* Lists of the kernel's code, from one capture into those of several: addresses move with those of the samples, and what a recording did
 * not see the beginning or the end of is bounded by its own. Lines of captures of one start of a machine are mostly the same. */

#include "capture/splice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define HEX "0123456789abcdef"

typedef struct
{
  KernelList *list;
  const Translation *capture;
  const char *at;
  const char *end; /* of the line, without its newline */
} Line;

static bool
append (KernelList *self, const char *text, size_t size)
{
  return sysprof_whole_file_append (&self->all, text, size);
}

static size_t
span (const char *at, const char *end, const char *accepted)
{
  size_t n = 0;

  while (at + n < end && strchr (accepted, at[n]) != NULL && at[n] != '\0')
    n++;
  return n;
}

/* With as many digits as it had, or more. */
static bool
append_address (Line *self)
{
  size_t n = span (self->at, self->end, HEX);
  char digits[17], moved[24];
  uint64_t address;

  if (n == 0 || n >= sizeof digits)
    return true;
  memcpy (digits, self->at, n);
  digits[n] = '\0';
  address = strtoull (digits, NULL, 16);
  (void) snprintf (moved, sizeof moved, "%0*" PRIx64, (int) n,
                   sysprof_kernel_move_address (&self->capture->kernel_move, address));
  self->at += n;
  return append (self->list, moved, strlen (moved));
}

static bool
append_rest (Line *self)
{
  return append (self->list, self->at, (size_t) (self->end - self->at)) &&
         append (self->list, "\n", 1);
}

/* A word and the space behind it. */
static bool
append_word (Line *self)
{
  const char *space = memchr (self->at, ' ', (size_t) (self->end - self->at));
  const char *from = self->at;

  self->at = space != NULL ? space + 1 : self->end;
  return append (self->list, from, (size_t) (self->at - from));
}

/* 0 = not within the recording. */
static bool
append_time (Line *self, int64_t bound)
{
  char text[24];

  if (bound <= 0 || self->end - self->at < 2 || memcmp (self->at, "0 ", 2) != 0)
    return append_word (self);

  (void) snprintf (text, sizeof text, "%" PRId64 " ", bound);
  self->at += 2;
  return append (self->list, text, strlen (text));
}

/* `ADDRESS SIZE BEGIN END NAME` */
static bool
append_life (Line *self)
{
  const SysprofCaptureReader *reader = self->capture->reader;
  int64_t end =
      reader->header.end_time > reader->last_time ? reader->header.end_time : reader->last_time;

  return append_address (self) && append_word (self) && /* the space before the size */
         append_word (self) && append_time (self, reader->header.time) &&
         append_time (self, end) && append_rest (self);
}

/* `NAME BUILD-ID SECTION=ADDRESS …` */
static bool
append_module (Line *self)
{
  while (self->at < self->end)
    {
      const char *sign = memchr (self->at, '=', (size_t) (self->end - self->at));
      const char *from = self->at;

      self->at = sign != NULL ? sign + 1 : self->end;
      if (!append (self->list, from, (size_t) (self->at - from)) || !append_address (self))
        return false;
    }
  return append (self->list, "\n", 1);
}

static uint64_t
hash_line (const uint8_t *at, size_t size)
{
  uint64_t hash = UINT64_C (14695981039346656037); /* FNV-1a */

  for (size_t i = 0; i < size; i++)
    hash = (hash ^ at[i]) * UINT64_C (1099511628211);
  return hash;
}

/* Takes the last line, which begins at `from`, away again if it was there before. Of lines with one hash only the first is known. */
static bool
drop_if_known (KernelList *self, size_t from)
{
  size_t size = self->all.size - from;
  uint64_t hash = hash_line (self->all.bytes + from, size);
  uint64_t known = sysprof_number_map_get (&self->lines, hash);

  if (known == 0)
    return sysprof_number_map_set (&self->lines, hash, from + 1);
  if (self->all.size - (known - 1) >= size && known - 1 < from &&
      memcmp (self->all.bytes + known - 1, self->all.bytes + from, size) == 0)
    self->all.size = from;
  return true;
}

bool
sysprof_kernel_list_append (KernelList *self, const Translation *capture, const WholeFile *one)
{
  const char *at = one->size > 0 ? (const char *) one->bytes : "";
  const char *end = at + one->size;
  bool is_appended = true;

  while (is_appended && at < end)
    {
      const char *newline = memchr (at, '\n', (size_t) (end - at));
      Line line = { self, capture, at, newline != NULL ? newline : end };
      size_t from = self->all.size;

      switch (self->kind)
        {
        case KERNEL_LIST_OF_SYMBOLS:
          is_appended = append_address (&line) && append_rest (&line);
          break;
        case KERNEL_LIST_OF_LIVES:
          is_appended = append_life (&line);
          break;
        case KERNEL_LIST_OF_MODULES:
        default:
          is_appended = append_module (&line);
          break;
        }
      is_appended = is_appended && drop_if_known (self, from);
      at = line.end + 1;
    }
  return is_appended;
}

void
sysprof_kernel_list_clear (KernelList *self)
{
  sysprof_whole_file_clear (&self->all);
  sysprof_number_map_clear (&self->lines);
}
