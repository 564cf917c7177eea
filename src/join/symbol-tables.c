// SPDX-License-Identifier: BSD-2-Clause

/* Joins embedded symbol tables: readers use only the first table of a capture, so a joined
 * capture must have one.
 *
 *     entry, entry, …   begin u64, end u64, pid u32, offset of the name u32, of the tag u32, 0 u32
 *     zero entry        terminator
 *     texts             NUL-terminated; offsets count from the start of the file
 *
 * Entries are sorted by pid and begin. If entries of two captures overlap, those of the earlier
 * capture are kept. */

#include "join/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_NAME  "__symbols__"
#define PACKED_NAME "__symbols__.gz"
#define ENTRY_SIZE  32

typedef struct
{
  uint64_t begin;
  uint64_t end; /* first address behind */
  uint32_t pid;
  uint32_t rank; /* number of the capture: lower ones win */
  const char *name;
  const char *tag;
} Entry;

typedef struct
{
  Entry *entries; /* [n] */
  size_t n;
  size_t capacity;
  uint8_t **tables; /* [n_tables] what the entries' texts point into */
  size_t n_tables;
} Entries;

/* Offset behind the last NUL: texts that begin before it end inside the table. */
static size_t
find_end_of_texts (const AssembledFile *table)
{
  size_t end = table->size;

  while (end > 0 && table->bytes[end - 1] != 0)
    end--;
  return end;
}

/* The text at `offset`, NULL if it does not end inside the table. */
static const char *
text_at (const AssembledFile *table, size_t end_of_texts, uint32_t offset)
{
  return offset < end_of_texts ? (const char *) table->bytes + offset : NULL;
}

static bool
add_entry (Entries *self, const Entry *entry)
{
  if (self->n == self->capacity)
    {
      size_t capacity = self->capacity == 0 ? 1024 : self->capacity * 2;
      Entry *larger = realloc (self->entries, capacity * sizeof *larger);

      if (larger == NULL)
        return false;
      self->entries = larger;
      self->capacity = capacity;
    }
  self->entries[self->n++] = *entry;

  return true;
}

/* Number of entries before the terminator; -1 if there is none, which makes the table void. */
static ptrdiff_t
count_entries (const AssembledFile *table, bool *is_inclusive, bool swapped)
{
  size_t n_entries = table->size / ENTRY_SIZE;

  *is_inclusive = false;
  for (size_t i = 0; i < n_entries; i++)
    {
      const uint8_t *entry = table->bytes + i * ENTRY_SIZE;
      uint64_t begin = sysprof_load_u64 (entry, swapped);
      uint64_t end = sysprof_load_u64 (entry + 8, swapped);

      if ((begin | end | sysprof_load_u32 (entry + 16, false) |
           sysprof_load_u32 (entry + 20, false)) == 0)
        return (ptrdiff_t) i;
      if (begin == end)
        *is_inclusive = true;
    }

  return -1;
}

/* The kernel has pid 0, and the upper half of the addresses of every process. */
static bool
is_of_kernel (const Entry *entry)
{
  return entry->pid == 0 || entry->begin >> 63 != 0;
}

static bool
add_entries (Entries *self,
             const AssembledFile *table,
             uint32_t rank,
             bool has_kernel,
             bool swapped)
{
  bool is_inclusive;
  ptrdiff_t n_entries = count_entries (table, &is_inclusive, swapped);
  size_t end_of_texts = find_end_of_texts (table);

  for (ptrdiff_t i = 0; i < n_entries; i++)
    {
      const uint8_t *bytes = table->bytes + i * ENTRY_SIZE;
      Entry entry = {
        .begin = sysprof_load_u64 (bytes, swapped),
        .end = sysprof_load_u64 (bytes + 8, swapped),
        .pid = sysprof_load_u32 (bytes + 16, swapped),
        .rank = rank,
        .name = text_at (table, end_of_texts, sysprof_load_u32 (bytes + 20, swapped)),
        .tag = text_at (table, end_of_texts, sysprof_load_u32 (bytes + 24, swapped)),
      };

      if (sysprof_load_u32 (bytes + 24, false) == 0 || entry.tag == NULL)
        entry.tag = "";
      if (is_inclusive && entry.end != UINT64_MAX)
        entry.end++;
      if (entry.name == NULL || entry.begin >= entry.end ||
          (!has_kernel && is_of_kernel (&entry)))
        continue;
      if (!add_entry (self, &entry))
        return false;
    }

  return true;
}

/* Takes ownership of the bytes. */
static bool
keep_table (Entries *self, AssembledFile *table, uint32_t rank, bool has_kernel, bool swapped)
{
  uint8_t **tables = realloc (self->tables, (self->n_tables + 1) * sizeof *tables);

  if (tables == NULL)
    {
      sysprof_assembled_file_clear (table);
      return false;
    }
  self->tables = tables;
  self->tables[self->n_tables++] = table->bytes;

  return add_entries (self, table, rank, has_kernel, swapped);
}

