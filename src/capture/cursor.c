// SPDX-License-Identifier: BSD-2-Clause

/* Walks over those frames of a reader that meet one of some conditions, forward or backward.
 *
 * Frames do not say where the one before them starts. To walk backward, all offsets are listed
 * first; then block after block, each of neighbouring frames, is read forward into memory and
 * given out from its end.
 */

#include "capture/reader.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCK_SIZE (4 * 65536) /* bytes; several of the largest frame */

struct _SysprofCaptureCursor
{
  int ref_count; /* atomic */
  SysprofCaptureReader *reader;
  SysprofCaptureCondition **conditions; /* [n_conditions] one must be met */
  size_t n_conditions;
  bool is_reversed;
};

typedef struct
{
  uint64_t *offset; /* [n] in the file, ascending */
  size_t n;
  size_t capacity;
} Offsets;

SysprofCaptureCursor *
sysprof_capture_cursor_new (SysprofCaptureReader *reader)
{
  SysprofCaptureCursor *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;

  self->ref_count = 1;
  self->reader = sysprof_capture_reader_copy (reader);
  if (self->reader == NULL)
    {
      free (self);
      return NULL;
    }
  sysprof_capture_cursor_reset (self);

  return self;
}

SysprofCaptureCursor *
sysprof_capture_cursor_ref (SysprofCaptureCursor *self)
{
  (void) __atomic_add_fetch (&self->ref_count, 1, __ATOMIC_RELAXED);

  return self;
}

void
sysprof_capture_cursor_unref (SysprofCaptureCursor *self)
{
  if (self == NULL || __atomic_sub_fetch (&self->ref_count, 1, __ATOMIC_ACQ_REL) != 0)
    return;

  for (size_t i = 0; i < self->n_conditions; i++)
    sysprof_capture_condition_unref (self->conditions[i]);
  free (self->conditions);
  sysprof_capture_reader_unref (self->reader);
  free (self);
}

SysprofCaptureReader *
sysprof_capture_cursor_get_reader (SysprofCaptureCursor *self)
{
  return self->reader;
}

void
sysprof_capture_cursor_add_condition (SysprofCaptureCursor *self,
                                      SysprofCaptureCondition *condition)
{
  SysprofCaptureCondition **conditions;

  if (condition == NULL)
    return;

  conditions = realloc (self->conditions, (self->n_conditions + 1) * sizeof *conditions);
  if (conditions == NULL)
    {
      sysprof_capture_condition_unref (condition);
      return;
    }
  self->conditions = conditions;
  self->conditions[self->n_conditions++] = condition;
}

/* Where the walk starts: before the first frame, or behind the last. */
void
sysprof_capture_cursor_reset (SysprofCaptureCursor *self)
{
  if (self->is_reversed)
    sysprof_capture_reader_seek (self->reader, UINT64_MAX);
  else
    (void) sysprof_capture_reader_reset (self->reader); /* cannot fail */
}

void
sysprof_capture_cursor_reverse (SysprofCaptureCursor *self)
{
  self->is_reversed = !self->is_reversed;
  sysprof_capture_cursor_reset (self);
}

static bool
is_wanted (const SysprofCaptureCursor *self, const SysprofCaptureFrame *frame)
{
  for (size_t i = 0; i < self->n_conditions; i++)
    if (sysprof_capture_condition_match (self->conditions[i], frame))
      return true;

  return self->n_conditions == 0;
}

static void
walk_forward (SysprofCaptureCursor *self,
              SysprofCaptureCursorCallback callback,
              void *user_data)
{
  const SysprofCaptureFrame *frame;
  bool goes_on = true;

  while (goes_on && (frame = sysprof_capture_reader_peek_known (self->reader)) != NULL)
    {
      sysprof_capture_reader_step (self->reader);
      if (is_wanted (self, frame))
        goes_on = callback (frame, user_data);
    }
}

static bool
add_offset (Offsets *offsets, uint64_t offset)
{
  if (offsets->n == offsets->capacity)
    {
      size_t capacity = offsets->capacity == 0 ? 1024 : offsets->capacity * 2;
      uint64_t *larger = realloc (offsets->offset, capacity * sizeof *larger);

      if (larger == NULL)
        return false;
      offsets->offset = larger;
      offsets->capacity = capacity;
    }
  offsets->offset[offsets->n++] = offset;

  return true;
}

/* The offsets of all frames before `end`. */
static bool
list_offsets (SysprofCaptureReader *reader, uint64_t end, Offsets *offsets)
{
  (void) sysprof_capture_reader_reset (reader); /* cannot fail */
  while (sysprof_capture_reader_peek_known (reader) != NULL)
    {
      uint64_t offset = sysprof_capture_reader_tell (reader);

      if (offset >= end)
        break;
      if (!add_offset (offsets, offset))
        return false;
      sysprof_capture_reader_step (reader);
    }

  return true;
}

/* Reads the block of frames that ends with number `last`; gives the number of its first one. */
static size_t
read_block (SysprofCaptureReader *reader, const Offsets *offsets, size_t last, uint8_t *block)
{
  size_t first = last;

  while (first > 0 && offsets->offset[last] - offsets->offset[first - 1] <=
                          BLOCK_SIZE - SYSPROF_CAPTURE_FRAME_MAX)
    first--;

  sysprof_capture_reader_seek (reader, offsets->offset[first]);
  for (size_t i = first; i <= last; i++)
    {
      const SysprofCaptureFrame *frame = sysprof_capture_reader_peek_known (reader);

      /* The file may have been cut since. */
      if (frame == NULL || sysprof_capture_reader_tell (reader) != offsets->offset[i])
        return SIZE_MAX;
      memcpy (block + (offsets->offset[i] - offsets->offset[first]), frame, frame->len);
      sysprof_capture_reader_step (reader);
    }

  return first;
}

static void
walk_backward (SysprofCaptureCursor *self,
               SysprofCaptureCursorCallback callback,
               void *user_data)
{
  uint64_t end = sysprof_capture_reader_tell (self->reader);
  Offsets offsets = { 0 };
  uint8_t *block = malloc (BLOCK_SIZE);
  bool goes_on = block != NULL && list_offsets (self->reader, end, &offsets);
  size_t n = offsets.n;

  while (goes_on && n > 0)
    {
      size_t first = read_block (self->reader, &offsets, n - 1, block);

      if (first == SIZE_MAX)
        break;
      while (goes_on && n > first)
        {
          const SysprofCaptureFrame *frame;

          n--;
          frame = (const SysprofCaptureFrame *) (block +
                                                 (offsets.offset[n] - offsets.offset[first]));
          end = offsets.offset[n];
          if (is_wanted (self, frame))
            goes_on = callback (frame, user_data);
        }
    }

  sysprof_capture_reader_seek (self->reader, end);
  free (offsets.offset);
  free (block);
}

void
sysprof_capture_cursor_foreach (SysprofCaptureCursor *self,
                                SysprofCaptureCursorCallback callback,
                                void *user_data)
{
  if (self->is_reversed)
    walk_backward (self, callback, user_data);
  else
    walk_forward (self, callback, user_data);
}
