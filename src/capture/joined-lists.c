// SPDX-License-Identifier: BSD-2-Clause

/* Joins embedded lists that say something of single samples, processes, addresses or files: readers take the first of a name only, so that
 * joined captures need one. It is not packed: chunks of packed lists that stand between each other unpack to nothing. */

#include "capture/splice.h"
#include "capture/whole-file.h"

#include <stdio.h>

static const struct
{
  JoinedFiles file;
  const char *name;
  size_t item_size; /* 0: lines */
} lists[] = {
  { JOINED_FOUND, CAPTURE_FOUND_FILE, CAPTURE_FOUND_SIZE },
  { JOINED_UNWIND, "__unwind__", 0 },
  { JOINED_UNNAMED, "__unnamed__", 0 },
  { JOINED_LINES, "__lines__", 0 },
  { JOINED_THREADS, CAPTURE_THREADS_FILE, 0 },
};

static const struct
{
  KernelListKind kind;
  const char *name;
} kernel_lists[] = {
  { KERNEL_LIST_OF_SYMBOLS, "/proc/kallsyms" },
  { KERNEL_LIST_OF_LIVES, "__ksymbols__" },
  { KERNEL_LIST_OF_MODULES, "__modules__" },
};

/* What was cut within an item does not spoil the next one. */
static bool
append_items (WholeFile *all, const WholeFile *items, size_t item_size)
{
  size_t cut = item_size == 0 ? 0 : items->size % item_size;

  return sysprof_whole_file_append (all, items->bytes, items->size - cut) &&
         (item_size != 0 || items->size == 0 || items->bytes[items->size - 1] == '\n' ||
          sysprof_whole_file_append (all, "\n", 1));
}

/* `first_packed`: the first that cannot be unpacked. */
static bool
gather (WholeFile *all,
        WholeFile *first_packed,
        size_t list,
        SysprofCaptureReader *reader,
        SysprofCaptureUnpackFunc unpack,
        size_t *n_packed)
{
  WholeFile one = { 0 };
  WholeFile packed = { 0 };
  bool is_gathered =
      sysprof_whole_file_read_unpacked (&one, reader, lists[list].name, unpack, &packed) &&
      append_items (all, &one, lists[list].item_size);

  if (packed.size != 0 && (*n_packed)++ == 0)
    {
      *first_packed = packed;
      memset (&packed, 0, sizeof packed);
    }
  sysprof_whole_file_clear (&one);
  sysprof_whole_file_clear (&packed);

  return is_gathered;
}

/* A packed one is kept as it is where nobody here can look into it, and it is the only one. */
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
  WholeFile all = { 0 };
  WholeFile packed = { 0 };
  size_t n_packed = 0;
  bool is_added = true;

  for (size_t i = 0; is_added && i < n_captures; i++)
    is_added = gather (&all, &packed, list, captures[i].reader, unpack, &n_packed);

  if (is_added && all.size != 0)
    is_added = sysprof_whole_file_write (&all, self, time, lists[list].name);
  else if (is_added && n_packed != 0 && unpack == NULL)
    {
      char name[sizeof ((SysprofCaptureFileChunk *) NULL)->path];

      (void) snprintf (name, sizeof name, "%s.gz", lists[list].name);
      is_added = sysprof_whole_file_write (&packed, self, time, name);
      n_packed--;
      *kept |= lists[list].file;
    }
  if (all.size != 0)
    *kept |= lists[list].file;
  if (n_packed != 0)
    *left |= lists[list].file;
  sysprof_whole_file_clear (&all);
  sysprof_whole_file_clear (&packed);

  return is_added;
}

/* FALSE only with errno set. */
static bool
gather_kernel_list (KernelList *all,
                    const char *name,
                    const Translation *capture,
                    SysprofCaptureUnpackFunc unpack,
                    JoinedFiles *left)
{
  WholeFile one = { 0 };
  WholeFile packed = { 0 };
  bool is_gathered;

  if ((capture->said.files & ~capture->left & JOINED_KALLSYMS) == 0 ||
      capture->keeps_kernel_lists)
    return true;

  is_gathered =
      sysprof_whole_file_read_unpacked (&one, capture->reader, name, unpack, &packed) &&
      sysprof_kernel_list_append (all, capture, &one);
  if (packed.size != 0)
    *left |= JOINED_KALLSYMS;
  sysprof_whole_file_clear (&one);
  sysprof_whole_file_clear (&packed);
  return is_gathered;
}

static bool
add_kernel_list (SysprofCaptureWriter *self,
                 int64_t time,
                 size_t list,
                 const Translation *captures,
                 size_t n_captures,
                 SysprofCaptureUnpackFunc unpack,
                 JoinedFiles *left)
{
  KernelList all = { .kind = kernel_lists[list].kind };
  bool is_added = true;

  for (size_t i = 0; is_added && i < n_captures; i++)
    is_added = gather_kernel_list (&all, kernel_lists[list].name, &captures[i], unpack, left);
  if (is_added && all.all.size != 0)
    is_added = sysprof_whole_file_write (&all.all, self, time, kernel_lists[list].name);
  sysprof_kernel_list_clear (&all);
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
  for (size_t list = 0; list < sizeof kernel_lists / sizeof kernel_lists[0]; list++)
    if (!add_kernel_list (self, time, list, captures, n_captures, unpack, left))
      return false;

  return true;
}
