// SPDX-License-Identifier: GPL-3.0-or-later

/* The address ranges of the units of a file. */

#pragma once

#include "dwarf/unit.h"

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t furthest; /* the highest end of this range and all before it */
  uint32_t unit;     /* index */
} UnitRange;

typedef struct
{
  UnitRange *range; /* [n] by start */
  size_t n;
  size_t capacity;
  bool has_unit_ranges; /* includes the units that .debug_aranges omits */
  bool has_no_memory;
} UnitRanges;

/* Reads .debug_aranges. */
void sysprof_dwarf_unit_ranges_read (UnitRanges *self, DwarfFile *file);
void sysprof_dwarf_unit_ranges_clear (UnitRanges *self);

/* The index of the unit with that address, or UINT32_MAX. If .debug_aranges omits the address,
 * the units' own ranges are read, once. */
uint32_t sysprof_dwarf_unit_ranges_find (UnitRanges *self, DwarfFile *file, uint64_t address);
