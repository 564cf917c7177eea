// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads a file with debug information: its sections, the headers of its units, and the index of
 * a package of split units. */

#include "dwarf/unit.h"

#include <stdlib.h>

#define MAX_UNITS (UINT32_C (1) << 22)

static const char *const section_names[N_SECTIONS][2] = {
  [SECTION_INFO] = { ".debug_info", ".debug_info.dwo" },
  [SECTION_ABBREV] = { ".debug_abbrev", ".debug_abbrev.dwo" },
  [SECTION_STR] = { ".debug_str", ".debug_str.dwo" },
  [SECTION_LINE] = { ".debug_line", ".debug_line.dwo" },
  [SECTION_LINE_STR] = { ".debug_line_str", ".debug_line_str.dwo" },
  [SECTION_RANGES] = { ".debug_ranges", ".debug_ranges.dwo" },
  [SECTION_RNGLISTS] = { ".debug_rnglists", ".debug_rnglists.dwo" },
  [SECTION_ADDR] = { ".debug_addr", ".debug_addr" },
  [SECTION_STR_OFFSETS] = { ".debug_str_offsets", ".debug_str_offsets.dwo" },
  [SECTION_ARANGES] = { ".debug_aranges", ".debug_aranges" },
  [SECTION_UNIT_INDEX] = { ".debug_cu_index", ".debug_cu_index" },
};

const Section *
sysprof_dwarf_file_section (DwarfFile *self, SectionId id)
{
  Section *section = &self->section[id];
  ElfFrames content = { 0 };
  ElfStatus status;

  if (section->is_read)
    return section;

  section->is_read = true;
  status =
      sysprof_elf_image_read_named (self->image, section_names[id][self->is_split], &content);
  section->is_over_limit = status == ELF_TOO_LARGE;
  if (status == ELF_OK)
    {
      section->bytes = content.bytes;
      section->size = content.size;
    }
  return section;
}

Cursor
sysprof_dwarf_file_cursor (DwarfFile *self, SectionId id, uint64_t offset)
{
  const Section *section = sysprof_dwarf_file_section (self, id);
  Cursor cursor = { .is_swapped = self->is_swapped };

  if (section->bytes == NULL || offset > section->size)
    {
      cursor.is_bad = true;
      return cursor;
    }

  cursor.at = section->bytes + offset;
  cursor.end = section->bytes + section->size;
  return cursor;
}

bool
sysprof_dwarf_take_length (Cursor *cursor, bool *is_64, const uint8_t **end)
{
  uint64_t length = cursor_u32 (cursor);

  *is_64 = length == UINT32_MAX;
  if (*is_64)
    length = cursor_u64 (cursor);
  else if (length >= 0xfffffff0)
    return false; /* reserved */
  if (cursor->is_bad || length > cursor_left (cursor))
    return false;

  *end = cursor->at + length;
  return true;
}

/* Reads the header of the unit at the cursor, and moves the cursor to after the unit. */
static bool
take_unit (DwarfFile *self, Cursor *cursor, Unit *unit)
{
  const uint8_t *first = self->section[SECTION_INFO].bytes;
  const uint8_t *end;
  Cursor header;

  *unit = (Unit){ .file = self, .offset = (uint64_t) (cursor->at - first) };
  if (!sysprof_dwarf_take_length (cursor, &unit->is_64, &end))
    return false;

  header = *cursor;
  header.end = end;
  cursor->at = end;
  unit->end = (uint64_t) (end - first);
  unit->version = (uint8_t) cursor_u16 (&header);
  if (unit->version >= 5)
    {
      unit->type = cursor_u8 (&header);
      unit->address_size = cursor_u8 (&header);
      unit->abbrev_offset = cursor_uint (&header, sysprof_dwarf_unit_offset_size (unit));
      if (unit->type == DW_UT_SKELETON || unit->type == DW_UT_SPLIT_COMPILE)
        unit->dwo_id = cursor_u64 (&header);
      else if (unit->type == DW_UT_TYPE || unit->type == DW_UT_SPLIT_TYPE)
        cursor_skip (&header, 8 + sysprof_dwarf_unit_offset_size (unit));
    }
  else
    {
      unit->type = DW_UT_COMPILE;
      unit->abbrev_offset = cursor_uint (&header, sysprof_dwarf_unit_offset_size (unit));
      unit->address_size = cursor_u8 (&header);
    }
  unit->entries = (uint64_t) (header.at - first);

  /* An unsupported unit stays in the list, without entries. */
  if (header.is_bad || unit->version < 2 || unit->version > 5 ||
      (unit->address_size != 4 && unit->address_size != 8))
    unit->entries = unit->end;
  return true;
}

static Unit *
append_unit (DwarfFile *self)
{
  if ((self->n_units & (self->n_units - 1)) == 0)
    {
      size_t capacity = self->n_units == 0 ? 1 : 2 * self->n_units;
      Unit *larger = realloc (self->units, capacity * sizeof (Unit));

      if (larger == NULL)
        return NULL;
      self->units = larger;
    }
  return &self->units[self->n_units];
}

ElfStatus
sysprof_dwarf_file_find_units (DwarfFile *self)
{
  Cursor cursor = sysprof_dwarf_file_cursor (self, SECTION_INFO, 0);

  if (cursor.is_bad)
    return ELF_ABSENT;

  while (cursor_left (&cursor) > 0)
    {
      Unit *unit = append_unit (self);

      if (unit == NULL)
        return ELF_NO_MEMORY;
      if (self->n_units == MAX_UNITS || !take_unit (self, &cursor, unit))
        break; /* the units before it are usable */
      self->n_units++;
    }
  return ELF_OK;
}

