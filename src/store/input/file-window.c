// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads a capture piece by piece. See file-window.h. */

#include "store/file-window.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PAGE ((size_t) 4096)

void
sysprof_file_window_init (FileWindow *self, const FileBytes *file, size_t step)
{
  *self = (FileWindow){ .file = file, .step = step };
  /* A frame whose length another process has changed is still inside the window. */
  if (file->is_mapped)
    self->room = g_malloc0 (PAGE + MAX (step, 2 * FILE_WINDOW_MOST));
}

void
sysprof_file_window_clear (FileWindow *self)
{
  g_clear_pointer (&self->room, g_free);
}

void
sysprof_file_window_move (FileWindow *self, size_t at, size_t size)
{
  size_t n;

  self->begin = at / PAGE * PAGE;
  self->end = self->begin;
  n = MIN (MAX (self->step, at - self->begin + size), self->file->size - self->begin);
  while (n > 0)
    {
      uint8_t *to = self->room + (self->end - self->begin);
      ssize_t got = pread (self->file->fd, to, n, (off_t) self->end);

      if (got < 0 && errno == EINTR)
        continue;
      /* What cannot be read, or was cut off since, the mapping has zeros for, and remembers
       * that. */
      if (got <= 0)
        {
          memcpy (to, self->file->bytes + self->end, n);
          got = (ssize_t) n;
        }
      self->end += (size_t) got;
      n -= (size_t) got;
    }
}
