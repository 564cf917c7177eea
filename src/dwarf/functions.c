// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the entries of a unit once, and finds for ascending addresses the function and the
 * inlined calls around each. Skips entries whose code contains none of the addresses. */

#include "dwarf/unit.h"

#include <stdlib.h>

#define MAX_DEPTH 1024 /* of nested entries; deeper ones count as those at this depth */
#define MAX_CALLS (UINT32_C (1) << 24)

/* The attributes of a function or an inlined call. */
typedef struct
{
  bool has_low;
  bool has_high;
  bool is_high_absolute;
  uint64_t low;
  uint64_t high;
  uint16_t ranges_form; /* 0 = none */
  uint64_t ranges;
  uint64_t call_file;
  uint64_t call_line;
} CodeEntry;

/* The call whose ranges are being read. */
typedef struct
{
  Functions *functions;
  uint32_t call;   /* its index, once it contains an address */
  uint32_t parent; /* the call that must directly contain an inlined one */
  bool is_inlined;
  uint64_t entry;
  const CodeEntry *code;
} Claim;

static uint32_t
append_call (Functions *self, const Claim *claim)
{
  uint64_t file = claim->code->call_file, line = claim->code->call_line;

  if (self->n_calls == self->capacity)
    {
      size_t capacity = self->capacity == 0 ? 64 : 2 * self->capacity;
      Call *larger =
          capacity > MAX_CALLS ? NULL : realloc (self->call, capacity * sizeof (Call));

      if (larger == NULL)
        {
          self->has_no_memory = true;
          return 0;
        }
      self->call = larger;
      self->capacity = capacity;
    }
  if (self->n_calls == 0)
    self->call[self->n_calls++] = (Call){ 0 };

  self->call[self->n_calls] = (Call){
    .parent = claim->parent,
    .depth = claim->is_inlined ? self->call[claim->parent].depth + 1 : 0,
    .is_inlined = claim->is_inlined,
    .entry = claim->entry,
    .call_file = (uint32_t) (file > UINT32_MAX ? UINT32_MAX : file),
    .call_line = (uint32_t) (line > UINT32_MAX ? 0 : line),
  };
  return (uint32_t) self->n_calls++;
}