Unit *
sysprof_dwarf_file_find_unit (DwarfFile *self, uint64_t offset)
{
  size_t low = 0, high = self->n_units;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;

      if (self->units[middle].offset <= offset)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0 || offset < self->units[low - 1].entries || offset >= self->units[low - 1].end)
    return NULL;
  return &self->units[low - 1];
}

/* The header and hash table of the index: version 2 of GNU, 5 of the standard. They are
 * followed by a row of column names, and a row of offsets per unit. */
typedef struct
{
  uint32_t version;
  uint32_t n_columns;
  uint32_t n_units;
  uint32_t n_slots;
  Cursor ids;     /* [n_slots] 8 bytes */
  Cursor rows;    /* [n_slots] 4 bytes, from 1 */
  Cursor columns; /* [n_columns] 4 bytes */
  Cursor offsets; /* [n_units][n_columns] 4 bytes */
} UnitIndex;

static Cursor
slice (Cursor *cursor, uint64_t size)
{
  Cursor part = *cursor;

  cursor_skip (cursor, size);
  part.end = cursor->is_bad ? part.at : cursor->at;
  return part;
}

static bool
read_index (DwarfFile *self, UnitIndex *index)
{
  Cursor cursor = sysprof_dwarf_file_cursor (self, SECTION_UNIT_INDEX, 0);

  /* The standard's version has 2 bytes and 2 bytes of padding. */
  index->version = cursor_u16 (&cursor);
  (void) cursor_u16 (&cursor);
  if (index->version == 0 && self->is_swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
    index->version = 2; /* of 4 bytes, big-endian */
  index->n_columns = cursor_u32 (&cursor);
  index->n_units = cursor_u32 (&cursor);
  index->n_slots = cursor_u32 (&cursor);
  if (cursor.is_bad || (index->version != 2 && index->version != 5) || index->n_columns > 64)
    return false;

  index->ids = slice (&cursor, UINT64_C (8) * index->n_slots);
  index->rows = slice (&cursor, UINT64_C (4) * index->n_slots);
  index->columns = slice (&cursor, UINT64_C (4) * index->n_columns);
  index->offsets = slice (&cursor, UINT64_C (4) * index->n_columns * index->n_units);
  return !cursor.is_bad;
}

/* The row of the unit, or 0: open addressing as in section 7.3.5.3 of the standard. */
static uint32_t
find_row (const UnitIndex *index, uint64_t dwo_id)
{
  uint64_t mask = index->n_slots - 1;
  uint64_t at = dwo_id & mask;
  uint64_t step = ((dwo_id >> 32) & mask) | 1;

  if (index->n_slots == 0 || (index->n_slots & mask) != 0)
    return 0;

  for (uint32_t i = 0; i < index->n_slots; i++, at = (at + step) & mask)
    {
      Cursor id = index->ids, row = index->rows;
      uint32_t number;

      cursor_skip (&id, at * 8);
      cursor_skip (&row, at * 4);
      number = cursor_u32 (&row);
      if (number == 0)
        return 0;
      if (cursor_u64 (&id) == dwo_id)
        return number <= index->n_units ? number : 0;
    }
  return 0;
}

bool
sysprof_dwarf_file_find_packaged (DwarfFile *self, uint64_t dwo_id)
{
  uint64_t base[DW_SECT_RNGLISTS + 1] = { 0 };
  UnitIndex index;
  Cursor cursor;
  uint32_t row;
  Unit *unit;

  if (!read_index (self, &index))
    return false;
  row = find_row (&index, dwo_id);
  if (row == 0)
    return false;

  cursor_skip (&index.offsets, UINT64_C (4) * index.n_columns * (row - 1));
  for (uint32_t i = 0; i < index.n_columns; i++)
    {
      uint32_t column = cursor_u32 (&index.columns);
      uint32_t offset = cursor_u32 (&index.offsets);

      if (column <= DW_SECT_RNGLISTS)
        base[column] = offset;
    }

  self->n_units = 0;
  unit = append_unit (self);
  cursor = sysprof_dwarf_file_cursor (self, SECTION_INFO, base[DW_SECT_INFO]);
  if (unit == NULL || cursor.is_bad || !take_unit (self, &cursor, unit))
    return false;

  unit->abbrev_offset += base[DW_SECT_ABBREV];
  unit->strings_base = base[DW_SECT_STR_OFFSETS];
  unit->rnglists_base = index.version == 5 ? base[DW_SECT_RNGLISTS] : 0;
  self->n_units = 1;
  return true;
}

ElfStatus
sysprof_dwarf_file_init (DwarfFile *self, ElfImage *image, bool is_split)
{
  self->image = image;
  self->is_split = is_split;
  self->is_swapped = sysprof_elf_image_is_swapped (image);
  if (sysprof_dwarf_file_section (self, SECTION_INFO)->bytes != NULL)
    return ELF_OK;
  return self->section[SECTION_INFO].is_over_limit ? ELF_TOO_LARGE : ELF_ABSENT;
}

void
sysprof_dwarf_file_clear (DwarfFile *self)
{
  for (size_t i = 0; i < N_SECTIONS; i++)
    free (self->section[i].bytes);
  for (size_t i = 0; i < N_ABBREV_TABLES; i++)
    sysprof_dwarf_abbrevs_clear (&self->abbrevs[i]);
  free (self->units);
  if (self->owns_image)
    sysprof_elf_image_free (self->image);
  *self = (DwarfFile){ 0 };
}