static bool
gather (Entries *self,
        const Translation *capture,
        uint32_t rank,
        SysprofCaptureUnpackFunc unpack)
{
  SysprofCaptureReader *reader = capture->reader;
  AssembledFile table = { 0 };
  AssembledFile packed = { 0 };
  bool is_gathered =
      sysprof_assembled_file_read_unpacked (&table, reader, PLAIN_NAME, unpack, &packed);

  /* A table that cannot be decompressed is damaged: this capture then has none. */
  sysprof_assembled_file_clear (&packed);
  if (!is_gathered || table.size == 0)
    {
      sysprof_assembled_file_clear (&table);
      return is_gathered;
    }

  return keep_table (self, &table, rank, !capture->is_of_other_boot,
                     sysprof_capture_reader_get_byte_order (reader) != __BYTE_ORDER__);
}

static int
compare_entries (const void *a, const void *b)
{
  const Entry *left = a;
  const Entry *right = b;

  if (left->pid != right->pid)
    return left->pid < right->pid ? -1 : 1;
  if (left->begin != right->begin)
    return left->begin < right->begin ? -1 : 1;
  return left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* Shortens and drops entries until none overlaps its neighbour. */
static void
resolve_overlaps (Entries *self)
{
  size_t n_kept = 0;

  if (self->n == 0)
    return;

  qsort (self->entries, self->n, sizeof *self->entries, compare_entries);
  for (size_t i = 0; i < self->n; i++)
    {
      Entry entry = self->entries[i];
      Entry *last = n_kept != 0 ? &self->entries[n_kept - 1] : NULL;

      if (last != NULL && last->pid == entry.pid && entry.begin < last->end)
        {
          if (last->rank <= entry.rank)
            entry.begin = last->end;
          else
            last->end = entry.begin;
        }
      if (last != NULL && last->begin >= last->end)
        n_kept--;
      if (entry.begin < entry.end)
        self->entries[n_kept++] = entry;
    }
  self->n = n_kept;
}

static uint64_t
hash_text (const char *text)
{
  uint64_t hash = UINT64_C (14695981039346656037); /* FNV-1a */

  for (; *text != '\0'; text++)
    hash = (hash ^ (uint8_t) *text) * UINT64_C (1099511628211);

  return hash;
}

/* The offset of `text` in the table. Equal texts are stored once, unless their hashes
 * collide. */
static bool
put_text (AssembledFile *table, NumberMap *places, const char *text, uint32_t *offset)
{
  uint64_t hash = hash_text (text);
  uint64_t place = sysprof_number_map_get (places, hash);

  if (place == 0 || strcmp ((const char *) table->bytes + place, text) != 0)
    {
      place = table->size;
      if (!sysprof_assembled_file_append (table, text, strlen (text) + 1) ||
          !sysprof_number_map_set (places, hash, place))
        return false;
    }
  if (place > UINT32_MAX)
    {
      errno = EOVERFLOW;
      return false;
    }
  *offset = (uint32_t) place;

  return true;
}

typedef struct
{
  const char *text;
  size_t field; /* of the entries in their order: 2 for each, name and tag */
} Reference;

static int
compare_references (const void *a, const void *b)
{
  const char *left = ((const Reference *) a)->text, *right = ((const Reference *) b)->text;

  return left < right ? -1 : left > right;
}

/* Appends all names and tags to `table`. Returns their offsets [2 * n], or NULL with errno.
 * Many entries may refer to one text of megabytes, or to parts of it. References are sorted by
 * address, so each text is read and copied once, together with its suffixes. */
static uint32_t *
put_texts (const Entries *self, NumberMap *places, AssembledFile *table)
{
  size_t n = 2 * self->n;
  Reference *references = calloc (n + 1, sizeof *references);
  uint32_t *offsets = calloc (n + 1, sizeof *offsets);
  const char *text = NULL, *end = NULL;
  bool is_put = references != NULL && offsets != NULL;
  uint32_t offset = 0;

  for (size_t i = 0; is_put && i < self->n; i++)
    {
      references[2 * i] = (Reference){ self->entries[i].name, 2 * i };
      references[2 * i + 1] = (Reference){ self->entries[i].tag, 2 * i + 1 };
    }
  if (is_put)
    qsort (references, n, sizeof *references, compare_references);
  for (size_t i = 0; is_put && i < n; i++)
    {
      if (text == NULL || references[i].text >= end)
        {
          text = references[i].text;
          end = text + strlen (text) + 1;
          is_put = put_text (table, places, text, &offset);
        }
      if (is_put && (size_t) (references[i].text - text) > UINT32_MAX - offset)
        {
          errno = EOVERFLOW;
          is_put = false;
        }
      offsets[references[i].field] = offset + (uint32_t) (references[i].text - text);
    }
  free (references);
  if (is_put)
    return offsets;

  free (offsets);
  return NULL;
}

static bool
pack (const Entries *self, AssembledFile *table)
{
  NumberMap places = { 0 };
  uint32_t *offsets = NULL;
  size_t head_size = (self->n + 1) * ENTRY_SIZE;
  uint8_t *head = calloc (self->n + 1, ENTRY_SIZE);
  bool is_packed = head != NULL && sysprof_assembled_file_append (table, head, head_size) &&
                   sysprof_assembled_file_append (table, "", 1) &&
                   (offsets = put_texts (self, &places, table)) != NULL;

  for (size_t i = 0; is_packed && i < self->n; i++)
    {
      const Entry *entry = &self->entries[i];
      uint8_t *bytes = head + i * ENTRY_SIZE;

      sysprof_store_u64 (bytes, entry->begin);
      sysprof_store_u64 (bytes + 8, entry->end);
      sysprof_store_u32 (bytes + 16, entry->pid);
      sysprof_store_u32 (bytes + 20, offsets[2 * i]);
      sysprof_store_u32 (bytes + 24, offsets[2 * i + 1]);
    }
  if (is_packed)
    memcpy (table->bytes, head, head_size);
  sysprof_number_map_clear (&places);
  free (offsets);
  free (head);

  return is_packed;
}

static bool
add_table (SysprofCaptureWriter *self, int64_t time, const AssembledFile *table)
{
  /* Version 3.46 checks only every other frame in a sequence of file frames, so another
   * frame precedes the table. */
  return sysprof_capture_writer_add_timestamp (self, time, -1, -1) &&
         sysprof_assembled_file_write (table, self, time, PLAIN_NAME);
}

/* Copies the compressed tables, for callers that cannot decompress them. */
static bool
copy_packed (SysprofCaptureWriter *self, SysprofCaptureReader *reader)
{
  SysprofCaptureReader *copy = sysprof_capture_reader_copy (reader);
  const SysprofCaptureFrame *frame;
  bool is_copied = true;

  if (copy == NULL)
    return false;

  (void) sysprof_capture_reader_reset (copy); /* cannot fail */
  while (is_copied && (frame = sysprof_capture_reader_next_any (copy)) != NULL)
    {
      const SysprofCaptureFileChunk *chunk = (const SysprofCaptureFileChunk *) frame;

      if (frame->type == SYSPROF_CAPTURE_FRAME_FILE_CHUNK &&
          strcmp (chunk->path, PACKED_NAME) == 0)
        is_copied = sysprof_capture_writer_add_file (self, frame->time, frame->cpu, frame->pid,
                                                     chunk->path, chunk->is_last, chunk->data,
                                                     chunk->len);
      (void) sysprof_capture_reader_skip (copy); /* cannot fail: a frame was there */
    }
  is_copied = is_copied && sysprof_capture_reader_check (copy);
  sysprof_capture_reader_unref (copy);

  return is_copied;
}

/* The address that replaces the kernel addresses of other boots has a name. */
static bool
name_other_kernels (Entries *self, const Translation *captures, size_t n_captures)
{
  static const Entry other = {
    .begin = CAPTURE_OTHER_KERNEL_ADDRESS,
    .end = CAPTURE_OTHER_KERNEL_ADDRESS + 1,
    .name = "[kernel of another boot]",
    .tag = "[kernel]",
  };

  for (size_t i = 0; i < n_captures; i++)
    if (captures[i].is_of_other_boot && captures[i].contents.has_kernel_code)
      return add_entry (self, &other);

  return true;
}

bool
sysprof_capture_writer_add_merged_symbols (SysprofCaptureWriter *self,
                                           int64_t time,
                                           const Translation *captures,
                                           size_t n_captures,
                                           SysprofCaptureUnpackFunc unpack)
{
  Entries entries = { 0 };
  AssembledFile table = { 0 };
  bool is_added = true;

  for (size_t i = 0; is_added && i < n_captures; i++)
    {
      is_added = gather (&entries, &captures[i], (uint32_t) i, unpack);
      if (is_added && unpack == NULL)
        is_added = copy_packed (self, captures[i].reader);
    }

  if (is_added)
    is_added = name_other_kernels (&entries, captures, n_captures);
  resolve_overlaps (&entries);
  if (is_added && entries.n != 0)
    is_added = pack (&entries, &table) && add_table (self, time, &table);

  for (size_t i = 0; i < entries.n_tables; i++)
    free (entries.tables[i]);
  free (entries.tables);
  free (entries.entries);
  sysprof_assembled_file_clear (&table);

  return is_added;
}
