// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts rows to the blocks that layout.h describes. A page of code has 43 different rules on
 * average and a thousand rows, so a row has two bytes: the address within its 256 bytes, and
 * the index of one of the page's rules. */

#include "unwind/table.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of rules of a page that are counted. One page in twenty thousand has more
 * rules than an index can refer to; the maximum seen is 300. */
#define MOST_KNOWN 2048
#define HASH_SLOTS (4 * MOST_KNOWN)
#define HASH_SHIFT 19 /* 32 - log2 (HASH_SLOTS) */

struct TableBuilder
{
  uint8_t *bytes; /* header, directory, completed blocks */
  size_t size;
  size_t capacity;
  bool is_out_of_memory;

  ElfCode code[UNWIND_MOST_SEGMENTS];
  uint32_t n_code;
  uint64_t start; /* of page 0 */
  uint32_t n_pages;
  uint64_t n_rows; /* of completed pages */
  uint64_t n_escapes;

  /* The current page. */
  uint32_t page;
  uint32_t rule_in_force;
  uint32_t n_page_rows;
  uint16_t row_at[UNWIND_PAGE_SIZE]; /* address within the page */
  uint16_t row_rule[UNWIND_PAGE_SIZE];
  uint32_t n_rules;
  uint32_t rule[MOST_KNOWN];
  uint16_t hash[HASH_SLOTS]; /* index of a rule + 1 */
};

static uint32_t *
directory (uint8_t *bytes)
{
  return (uint32_t *) (void *) (bytes + sizeof (UnwindTableHeader));
}

static size_t
directory_end (uint32_t n_pages)
{
  return sizeof (UnwindTableHeader) + (size_t) n_pages * sizeof (uint32_t);
}

static bool
make_room (TableBuilder *self, size_t size)
{
  size_t capacity;
  uint8_t *larger;

  if (size <= self->capacity - self->size)
    return true;
  capacity = (self->size + size) * 3 / 2;
  larger = realloc (self->bytes, capacity);
  if (larger == NULL)
    return false;

  self->bytes = larger;
  self->capacity = capacity;
  return true;
}

/* --- the current page --- */

static uint32_t
hash_of (uint32_t rule)
{
  return rule * UINT32_C (0x9e3779b1) >> HASH_SHIFT;
}

static uint32_t
intern_rule (TableBuilder *self, uint32_t rule)
{
  uint32_t slot = hash_of (rule);

  for (; self->hash[slot] != 0; slot = (slot + 1) % HASH_SLOTS)
    if (self->rule[self->hash[slot] - 1] == rule)
      return self->hash[slot] - 1u;

  if (self->n_rules == MOST_KNOWN - 1)
    self->rule[self->n_rules++] = RULE_ESCAPE;
  if (self->n_rules == MOST_KNOWN)
    return MOST_KNOWN - 1;

  self->rule[self->n_rules] = rule;
  self->hash[slot] = (uint16_t) (self->n_rules + 1);
  return self->n_rules++;
}

static void
push_row (TableBuilder *self, uint32_t at, uint32_t rule)
{
  uint32_t index;

  if (self->n_page_rows > 0 && self->row_at[self->n_page_rows - 1] == at)
    self->n_page_rows--;
  if (self->n_page_rows == UNWIND_MOST_ROWS)
    return; /* a row for each byte: not made by a compiler */

  index = intern_rule (self, rule);
  if (self->n_page_rows > 0 && self->row_rule[self->n_page_rows - 1] == index)
    return;
  self->row_at[self->n_page_rows] = (uint16_t) at;
  self->row_rule[self->n_page_rows++] = (uint16_t) index;
}

static void
begin_page (TableBuilder *self, uint32_t page)
{
  self->page = page;
  self->n_page_rows = 0;
  self->n_rules = 0;
  memset (self->hash, 0, sizeof self->hash);
  push_row (self, 0, self->rule_in_force);
}

/* If there are too many rules for an index, the rarest become RULE_ESCAPE, which gets index
 * 0. */
