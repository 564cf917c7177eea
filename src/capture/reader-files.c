// SPDX-License-Identifier: BSD-2-Clause

/* Embedded files: list, find, put together from their chunks. */

#include "capture/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Names seen, in order, with a hash table over them: a capture may hold as many files as it has
 * frames. */
struct FileNames
{
  char **name; /* [n] */
  size_t n;
  size_t capacity;
  size_t *slots;  /* [n_slots] 1 + index, 0 = empty */
  size_t n_slots; /* a power of two, at least twice n */
};

static size_t
hash_name (const char *name)
{
  uint32_t hash = 2166136261U; /* FNV-1a */

  for (; *name != '\0'; name++)
    hash = (hash ^ (uint8_t) *name) * 16777619U;

  return hash;
}

static size_t *
find_slot (const FileNames *names, const char *name)
{
  for (size_t i = hash_name (name);; i++)
    {
      size_t *slot = &names->slots[i & (names->n_slots - 1)];

      if (*slot == 0 || strcmp (names->name[*slot - 1], name) == 0)
        return slot;
    }
}

static bool
grow (FileNames *names)
{
  size_t capacity = names->capacity == 0 ? 64 : names->capacity * 2;
  char **name = realloc (names->name, capacity * sizeof *name);
  size_t *slots = calloc (capacity * 2, sizeof *slots);

  if (name != NULL)
    names->name = name;
  if (name == NULL || slots == NULL)
    {
      free (slots);
      return false;
    }

  free (names->slots);
  names->slots = slots;
  names->n_slots = capacity * 2;
  names->capacity = capacity;
  for (size_t i = 0; i < names->n; i++)
    *find_slot (names, names->name[i]) = i + 1;

  return true;
}

static bool
add_name (FileNames *names, const char *name)
{
  size_t *slot;

  if (names->n == names->capacity && !grow (names))
    return false;

  slot = find_slot (names, name);
  if (*slot != 0)
    return true;

  names->name[names->n] = strdup (name);
  if (names->name[names->n] == NULL)
    return false;
  *slot = ++names->n;

  return true;
}

void
sysprof_capture_reader_free_file_names (SysprofCaptureReader *self)
{
  FileNames *names = self->file_names;

  if (names == NULL)
    return;

  for (size_t i = 0; i < names->n; i++)
    free (names->name[i]);
  free (names->name);
  free (names->slots);
  free (names);
  self->file_names = NULL;
}

static const SysprofCaptureFileChunk *
next_chunk (SysprofCaptureReader *self)
{
  const SysprofCaptureFrame *frame;

  while ((frame = sysprof_capture_reader_peek_known (self)) != NULL)
    {
      sysprof_capture_reader_step (self);
      if (frame->type == SYSPROF_CAPTURE_FRAME_FILE_CHUNK)
        return (const SysprofCaptureFileChunk *) frame;
    }

  return NULL;
}

static SysprofCaptureReader *
copy_from_start (SysprofCaptureReader *self)
{
  SysprofCaptureReader *copy = sysprof_capture_reader_copy (self);

  if (copy != NULL)
    (void) sysprof_capture_reader_reset (copy); /* cannot fail */

  return copy;
}

const char **
sysprof_capture_reader_list_files (SysprofCaptureReader *self)
{
  const SysprofCaptureFileChunk *chunk;
  SysprofCaptureReader *copy;
  const char **list = NULL;
  bool is_complete = true;

  if (self->file_names == NULL)
    self->file_names = calloc (1, sizeof *self->file_names);
  if (self->file_names == NULL)
    return NULL;

  copy = copy_from_start (self);
  if (copy == NULL)
    return NULL;

  while (is_complete && (chunk = next_chunk (copy)) != NULL)
    is_complete = add_name (self->file_names, chunk->path);
  sysprof_capture_reader_unref (copy);

  if (is_complete)
    list = calloc (self->file_names->n + 1, sizeof *list);
  if (list == NULL)
    {
      errno = ENOMEM;
      return NULL;
    }
  for (size_t i = 0; i < self->file_names->n; i++)
    list[i] = self->file_names->name[i];

  return list;
}

const SysprofCaptureFileChunk *
sysprof_capture_reader_find_file (SysprofCaptureReader *self, const char *path)
{
  const SysprofCaptureFileChunk *chunk;

  (void) sysprof_capture_reader_reset (self); /* cannot fail */
  while ((chunk = next_chunk (self)) != NULL)
    if (strcmp (chunk->path, path) == 0)
      return chunk;

  return NULL;
}

bool
sysprof_capture_reader_read_file_fd (SysprofCaptureReader *self, const char *path, int fd)
{
  const SysprofCaptureFileChunk *chunk;
  SysprofCaptureReader *copy;
  bool is_found = false;
  bool is_last = false;
  bool is_written = true;
  size_t written;
  int saved;

  copy = copy_from_start (self);
  if (copy == NULL)
    return false;

  while (!is_last && is_written && (chunk = next_chunk (copy)) != NULL)
    if (strcmp (chunk->path, path) == 0)
      {
        is_found = true;
        is_last = chunk->is_last;
        is_written = sysprof_capture_write_all (fd, chunk->data, chunk->len, &written);
      }

  saved = errno;
  sysprof_capture_reader_unref (copy);
  errno = is_found ? saved : ENOENT;

  return is_found && is_written;
}
