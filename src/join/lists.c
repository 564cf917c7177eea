// SPDX-License-Identifier: BSD-2-Clause

/* Joins embedded lists about samples, processes, addresses and files: readers use the first
 * file of a name only. The joined list is not compressed. */

#include "join/parts.h"

#include <stdio.h>
#include <string.h>

static const struct
{
  JoinedFiles file;
  const char *name;
  size_t item_size; /* bytes; 0: lines */
} lists[] = {
  { JOINED_FOUND, CAPTURE_FOUND_FILE, CAPTURE_FOUND_SIZE },
  { JOINED_UNWIND, "__unwind__", 0 },
  { JOINED_UNNAMED, "__unnamed__", 0 },
  { JOINED_LINES, "__lines__", 0 },
  { JOINED_THREADS, CAPTURE_THREADS_FILE, 0 },
};

/* Drops an incomplete last item, so that the next list begins at an item. */
static bool
append_items (AssembledFile *all, const AssembledFile *items, size_t item_size)
{
  size_t cut = item_size == 0 ? 0 : items->size % item_size;

  return sysprof_assembled_file_append (all, items->bytes, items->size - cut) &&
         (item_size != 0 || items->size == 0 || items->bytes[items->size - 1] == '\n' ||
          sysprof_assembled_file_append (all, "\n", 1));
}

/* `first_packed` gets the first list that cannot be decompressed. */
static bool
gather (AssembledFile *all,
        AssembledFile *first_packed,
        size_t list,
        SysprofCaptureReader *reader,
        SysprofCaptureUnpackFunc unpack,
        size_t *n_packed)
{
  AssembledFile one = { 0 };
  AssembledFile packed = { 0 };
  bool is_gathered =
      sysprof_assembled_file_read_unpacked (&one, reader, lists[list].name, unpack, &packed) &&
      append_items (all, &one, lists[list].item_size);

  if (packed.size != 0 && (*n_packed)++ == 0)
    {
      *first_packed = packed;
      memset (&packed, 0, sizeof packed);
    }
  sysprof_assembled_file_clear (&one);
  sysprof_assembled_file_clear (&packed);

  return is_gathered;
}

/* Without `unpack`, a single compressed list is copied as it is. */
static bool
add_list (SysprofCaptureWriter *self,
          int64_t time,
          size_t list,
          const Translation *captures,
          size_t n_captures,
          SysprofCaptureUnpackFunc unpack,
          JoinedFiles *left,
          JoinedFiles *kept)
{
  AssembledFile all = { 0 };
  AssembledFile packed = { 0 };
  size_t n_packed = 0;
  bool is_added = true;

  for (size_t i = 0; is_added && i < n_captures; i++)
    is_added = gather (&all, &packed, list, captures[i].reader, unpack, &n_packed);

  if (is_added && all.size != 0)
    is_added = sysprof_assembled_file_write (&all, self, time, lists[list].name);
  else if (is_added && n_packed != 0 && unpack == NULL)
    {
      char name[sizeof ((SysprofCaptureFileChunk *) NULL)->path];

      (void) snprintf (name, sizeof name, "%s.gz", lists[list].name);
      is_added = sysprof_assembled_file_write (&packed, self, time, name);
      n_packed--;
      *kept |= lists[list].file;
    }
  if (all.size != 0)
    *kept |= lists[list].file;
  if (n_packed != 0)
    *left |= lists[list].file;
  sysprof_assembled_file_clear (&all);
  sysprof_assembled_file_clear (&packed);

  return is_added;
}

bool
sysprof_capture_writer_add_joined_lists (SysprofCaptureWriter *self,
                                         int64_t time,
                                         const Translation *captures,
                                         size_t n_captures,
                                         SysprofCaptureUnpackFunc unpack,
                                         JoinedFiles *left,
                                         JoinedFiles *kept)
{
  for (size_t list = 0; list < sizeof lists / sizeof lists[0]; list++)
    {
      *kept &= ~lists[list].file;
      if (!add_list (self, time, list, captures, n_captures, unpack, left, kept))
        return false;
    }

  return true;
}
