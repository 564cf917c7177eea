// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the values of attributes in all forms, and the root entry of a unit. */

#include "dwarf/unit.h"

void
sysprof_dwarf_take_value (Cursor *cursor,
                          const Unit *unit,
                          uint16_t form,
                          int64_t constant,
                          Value *value)
{
  *value = (Value){ .form = form };
  if (form == DW_FORM_INDIRECT)
    {
      uint64_t real = cursor_uleb128 (cursor);

      /* Another indirection, or a constant without a value here, is invalid. */
      if (real > UINT16_MAX || real == DW_FORM_INDIRECT || real == DW_FORM_IMPLICIT_CONST)
        {
          cursor_fail (cursor);
          return;
        }
      value->form = form = (uint16_t) real;
    }

  switch (form)
    {
    case DW_FORM_ADDR:
      value->number = cursor_uint (cursor, unit->address_size);
      break;
    case DW_FORM_STRP:
    case DW_FORM_SEC_OFFSET:
    case DW_FORM_LINE_STRP:
    case DW_FORM_STRP_SUP:
    case DW_FORM_GNU_REF_ALT:
    case DW_FORM_GNU_STRP_ALT:
      value->number = cursor_uint (cursor, sysprof_dwarf_unit_offset_size (unit));
      break;
    case DW_FORM_REF_ADDR:
      value->number =
          cursor_uint (cursor, unit->version <= 2 ? unit->address_size
                                                  : sysprof_dwarf_unit_offset_size (unit));
      break;
    case DW_FORM_DATA1:
    case DW_FORM_FLAG:
    case DW_FORM_REF1:
    case DW_FORM_STRX1:
    case DW_FORM_ADDRX1:
      value->number = cursor_u8 (cursor);
      break;
    case DW_FORM_DATA2:
    case DW_FORM_REF2:
    case DW_FORM_STRX2:
    case DW_FORM_ADDRX2:
      value->number = cursor_u16 (cursor);
      break;
    case DW_FORM_STRX3:
    case DW_FORM_ADDRX3:
      value->number = cursor_uint (cursor, 3);
      break;
    case DW_FORM_DATA4:
    case DW_FORM_REF4:
    case DW_FORM_STRX4:
    case DW_FORM_ADDRX4:
    case DW_FORM_REF_SUP4:
      value->number = cursor_u32 (cursor);
      break;
    case DW_FORM_DATA8:
    case DW_FORM_REF8:
    case DW_FORM_REF_SIG8:
    case DW_FORM_REF_SUP8:
      value->number = cursor_u64 (cursor);
      break;
    case DW_FORM_DATA16:
      cursor_skip (cursor, 16);
      break;
    case DW_FORM_SDATA:
      value->number = (uint64_t) cursor_sleb128 (cursor);
      break;
    case DW_FORM_UDATA:
    case DW_FORM_REF_UDATA:
    case DW_FORM_STRX:
    case DW_FORM_ADDRX:
    case DW_FORM_LOCLISTX:
    case DW_FORM_RNGLISTX:
    case DW_FORM_GNU_ADDR_INDEX:
    case DW_FORM_GNU_STR_INDEX:
      value->number = cursor_uleb128 (cursor);
      break;
    case DW_FORM_STRING:
      value->string = cursor_string (cursor);
      break;
    case DW_FORM_FLAG_PRESENT:
      value->number = 1;
      break;
    case DW_FORM_IMPLICIT_CONST:
      value->number = (uint64_t) constant;
      break;
    case DW_FORM_BLOCK1:
      cursor_skip (cursor, cursor_u8 (cursor));
      break;
    case DW_FORM_BLOCK2:
      cursor_skip (cursor, cursor_u16 (cursor));
      break;
    case DW_FORM_BLOCK4:
      cursor_skip (cursor, cursor_u32 (cursor));
      break;
    case DW_FORM_BLOCK:
    case DW_FORM_EXPRLOC:
      cursor_skip (cursor, cursor_uleb128 (cursor));
      break;
    default:
      cursor_fail (cursor); /* of unknown size */
      break;
    }
}

static void
skip_leb128 (Cursor *cursor)
{
  if (cursor->at != cursor->end && (*cursor->at & 0x80) == 0)
    cursor->at++;
  else
    (void) cursor_uleb128 (cursor);
}

