// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the bytes of a capture from front to back, a piece at a time.
 *
 * Pieces of a mapped file are read into memory of our own, which stays in the cache: that takes half as long as faults
 * for all its pages, and they never count as ours. *Owned* by one thread; several may read one file. */

#pragma once

#include "store/file-bytes.h"

typedef struct
{
  const FileBytes *file;
  uint8_t *room; /* NULL where the bytes are in memory anyway */
  size_t begin;  /* [begin, end) of the file is in `room` */
  size_t end;
} FileWindow;

void sysprof_file_window_init (FileWindow *self, const FileBytes *file);
void sysprof_file_window_clear (FileWindow *self);

/* Not for others. */
void sysprof_file_window_move (FileWindow *self, size_t at);

/* The bytes at `at`, which must be in the file: FILE_WINDOW_LEAST of them, or all there are behind it, valid until the
 * next call. */
#define FILE_WINDOW_LEAST ((size_t) 1 << 16)

static inline const uint8_t *
sysprof_file_window_at (FileWindow *self, size_t at)
{
  bool is_held;

  if (self->room == NULL)
    return self->file->bytes + at;

  is_held = at >= self->begin && at < self->end &&
            (self->end - at >= FILE_WINDOW_LEAST || self->end == self->file->size);
  if (!is_held)
    sysprof_file_window_move (self, at);
  return self->room + (at - self->begin);
}
