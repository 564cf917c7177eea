// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the bytes of a capture a piece at a time.
 *
 * Pieces of a mapped file are read into memory of our own, which stays in the cache: that takes
 * half as long as faults for all its pages, and they never count as ours. *Owned* by one
 * thread; several may read one file. */

#pragma once

#include "store/file-bytes.h"

typedef struct
{
  const FileBytes *file;
  uint8_t *room; /* NULL where the bytes are in memory anyway */
  size_t step;   /* bytes per read, unless the caller needs more */
  size_t begin;  /* [begin, end) of the file is in `room` */
  size_t end;
} FileWindow;

#define FILE_WINDOW_MOST ((size_t) 1 << 16)

/* `step` suits who reads from front to back if it is large, else who reads frames here and
 * there. */
#define FILE_WINDOW_ALL  ((size_t) 1 << 18)
#define FILE_WINDOW_SOME ((size_t) 1 << 13)

void sysprof_file_window_init (FileWindow *self, const FileBytes *file, size_t step);
void sysprof_file_window_clear (FileWindow *self);

/* Not for others. */
void sysprof_file_window_move (FileWindow *self, size_t at, size_t size);

/* The bytes at `at`, which must be in the file: `size` of them, FILE_WINDOW_MOST at most, or
 * all there are behind it. Valid until the next call. */
static inline const uint8_t *
sysprof_file_window_at (FileWindow *self, size_t at, size_t size)
{
  bool is_held;

  if (self->room == NULL)
    return self->file->bytes + at;

  is_held = at >= self->begin && at < self->end &&
            (self->end - at >= size || self->end == self->file->size);
  if (!is_held)
    sysprof_file_window_move (self, at, size);
  return self->room + (at - self->begin);
}