/* Skips the most common forms quickly; the others are read. */
void
sysprof_dwarf_skip_value (Cursor *cursor, const Unit *unit, uint16_t form)
{
  Value ignored;

  switch (form)
    {
    case DW_FORM_ADDR:
      cursor_skip (cursor, unit->address_size);
      break;
    case DW_FORM_STRP:
    case DW_FORM_SEC_OFFSET:
    case DW_FORM_LINE_STRP:
    case DW_FORM_STRP_SUP:
    case DW_FORM_GNU_REF_ALT:
    case DW_FORM_GNU_STRP_ALT:
      cursor_skip (cursor, sysprof_dwarf_unit_offset_size (unit));
      break;
    case DW_FORM_DATA1:
    case DW_FORM_FLAG:
    case DW_FORM_REF1:
      cursor_skip (cursor, 1);
      break;
    case DW_FORM_DATA2:
    case DW_FORM_REF2:
      cursor_skip (cursor, 2);
      break;
    case DW_FORM_DATA4:
    case DW_FORM_REF4:
      cursor_skip (cursor, 4);
      break;
    case DW_FORM_DATA8:
    case DW_FORM_REF8:
      cursor_skip (cursor, 8);
      break;
    case DW_FORM_SDATA:
    case DW_FORM_UDATA:
    case DW_FORM_REF_UDATA:
      skip_leb128 (cursor);
      break;
    case DW_FORM_FLAG_PRESENT:
    case DW_FORM_IMPLICIT_CONST:
      break;
    case DW_FORM_BLOCK1:
      cursor_skip (cursor, cursor_u8 (cursor));
      break;
    case DW_FORM_BLOCK:
    case DW_FORM_EXPRLOC:
      cursor_skip (cursor, cursor_uleb128 (cursor));
      break;
    default:
      sysprof_dwarf_take_value (cursor, unit, form, 0, &ignored);
      break;
    }
}

static const char *
string_at (DwarfFile *file, SectionId id, uint64_t offset)
{
  const Section *section = file != NULL ? sysprof_dwarf_file_section (file, id) : NULL;

  if (section == NULL || offset >= section->size)
    return NULL;
  return (const char *) section->bytes + offset; /* the section is terminated with NUL */
}

/* The string at index `index` in the unit's table of offsets. */
static const char *
string_of_index (const Unit *unit, uint64_t index)
{
  unsigned size = sysprof_dwarf_unit_offset_size (unit);
  Cursor cursor = sysprof_dwarf_file_cursor (unit->file, SECTION_STR_OFFSETS, 0);
  uint64_t offset;

  if (__builtin_mul_overflow (index, size, &offset) ||
      __builtin_add_overflow (offset, unit->strings_base, &offset))
    return NULL;
  cursor_skip (&cursor, offset);
  offset = cursor_uint (&cursor, size);
  return cursor.is_bad ? NULL : string_at (unit->file, SECTION_STR, offset);
}

const char *
sysprof_dwarf_value_string (const Value *value, const Unit *unit)
{
  switch (value->form)
    {
    case DW_FORM_STRING:
      return value->string;
    case DW_FORM_STRP:
      return string_at (unit->file, SECTION_STR, value->number);
    case DW_FORM_LINE_STRP:
      return string_at (unit->file, SECTION_LINE_STR, value->number);
    case DW_FORM_STRP_SUP:
    case DW_FORM_GNU_STRP_ALT:
      return string_at (unit->file->supplement, SECTION_STR, value->number);
    case DW_FORM_STRX:
    case DW_FORM_STRX1:
    case DW_FORM_STRX2:
    case DW_FORM_STRX3:
    case DW_FORM_STRX4:
    case DW_FORM_GNU_STR_INDEX:
      return string_of_index (unit, value->number);
    default:
      return NULL;
    }
}

bool
sysprof_dwarf_address_at (const Unit *unit, uint64_t index, uint64_t *address)
{
  DwarfFile *file = unit->file->main != NULL ? unit->file->main : unit->file;
  Cursor cursor = sysprof_dwarf_file_cursor (file, SECTION_ADDR, 0);
  uint64_t offset;

  if (__builtin_mul_overflow (index, unit->address_size, &offset) ||
      __builtin_add_overflow (offset, unit->addresses_base, &offset))
    return false;
  cursor_skip (&cursor, offset);
  *address = cursor_uint (&cursor, unit->address_size);
  return !cursor.is_bad;
}

bool
sysprof_dwarf_value_address (const Value *value, const Unit *unit, uint64_t *address)
{
  if (!sysprof_dwarf_value_is_address (value))
    return false;
  if (value->form != DW_FORM_ADDR)
    return sysprof_dwarf_address_at (unit, value->number, address);

  *address = value->number;
  return true;
}

bool
sysprof_dwarf_value_reference (const Value *value, Unit *unit, Unit **target, uint64_t *offset)
{
  DwarfFile *file = unit->file;

  switch (value->form)
    {
    case DW_FORM_REF1:
    case DW_FORM_REF2:
    case DW_FORM_REF4:
    case DW_FORM_REF8:
    case DW_FORM_REF_UDATA:
      *target = unit;
      return !__builtin_add_overflow (unit->offset, value->number, offset) &&
             *offset >= unit->entries && *offset < unit->end;
    case DW_FORM_GNU_REF_ALT:
    case DW_FORM_REF_SUP4:
    case DW_FORM_REF_SUP8:
      file = file->supplement;
      break;
    case DW_FORM_REF_ADDR:
      break;
    default:
      return false;
    }

  *offset = value->number;
  *target = file != NULL ? sysprof_dwarf_file_find_unit (file, *offset) : NULL;
  return *target != NULL;
}

/* --- the root entry --- */

#define MAX_ROOT_VALUES 64

/* Strings and addresses by index can only be resolved once the bases are known, which may
 * follow them. */
