// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the unit that contains an address. Source: DWARF 5, section 6.1.2. */

#include "dwarf/unit-ranges.h"

#include <stdlib.h>

#define MAX_RANGES (UINT32_C (1) << 24) /* of all units */
/* overlapping ranges that are examined before an address */
#define MOST_BACK 64

typedef struct
{
  UnitRanges *ranges;
  uint32_t unit;
} RangeOwner;

static void
append_range (void *closure, uint64_t start, uint64_t end)
{
  RangeOwner *owner = closure;
  UnitRanges *self = owner->ranges;

  if (start >= end || self->n >= MAX_RANGES)
    return;
  if (self->n == self->capacity)
    {
      size_t capacity = self->capacity == 0 ? 256 : 2 * self->capacity;
      UnitRange *larger = realloc (self->range, capacity * sizeof (UnitRange));

      if (larger == NULL)
        {
          self->has_no_memory = true;
          return;
        }
      self->range = larger;
      self->capacity = capacity;
    }
  self->range[self->n++] = (UnitRange){ start, end, 0, owner->unit };
}

static int
compare_ranges (const void *a, const void *b)
{
  const UnitRange *left = a, *right = b;

  if (left->start != right->start)
    return left->start < right->start ? -1 : 1;
  /* The narrower range last: it is examined first. */
  return (left->end < right->end) - (left->end > right->end);
}

static void
sort_ranges (UnitRanges *self)
{
  uint64_t furthest = 0;

  if (self->n == 0)
    return;
  qsort (self->range, self->n, sizeof (UnitRange), compare_ranges);
  for (size_t i = 0; i < self->n; i++)
    {
      if (self->range[i].end > furthest)
        furthest = self->range[i].end;
      self->range[i].furthest = furthest;
    }
}

/* Reads one set of .debug_aranges. The cursor is after its length. */
static void
take_set (UnitRanges *self, DwarfFile *file, Cursor set, const uint8_t *start, bool is_64)
{
  uint16_t version = cursor_u16 (&set);
  uint64_t offset = cursor_uint (&set, is_64 ? 8 : 4);
  uint8_t address_size = cursor_u8 (&set);
  uint8_t segment_size = cursor_u8 (&set);
  Unit *unit;
  uint64_t misaligned;

  if (set.is_bad || version != 2 || (address_size != 4 && address_size != 8) ||
      segment_size != 0 || file->n_units == 0)
    return;
  /* The offset is that of a unit's header. */
  unit = sysprof_dwarf_file_find_unit (file, offset + (is_64 ? 24 : 12));
  if (unit == NULL || unit->offset != offset)
    return;

  unit->is_ranged = true;
  misaligned = (uint64_t) (set.at - start) % (2u * address_size);
  cursor_skip (&set, misaligned == 0 ? 0 : 2u * address_size - misaligned);
  while (cursor_left (&set) > 0)
    {
      uint64_t from = cursor_uint (&set, address_size);
      uint64_t size = cursor_uint (&set, address_size);
      uint64_t to;

      if (set.is_bad || (from == 0 && size == 0))
        break;
      if (!__builtin_add_overflow (from, size, &to))
        append_range (&(RangeOwner){ self, (uint32_t) (unit - file->units) }, from, to);
    }
}

void
sysprof_dwarf_unit_ranges_read (UnitRanges *self, DwarfFile *file)
{
  Cursor cursor = sysprof_dwarf_file_cursor (file, SECTION_ARANGES, 0);

  while (cursor_left (&cursor) > 0)
    {
      const uint8_t *start = cursor.at, *end;
      Cursor set;
      bool is_64;

      if (!sysprof_dwarf_take_length (&cursor, &is_64, &end))
        break;
      set = cursor;
      set.end = end;
      take_set (self, file, set, start, is_64);
      cursor.at = end;
    }
  sort_ranges (self);
}

static void
read_unit_ranges (UnitRanges *self, DwarfFile *file)
{
  self->has_unit_ranges = true;
  for (size_t i = 0; i < file->n_units; i++)
    {
      Unit *unit = &file->units[i];
      const Root *root;
      RangeOwner owner = { self, (uint32_t) i };

      if (unit->is_ranged || unit->type == DW_UT_TYPE || unit->type == DW_UT_PARTIAL)
        continue;
      root = sysprof_dwarf_unit_root (unit);
      if (!root->is_sound || root->tag == DW_TAG_PARTIAL_UNIT)
        continue;
      if (root->has_ranges)
        (void) sysprof_dwarf_for_each_range (unit, unit, root->ranges_form, root->ranges,
                                             append_range, &owner);
      else if (root->has_pc)
        append_range (&owner, root->low_pc, root->high_pc);
    }
  sort_ranges (self);
}

/* The index of the unit, or UINT32_MAX. */
static uint32_t
find_unit (const UnitRanges *self, uint64_t address)
{
  size_t low = 0, high = self->n;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;

      if (self->range[middle].start <= address)
        low = middle + 1;
      else
        high = middle;
    }
  for (size_t back = 0; back < MOST_BACK && low > 0; back++, low--)
    {
      if (self->range[low - 1].end > address)
        return self->range[low - 1].unit;
      if (self->range[low - 1].furthest <= address)
        break;
    }
  return UINT32_MAX;
}

uint32_t
sysprof_dwarf_unit_ranges_find (UnitRanges *self, DwarfFile *file, uint64_t address)
{
  uint32_t unit = find_unit (self, address);

  if (unit != UINT32_MAX || self->has_unit_ranges)
    return unit;

  read_unit_ranges (self, file);
  return find_unit (self, address);
}

void
sysprof_dwarf_unit_ranges_clear (UnitRanges *self)
{
  free (self->range);
  *self = (UnitRanges){ 0 };
}
