// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads lists of ranges: .debug_ranges up to version 4, .debug_rnglists since version 5. */

#include "dwarf/unit.h"

#define MAX_RANGES 65536 /* of one entry */

static uint64_t
read_old_list (Unit *unit, uint64_t base, uint64_t offset, RangeFunc func, void *closure)
{
  DwarfFile *file = unit->file->main != NULL ? unit->file->main : unit->file;
  Cursor cursor = sysprof_dwarf_file_cursor (file, SECTION_RANGES, offset);
  uint64_t largest = unit->address_size == 4 ? UINT32_MAX : UINT64_MAX;
  uint64_t n;

  for (n = 0; n < MAX_RANGES; n++)
    {
      uint64_t start = cursor_uint (&cursor, unit->address_size);
      uint64_t end = cursor_uint (&cursor, unit->address_size);

      if (cursor.is_bad || (start == 0 && end == 0))
        break;
      if (start == largest)
        base = end;
      else if (start < end)
        func (closure, base + start, base + end);
    }
  return n;
}

/* Reads an entry of a list; FALSE at its end. */
static bool
take_range (Cursor *cursor, Unit *unit, uint64_t *base, uint64_t *start, uint64_t *end)
{
  uint64_t from, to;

  *start = *end = 0;
  switch (cursor_u8 (cursor))
    {
    case DW_RLE_BASE_ADDRESSX:
      return sysprof_dwarf_address_at (unit, cursor_uleb128 (cursor), base);
    case DW_RLE_STARTX_ENDX:
      from = cursor_uleb128 (cursor);
      to = cursor_uleb128 (cursor);
      return sysprof_dwarf_address_at (unit, from, start) &&
             sysprof_dwarf_address_at (unit, to, end);
    case DW_RLE_STARTX_LENGTH:
      from = cursor_uleb128 (cursor);
      to = cursor_uleb128 (cursor);
      if (!sysprof_dwarf_address_at (unit, from, start))
        return false;
      *end = *start + to;
      return true;
    case DW_RLE_OFFSET_PAIR:
      *start = *base + cursor_uleb128 (cursor);
      *end = *base + cursor_uleb128 (cursor);
      return true;
    case DW_RLE_BASE_ADDRESS:
      *base = cursor_uint (cursor, unit->address_size);
      return true;
    case DW_RLE_START_END:
      *start = cursor_uint (cursor, unit->address_size);
      *end = cursor_uint (cursor, unit->address_size);
      return true;
    case DW_RLE_START_LENGTH:
      *start = cursor_uint (cursor, unit->address_size);
      *end = *start + cursor_uleb128 (cursor);
      return true;
    default:
      return false; /* the end, or an unknown entry */
    }
}

static uint64_t
read_list (Unit *unit, uint64_t base, uint64_t offset, RangeFunc func, void *closure)
{
  Cursor cursor = sysprof_dwarf_file_cursor (unit->file, SECTION_RNGLISTS, offset);
  uint64_t start, end, n;

  for (n = 0;
       n < MAX_RANGES && !cursor.is_bad && take_range (&cursor, unit, &base, &start, &end); n++)
    if (!cursor.is_bad && start < end)
      func (closure, start, end);
  return n;
}

uint64_t
sysprof_dwarf_for_each_range (Unit *unit,
                              const Unit *skeleton,
                              uint16_t form,
                              uint64_t number,
                              RangeFunc func,
                              void *closure)
{
  uint64_t base = skeleton->root.has_pc ? skeleton->root.low_pc : 0;
  uint64_t offset = number;

  if (unit->version < 5)
    {
      /* In split units, offsets are relative to a base in the skeleton. */
      if (unit->file->is_split &&
          __builtin_add_overflow (offset, skeleton->ranges_base, &offset))
        return 0;
      return read_old_list (unit, base, offset, func, closure);
    }

  if (form == DW_FORM_RNGLISTX)
    {
      unsigned size = sysprof_dwarf_unit_offset_size (unit);
      Cursor cursor =
          sysprof_dwarf_file_cursor (unit->file, SECTION_RNGLISTS, unit->rnglists_base);

      if (__builtin_mul_overflow (number, size, &offset))
        return 0;
      cursor_skip (&cursor, offset);
      offset = cursor_uint (&cursor, size);
      if (cursor.is_bad || __builtin_add_overflow (offset, unit->rnglists_base, &offset))
        return 0;
    }
  return read_list (unit, base, offset, func, closure);
}