static void
use_bases (Unit *unit, const Value *values, const uint16_t *names, size_t n)
{
  bool has_strings = false;

  for (size_t i = 0; i < n; i++)
    switch (names[i])
      {
      case DW_AT_STR_OFFSETS_BASE:
        unit->strings_base = values[i].number;
        has_strings = true;
        break;
      case DW_AT_ADDR_BASE:
      case DW_AT_GNU_ADDR_BASE:
        unit->addresses_base = values[i].number;
        break;
      case DW_AT_RNGLISTS_BASE:
        unit->rnglists_base = values[i].number;
        break;
      case DW_AT_GNU_RANGES_BASE:
        unit->ranges_base = values[i].number;
        break;
      default:
        break;
      }

  /* The tables of a split unit start after the header of its part. */
  if (unit->file->is_split && unit->version >= 5)
    {
      if (!has_strings)
        unit->strings_base += unit->is_64 ? 16 : 8;
      unit->rnglists_base += unit->is_64 ? 20 : 12;
    }
}

static void
use_root_value (Unit *unit, uint16_t name, const Value *value, Value *high)
{
  Root *root = &unit->root;

  switch (name)
    {
    case DW_AT_COMP_DIR:
      root->comp_dir = sysprof_dwarf_value_string (value, unit);
      break;
    case DW_AT_DWO_NAME:
    case DW_AT_GNU_DWO_NAME:
      root->dwo_name = sysprof_dwarf_value_string (value, unit);
      break;
    case DW_AT_GNU_DWO_ID:
      root->dwo_id = value->number;
      break;
    case DW_AT_LANGUAGE:
      root->language = value->number;
      break;
    case DW_AT_STMT_LIST:
      root->has_lines = true;
      root->lines = value->number;
      break;
    case DW_AT_RANGES:
      root->has_ranges = true;
      root->ranges_form = value->form;
      root->ranges = value->number;
      break;
    case DW_AT_LOW_PC:
      root->has_pc = sysprof_dwarf_value_address (value, unit, &root->low_pc);
      break;
    case DW_AT_HIGH_PC:
      *high = *value;
      break;
    default:
      break;
    }
}

/* Finds the abbreviation without decoding its table, which is only needed if the unit is read:
 * mostly it is the first. */
static bool
find_root_abbrev (Unit *unit, uint64_t code, Cursor *cursor)
{
  *cursor = sysprof_dwarf_file_cursor (unit->file, SECTION_ABBREV, unit->abbrev_offset);
  while (!cursor->is_bad)
    {
      uint64_t here = cursor_uleb128 (cursor);
      uint64_t name, form;

      if (here == 0)
        return false;
      unit->root.tag = cursor_uleb128 (cursor);
      (void) cursor_u8 (cursor);
      if (here == code)
        return !cursor->is_bad;
      if (!sysprof_dwarf_file_may_read_abbrevs (unit->file, 16))
        return false;
      do
        {
          name = cursor_uleb128 (cursor);
          form = cursor_uleb128 (cursor);
          if (form == DW_FORM_IMPLICIT_CONST)
            (void) cursor_sleb128 (cursor);
        }
      while (!cursor->is_bad && (name != 0 || form != 0));
    }
  return false;
}

const Root *
sysprof_dwarf_unit_root (Unit *unit)
{
  Root *root = &unit->root;
  Value values[MAX_ROOT_VALUES], high = { 0 };
  uint16_t names[MAX_ROOT_VALUES];
  size_t n = 0;
  Cursor cursor, specs;
  uint64_t code;

  if (root->is_read)
    return root;

  root->is_read = true;
  root->dwo_id = unit->dwo_id;
  cursor = sysprof_dwarf_file_cursor (unit->file, SECTION_INFO, unit->entries);
  cursor.end = sysprof_dwarf_file_section (unit->file, SECTION_INFO)->bytes + unit->end;
  code = cursor_uleb128 (&cursor);
  if (cursor.is_bad || code == 0 || !find_root_abbrev (unit, code, &specs))
    return root;

  while (n < MAX_ROOT_VALUES)
    {
      uint64_t name = cursor_uleb128 (&specs);
      uint64_t form = cursor_uleb128 (&specs);
      int64_t constant = form == DW_FORM_IMPLICIT_CONST ? cursor_sleb128 (&specs) : 0;

      if (specs.is_bad || form > UINT16_MAX)
        return root;
      if (name == 0 && form == 0)
        break;
      names[n] = (uint16_t) (name > UINT16_MAX ? 0 : name);
      sysprof_dwarf_take_value (&cursor, unit, (uint16_t) form, constant, &values[n++]);
    }
  if (cursor.is_bad)
    return root;

  use_bases (unit, values, names, n);
  for (size_t i = 0; i < n; i++)
    use_root_value (unit, names[i], &values[i], &high);
  if (!root->has_pc || high.form == 0)
    root->high_pc = 0;
  else if (sysprof_dwarf_value_is_address (&high))
    /* otherwise 0: no range */
    (void) sysprof_dwarf_value_address (&high, unit, &root->high_pc);
  else if (__builtin_add_overflow (root->low_pc, high.number, &root->high_pc))
    root->high_pc = 0;

  root->is_sound = true;
  return root;
}
