// SPDX-License-Identifier: BSD-2-Clause

/* Embedded files that hold for one recording, where captures are joined: readers take the first of a name, and what it says would be
 * taken for what holds of all. */

#include "capture/splice.h"

#include "capture/capture.h"

/* A packed one ends in .gz. */
static const struct
{
  const char *path;
  JoinedFiles file;
} files_of_one[] = {
  { CAPTURE_EVENTS_FILE, JOINED_EVENTS },   { CAPTURE_PERIODS_FILE, JOINED_PERIODS },
  { CAPTURE_WAITS_FILE, JOINED_WAITS },     { CAPTURE_FOUND_FILE, JOINED_FOUND },
  { "__unwind__", JOINED_UNWIND },          { "__unnamed__", JOINED_UNNAMED },
  { "/proc/kallsyms", JOINED_KALLSYMS },    { "__ksymbols__", JOINED_KALLSYMS },
  { "__modules__", JOINED_KALLSYMS },       { "__lines__", JOINED_LINES },
  { CAPTURE_THREADS_FILE, JOINED_THREADS },
};

static bool
is_packed_or_not (const char *path, const char *name)
{
  size_t size = strlen (name);

  return strncmp (path, name, size) == 0 &&
         (path[size] == '\0' || strcmp (path + size, ".gz") == 0);
}

/* /proc/PID/jit-code, and whose the dumps are that it is from: jit-owners */
static bool
is_jit_code (const char *path)
{
  static const char before[] = "/proc/";
  size_t at = sizeof before - 1;

  if (strncmp (path, before, at) != 0 || path[at] < '0' || path[at] > '9')
    return false;
  at += strspn (path + at, "0123456789");
  return is_packed_or_not (path + at, "/jit-code") ||
         is_packed_or_not (path + at, "/jit-owners");
}

JoinedFiles
sysprof_joined_file (const char *path)
{
  for (size_t i = 0; i < sizeof files_of_one / sizeof files_of_one[0]; i++)
    if (is_packed_or_not (path, files_of_one[i].path))
      return files_of_one[i].file;
  return is_jit_code (path) ? JOINED_JIT_CODE : 0;
}

/* A capture that was joined before may have the file again. One that differs says that nobody knows. */
static void
add_events (Said *self, const SysprofCaptureFileChunk *chunk)
{
  uint8_t *at = self->events + self->events_size;
  size_t left = sizeof self->events - self->events_size;

  if (self->has_whole_events)
    {
      at = self->events + self->events_again;
      left = self->events_size - self->events_again;
    }

  if (chunk->len > left ||
      (self->has_whole_events && memcmp (at, chunk->data, chunk->len) != 0))
    self->files |= JOINED_PERIODS; /* of several events, or ours is not what wrote it */
  else if (self->has_whole_events)
    self->events_again += chunk->len;
  else
    {
      memcpy (at, chunk->data, chunk->len);
      self->events_size += chunk->len;
    }

  if (!chunk->is_last)
    return;
  if (self->has_whole_events && self->events_again != self->events_size)
    self->files |= JOINED_PERIODS;
  self->has_whole_events = true;
  self->events_again = 0;
}

void
sysprof_said_add_frame (Said *self, const SysprofCaptureFrame *frame)
{
  const SysprofCaptureFileChunk *chunk = (const SysprofCaptureFileChunk *) frame;
  JoinedFiles file;

  if (frame->type == SYSPROF_CAPTURE_FRAME_SAMPLE)
    self->has_samples = true;
  if (frame->type != SYSPROF_CAPTURE_FRAME_FILE_CHUNK)
    return;

  file = sysprof_joined_file (chunk->path);
  self->files |= file;
  if (file == JOINED_EVENTS)
    add_events (self, chunk);
}

bool
sysprof_said_tells_events (const Said *self)
{
  return self->has_samples || (self->files & JOINED_SAMPLED_ON) != 0;
}

bool
sysprof_said_agree_on_events (const Said *a, const Said *b)
{
  JoinedFiles of_both = (a->files | b->files) & JOINED_SAMPLED_ON;

  if (!sysprof_said_tells_events (a) || !sysprof_said_tells_events (b) || of_both == 0)
    return true;
  return of_both == JOINED_EVENTS && (a->files & b->files & JOINED_EVENTS) != 0 &&
         a->events_size == b->events_size && memcmp (a->events, b->events, a->events_size) == 0;
}

void
sysprof_said_add (Said *self, const Said *other)
{
  if ((self->files & JOINED_EVENTS) == 0)
    {
      memcpy (self->events, other->events, other->events_size);
      self->events_size = other->events_size;
    }
  self->has_samples |= other->has_samples;
  self->files |= other->files;
}
