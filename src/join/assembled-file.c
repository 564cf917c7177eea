// SPDX-License-Identifier: BSD-2-Clause

/* Embedded files in memory. */

#include "join/assembled-file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096
#define CHUNK_SIZE (SYSPROF_CAPTURE_FRAME_USUAL_MAX - sizeof (SysprofCaptureFileChunk))

bool
sysprof_assembled_file_append (AssembledFile *self, const void *bytes, size_t size)
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
sysprof_assembled_file_clear (AssembledFile *self)
{
  free (self->bytes);
  memset (self, 0, sizeof *self);
}

/* NULL at the end. */
static const SysprofCaptureFileChunk *
next_chunk (SysprofCaptureReader *reader)
{
  SysprofCaptureFrameType type;

  while (sysprof_capture_reader_peek_type (reader, &type))
    if (type == SYSPROF_CAPTURE_FRAME_FILE_CHUNK)
      return sysprof_capture_reader_read_file (reader);
    else if (!sysprof_capture_reader_skip (reader))
      return NULL;

  return NULL;
}

bool
sysprof_assembled_file_read (AssembledFile *self,
                             SysprofCaptureReader *reader,
                             const char *path)
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
      if (strcmp (chunk->path, path) == 0)
        {
          is_kept = sysprof_assembled_file_append (self, chunk->data, chunk->len);
          is_last = chunk->is_last;
        }
      chunk = next_chunk (copy);
    }
  is_kept = is_kept && sysprof_capture_reader_check (copy);
  sysprof_capture_reader_unref (copy);

  return is_kept;
}

bool
sysprof_assembled_file_read_unpacked (AssembledFile *self,
                                      SysprofCaptureReader *reader,
                                      const char *name,
                                      SysprofCaptureUnpackFunc unpack,
                                      AssembledFile *packed)
{
  char packed_name[sizeof ((SysprofCaptureFileChunk *) NULL)->path];

  if (!sysprof_assembled_file_read (self, reader, name))
    return false;
  if (self->size != 0)
    return true;

  (void) snprintf (packed_name, sizeof packed_name, "%s.gz", name);
  if (!sysprof_assembled_file_read (packed, reader, packed_name))
    return false;
  if (packed->size == 0 || unpack == NULL)
    return true;

  sysprof_assembled_file_clear (self);
  if (!unpack (packed->bytes, packed->size, &self->bytes, &self->size))
    {
      memset (self, 0, sizeof *self);
      return true;
    }
  self->capacity = self->size;
  sysprof_assembled_file_clear (packed);

  return true;
}

bool
sysprof_assembled_file_write (const AssembledFile *self,
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