static void
drop_rarest_rules (TableBuilder *self)
{
  uint32_t n_of[MOST_KNOWN] = { 0 };
  uint32_t old[MOST_KNOWN];
  uint16_t new_index[MOST_KNOWN] = { 0 };
  uint32_t n_kept = UNWIND_MOST_RULES, least = 0, next = 1, n_spare;

  for (uint32_t i = 0; i < self->n_page_rows; i++)
    n_of[self->row_rule[i]]++;

  /* All rules with at least this many rows are kept, and some of those with one row less. */
  while (n_kept > UNWIND_MOST_RULES - 1)
    {
      least++;
      n_kept = 0;
      for (uint32_t i = 0; i < self->n_rules; i++)
        n_kept += n_of[i] >= least;
    }
  n_spare = UNWIND_MOST_RULES - 1 - n_kept;

  memcpy (old, self->rule, self->n_rules * sizeof *old);
  self->rule[0] = RULE_ESCAPE;
  for (uint32_t i = 0; i < self->n_rules; i++)
    {
      bool is_spare = n_of[i] + 1 == least && n_spare > 0;

      if (RULE_KIND (old[i]) == RULE_ESCAPE || (n_of[i] < least && !is_spare))
        continue;
      n_spare -= is_spare;
      new_index[i] = (uint16_t) next;
      self->rule[next++] = old[i];
    }
  self->n_rules = next;

  next = 0;
  for (uint32_t i = 0; i < self->n_page_rows; i++)
    {
      uint16_t rule = new_index[self->row_rule[i]];

      if (next > 0 && self->row_rule[next - 1] == rule)
        continue;
      self->row_at[next] = self->row_at[i];
      self->row_rule[next++] = rule;
    }
  self->n_page_rows = next;
}

static void
write_block (const TableBuilder *self, uint8_t *block)
{
  uint16_t *first = (uint16_t *) (void *) block;
  uint16_t *row =
      (uint16_t *) (void *) (block + UNWIND_RULES_OFFSET + self->n_rules * sizeof *self->rule);
  uint32_t next = 0;

  for (uint32_t i = 0; i < UNWIND_BLOCKS; i++)
    {
      first[i] = (uint16_t) next;
      while (next < self->n_page_rows && self->row_at[next] >> 8 == i)
        next++;
    }
  first[UNWIND_BLOCKS] = (uint16_t) next;
  first[UNWIND_BLOCKS + 1] = (uint16_t) self->n_rules;
  memcpy (block + UNWIND_RULES_OFFSET, self->rule, self->n_rules * sizeof *self->rule);

  for (uint32_t i = 0; i < self->n_page_rows; i++)
    row[i] = (uint16_t) (self->row_at[i] << 8 | self->row_rule[i]);
}

static void
end_page (TableBuilder *self)
{
  size_t size;

  if (self->n_page_rows == 1 && self->rule[self->row_rule[0]] == RULE_NONE)
    return;
  if (self->n_rules > UNWIND_MOST_RULES)
    drop_rarest_rules (self);

  size = UNWIND_BLOCK_SIZE (self->n_rules, self->n_page_rows);
  if (self->is_out_of_memory || self->size > UINT32_MAX - size || !make_room (self, size))
    {
      self->is_out_of_memory = true;
      return;
    }

  memset (self->bytes + self->size, 0, size);
  write_block (self, self->bytes + self->size);
  directory (self->bytes)[self->page] = (uint32_t) self->size;
  self->size += size;

  self->n_rows += self->n_page_rows;
  for (uint32_t i = 0; i < self->n_page_rows; i++)
    self->n_escapes += RULE_KIND (self->rule[self->row_rule[i]]) == RULE_ESCAPE;
}

/* --- the builder --- */

TableBuilder *
sysprof_table_builder_new (const ElfCode *code, size_t n_code)
{
  uint64_t first = code[0].start >> UNWIND_PAGE_SHIFT;
  uint64_t n_pages = ((code[n_code - 1].end - 1) >> UNWIND_PAGE_SHIFT) - first + 1;
  TableBuilder *self = malloc (sizeof *self);

  if (self == NULL)
    return NULL;
  memcpy (self->code, code, n_code * sizeof *code);
  self->n_code = (uint32_t) n_code;
  self->n_pages = (uint32_t) n_pages;
  self->start = first << UNWIND_PAGE_SHIFT;
  self->size = directory_end (self->n_pages);
  self->capacity = self->size + 64 * 1024;
  self->n_rows = 0;
  self->n_escapes = 0;
  self->is_out_of_memory = false;
  self->rule_in_force = RULE_NONE;
  self->bytes = calloc (1, self->capacity);
  if (self->bytes == NULL)
    {
      free (self);
      return NULL;
    }

  begin_page (self, 0);
  return self;
}

void
sysprof_table_builder_free (TableBuilder *self)
{
  if (self != NULL)
    free (self->bytes);
  free (self);
}

static void
go_to_page (TableBuilder *self, uint32_t page)
{
  while (self->page < page)
    {
      end_page (self);
      begin_page (self, self->page + 1);
    }
}

void
sysprof_table_builder_add (TableBuilder *self, uint64_t address, uint32_t rule)
{
  uint64_t page = (address - self->start) >> UNWIND_PAGE_SHIFT;

  if (rule == self->rule_in_force || page >= self->n_pages)
    return;

  go_to_page (self, (uint32_t) page);
  push_row (self, (uint32_t) (address - self->start) & (UNWIND_PAGE_SIZE - 1), rule);
  self->rule_in_force = rule;
}