static size_t
find_first (const Functions *self, uint64_t start)
{
  size_t low = 0, high = self->n;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;

      if (self->addresses[middle] < start)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* A function contains the addresses that no narrower one contains; an inlined call only those
 * that its caller contains. */
static void
claim_range (void *closure, uint64_t start, uint64_t end)
{
  Claim *claim = closure;
  Functions *self = claim->functions;

  for (size_t i = find_first (self, start); i < self->n && self->addresses[i] < end; i++)
    {
      self->work++;
      if (claim->is_inlined)
        {
          if (self->innermost[i] != claim->parent)
            continue;
        }
      else if (self->innermost[i] != 0 && self->end[i] - self->start[i] <= end - start)
        continue;

      if (claim->call == 0)
        claim->call = append_call (self, claim);
      if (claim->call == 0)
        return;
      self->innermost[i] = claim->call;
      if (!claim->is_inlined)
        {
          self->start[i] = start;
          self->end[i] = end;
        }
    }
}

static bool
is_read (uint16_t name)
{
  return name == DW_AT_LOW_PC || name == DW_AT_HIGH_PC || name == DW_AT_RANGES ||
         name == DW_AT_CALL_FILE || name == DW_AT_CALL_LINE;
}

static void
read_code_entry (Cursor *cursor,
                 const Unit *unit,
                 const AttributeSpec *specs,
                 size_t n,
                 CodeEntry *code)
{
  *code = (CodeEntry){ 0 };
  for (size_t i = 0; i < n; i++)
    {
      Value value;

      if (!is_read (specs[i].name))
        {
          sysprof_dwarf_skip_value (cursor, unit, specs[i].form);
          continue;
        }
      sysprof_dwarf_take_value (cursor, unit, specs[i].form, specs[i].constant, &value);
      switch (specs[i].name)
        {
        case DW_AT_LOW_PC:
          code->has_low = sysprof_dwarf_value_address (&value, unit, &code->low);
          break;
        case DW_AT_HIGH_PC:
          code->is_high_absolute = sysprof_dwarf_value_is_address (&value);
          code->has_high = true;
          code->high = value.number;
          if (code->is_high_absolute)
            code->has_high = sysprof_dwarf_value_address (&value, unit, &code->high);
          break;
        case DW_AT_RANGES:
          code->ranges_form = value.form;
          code->ranges = value.number;
          break;
        case DW_AT_CALL_FILE:
          code->call_file = value.number;
          break;
        case DW_AT_CALL_LINE:
          code->call_line = value.number;
          break;
        default:
          break;
        }
    }
}

/* The index of the call if it contains any address, else 0. */
static uint32_t
claim_code (Functions *self, Unit *unit, const Unit *skeleton, Claim *claim)
{
  const CodeEntry *code = claim->code;

  claim->functions = self;
  if (code->ranges_form != 0)
    {
      self->work += sysprof_dwarf_for_each_range (unit, skeleton, code->ranges_form,
                                                  code->ranges, claim_range, claim);
    }
  else if (code->has_low && code->has_high)
    {
      uint64_t end = code->high;

      if (!code->is_high_absolute && __builtin_add_overflow (code->low, end, &end))
        return 0;
      if (code->low < end)
        claim_range (claim, code->low, end);
    }
  return claim->call;
}

static void
skip_entry (Cursor *cursor, const Unit *unit, const Abbrev *abbrev, const AttributeSpec *specs)
{
  if (abbrev->is_fixed)
    {
      cursor_skip (cursor, (uint64_t) abbrev->fixed_bytes +
                               (uint64_t) abbrev->fixed_addresses * unit->address_size +
                               (uint64_t) abbrev->fixed_offsets *
                                   sysprof_dwarf_unit_offset_size (unit));
      return;
    }

  for (uint32_t i = 0; i < abbrev->n; i++)
    sysprof_dwarf_skip_value (cursor, unit, specs[i].form);
}

/* The call that contains the children of this function or inlined call; 0 = none with an
 * address. */
static uint32_t
enter_code (Functions *self,
            Unit *unit,
            const Unit *skeleton,
            uint32_t around,
            const Abbrev *abbrev,
            uint64_t entry,
            const CodeEntry *code)
{
  Claim claim = {
    .parent = around,
    .is_inlined = abbrev->tag == DW_TAG_INLINED_SUBROUTINE,
    .entry = entry,
    .code = code,
  };

  if (!claim.is_inlined)
    claim.parent = 0; /* a nested function: its code is its own */
  else if (self->call[around].depth >= DWARF_MAX_INLINES - 1)
    {
      self->is_over_limit = true;
      return 0;
    }
  return claim_code (self, unit, skeleton, &claim);
}

void
sysprof_dwarf_functions_find (Functions *self, Unit *unit, Unit *skeleton)
{
  const Section *section = sysprof_dwarf_file_section (unit->file, SECTION_INFO);
  AbbrevTable *abbrevs = sysprof_dwarf_file_abbrevs (unit->file, unit->abbrev_offset);
  uint32_t around[MAX_DEPTH]; /* by depth: the call that contains the entries */
  size_t depth = 0;
  Cursor cursor;

  if (abbrevs == NULL || section->bytes == NULL)
    return;

  abbrevs->n_users++;
  around[0] = 0;
  cursor = sysprof_dwarf_file_cursor (unit->file, SECTION_INFO, unit->entries);
  cursor.end = section->bytes + unit->end;
  while (cursor_left (&cursor) > 0 && self->work < self->most_work && !self->has_no_memory)
    {
      uint64_t offset = (uint64_t) (cursor.at - section->bytes);
      uint64_t code_number = cursor_uleb128 (&cursor);
      const Abbrev *abbrev;
      const AttributeSpec *specs;
      uint32_t inside = around[depth < MAX_DEPTH ? depth : MAX_DEPTH - 1];

      self->work++;
      if (code_number == 0)
        {
          if (depth <= 1)
            break; /* the root's children end */
          depth--;
          continue;
        }
      abbrev = sysprof_dwarf_abbrevs_find (abbrevs, code_number);
      if (abbrev == NULL)
        break;

      specs = abbrevs->attribute + abbrev->first;
      self->work += abbrev->n;
      if (abbrev->tag == DW_TAG_SUBPROGRAM ||
          (abbrev->tag == DW_TAG_INLINED_SUBROUTINE && inside != 0))
        {
          CodeEntry code;

          read_code_entry (&cursor, unit, specs, abbrev->n, &code);
          if (!cursor.is_bad)
            inside = enter_code (self, unit, skeleton, inside, abbrev, offset, &code);
        }
      else
        {
          skip_entry (&cursor, unit, abbrev, specs);
        }
      if (cursor.is_bad)
        break;

      if (abbrev->has_children)
        {
          depth++;
          if (depth < MAX_DEPTH)
            around[depth] = inside;
        }
      else if (depth == 0)
        break; /* a root without children */
    }
  abbrevs->n_users--;
}
