// SPDX-License-Identifier: BSD-2-Clause

#include "capture/whole-file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096
#define CHUNK_SIZE (SYSPROF_CAPTURE_FRAME_USUAL_MAX - sizeof (SysprofCaptureFileChunk))

bool
sysprof_whole_file_append (WholeFile *self, const void *bytes, size_t size)
{
  if (size > self->capacity - self->size)
    {
      size_t capacity = self->capacity * 2 > self->size + size ? self->capacity * 2
                                                               : self->size + size + FIRST_ROOM;
      uint8_t *larger = realloc (self->bytes, capacity);

      if (larger == NULL)
        return false;
      self->bytes = larger;
      self->capacity = capacity;
    }
  if (size != 0)
    memcpy (self->bytes + self->size, bytes, size);
  self->size += size;

  return true;
}

void
sysprof_whole_file_clear (WholeFile *self)
{
  free (self->bytes);
  memset (self, 0, sizeof *self);
}

bool
sysprof_whole_file_read (WholeFile *self, SysprofCaptureReader *reader, const char *path)
{
  SysprofCaptureReader *copy = sysprof_capture_reader_copy (reader);
  const SysprofCaptureFileChunk *chunk;
  bool is_last = false;
  bool is_kept = true;

  if (copy == NULL)
    return false;

  chunk = sysprof_capture_reader_find_file (copy, path);
  while (is_kept && !is_last && chunk != NULL)
    {
      const SysprofCaptureFrame *next;

      if (strcmp (chunk->path, path) == 0)
        {
          is_kept = sysprof_whole_file_append (self, chunk->data, chunk->len);
          is_last = chunk->is_last;
        }
      for (chunk = NULL; chunk == NULL;)
        {
          next = sysprof_capture_reader_peek_known (copy);
          if (next == NULL)
            break;
          sysprof_capture_reader_step (copy);
          if (next->type == SYSPROF_CAPTURE_FRAME_FILE_CHUNK)
            chunk = (const SysprofCaptureFileChunk *) next;
        }
    }
  is_kept = is_kept && sysprof_capture_reader_check (copy);
  sysprof_capture_reader_unref (copy);

  return is_kept;
}

bool
sysprof_whole_file_read_unpacked (WholeFile *self,
                                  SysprofCaptureReader *reader,
                                  const char *name,
                                  SysprofCaptureUnpackFunc unpack,
                                  WholeFile *packed)
{
  char packed_name[sizeof ((SysprofCaptureFileChunk *) NULL)->path];

  if (!sysprof_whole_file_read (self, reader, name))
    return false;
  if (self->size != 0)
    return true;

  (void) snprintf (packed_name, sizeof packed_name, "%s.gz", name);
  if (!sysprof_whole_file_read (packed, reader, packed_name))
    return false;
  if (packed->size == 0 || unpack == NULL)
    return true;

  sysprof_whole_file_clear (self);
  if (!unpack (packed->bytes, packed->size, &self->bytes, &self->size))
    {
      memset (self, 0, sizeof *self);
      return true;
    }
  self->capacity = self->size;
  sysprof_whole_file_clear (packed);

  return true;
}

bool
sysprof_whole_file_write (const WholeFile *self,
                          SysprofCaptureWriter *writer,
                          int64_t time,
                          const char *path)
{
  for (size_t at = 0; at < self->size; at += CHUNK_SIZE)
    {
      size_t rest = self->size - at;
      size_t n = rest < CHUNK_SIZE ? rest : CHUNK_SIZE;

      if (!sysprof_capture_writer_add_file (writer, time, -1, -1, path, n == rest,
                                            self->bytes + at, n))
        return false;
    }

  return true;
}