uint32_t
sysprof_table_builder_rule (const TableBuilder *self)
{
  return self->rule_in_force;
}

ElfStatus
sysprof_table_builder_finish (TableBuilder *self, UnwindTableHeader header, UnwindTable *table)
{
  go_to_page (self, self->n_pages - 1);
  end_page (self);
  if (self->is_out_of_memory)
    return ELF_NO_MEMORY;

  header.magic = UNWIND_TABLE_MAGIC;
  header.start = self->start;
  header.n_segments = self->n_code;
  memcpy (header.segment, self->code, self->n_code * sizeof *self->code);
  header.n_pages = self->n_pages;
  header.n_rows = (uint32_t) self->n_rows;
  header.n_escapes = (uint32_t) self->n_escapes;
  memcpy (self->bytes, &header, sizeof header);

  *table = (UnwindTable){
    .header = (const UnwindTableHeader *) (const void *) self->bytes,
    .block = directory (self->bytes),
    .bytes = self->bytes,
    .size = self->size,
  };
  self->bytes = NULL;
  self->capacity = self->size = 0;
  return ELF_OK;
}

/* --- tables as bytes --- */

/* Checks for damage that would make a reader read outside the block. The rows themselves may be
 * wrong. */
static bool
is_sound_block (const uint8_t *bytes, size_t size, uint32_t offset, size_t *block_size)
{
  const uint16_t *first = (const uint16_t *) (const void *) (bytes + offset);

  if ((offset & 3) != 0 || offset > size || size - offset < UNWIND_RULES_OFFSET)
    return false;
  if (first[UNWIND_BLOCKS + 1] > UNWIND_MOST_RULES)
    return false;
  for (uint32_t i = 0; i < UNWIND_BLOCKS; i++)
    if (first[i] > first[i + 1])
      return false;

  *block_size = UNWIND_BLOCK_SIZE (first[UNWIND_BLOCKS + 1], first[UNWIND_BLOCKS]);
  return *block_size <= size - offset;
}

bool
sysprof_unwind_table_adopt (UnwindTable *table, uint8_t *bytes, size_t size)
{
  const UnwindTableHeader *header = (const UnwindTableHeader *) (const void *) bytes;
  size_t end;

  if (size < sizeof *header || size > UINT32_MAX || header->magic != UNWIND_TABLE_MAGIC ||
      header->build_id_size > UNWIND_MOST_BUILD_ID ||
      header->n_segments > UNWIND_MOST_SEGMENTS || header->n_pages == 0 ||
      header->n_pages > UNWIND_MOST_PAGES || (header->start & (UNWIND_PAGE_SIZE - 1)) != 0 ||
      header->n_pages > (UINT64_MAX - header->start) >> UNWIND_PAGE_SHIFT)
    goto refuse;
  end = directory_end (header->n_pages);
  if (end > size)
    goto refuse;

  /* Ascending and disjoint, so that no more is stored than was sent. */
  for (uint32_t i = 0; i < header->n_pages; i++)
    {
      uint32_t offset = directory (bytes)[i];
      size_t block_size;

      if (offset == 0)
        continue;
      if (offset < end || !is_sound_block (bytes, size, offset, &block_size))
        goto refuse;
      end = offset + block_size;
    }

  *table = (UnwindTable){
    .header = header, .block = directory (bytes), .bytes = bytes, .size = size
  };
  return true;

refuse:
  free (bytes);
  return false;
}

void
sysprof_unwind_table_clear (UnwindTable *table)
{
  free (table->bytes);
  *table = (UnwindTable){ 0 };
}

/* The kernel maps complete pages, so a mapping may begin and end a little outside its
 * segment. */
bool
sysprof_unwind_table_bias (const UnwindTable *table,
                           uint64_t start,
                           uint64_t end,
                           uint64_t offset,
                           uint64_t *bias)
{
  for (uint32_t i = 0; i < table->header->n_segments; i++)
    {
      const ElfCode *segment = &table->header->segment[i];
      uint64_t segment_end = segment->offset + (segment->end - segment->start);

      if (offset >= segment_end || segment->offset >= offset + (end - start))
        continue;
      *bias = start - offset + segment->offset - segment->start;
      return true;
    }
  return false;
}

size_t
sysprof_unwind_table_block_size (const UnwindTable *table, uint32_t page)
{
  const uint16_t *first;

  if (page >= table->header->n_pages || table->block[page] == 0)
    return 0;
  first = (const uint16_t *) (const void *) (table->bytes + table->block[page]);
  return UNWIND_BLOCK_SIZE (first[UNWIND_BLOCKS + 1], first[UNWIND_BLOCKS]);
}
