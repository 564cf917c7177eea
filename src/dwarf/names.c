// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the name of a function and its declaration: most entries of code only refer to another
 * entry. */

#include "dwarf/unit.h"

typedef struct
{
  const char *linkage;
  const char *plain;
  bool has_file;
  uint64_t file;
  uint64_t line; /* 0 = not in the entry */
  Value origin;  /* or specification */
} NameEntry;

static bool
read_name_entry (Unit *unit, uint64_t offset, uint64_t *work, NameEntry *entry)
{
  AbbrevTable *abbrevs = sysprof_dwarf_file_abbrevs (unit->file, unit->abbrev_offset);
  Cursor cursor = sysprof_dwarf_file_cursor (unit->file, SECTION_INFO, offset);
  const Abbrev *abbrev;

  *entry = (NameEntry){ 0 };
  if (abbrevs == NULL || cursor.is_bad)
    return false;
  cursor.end = sysprof_dwarf_file_section (unit->file, SECTION_INFO)->bytes + unit->end;
  abbrev = sysprof_dwarf_abbrevs_find (abbrevs, cursor_uleb128 (&cursor));
  if (cursor.is_bad || abbrev == NULL)
    return false;

  *work += abbrev->n;
  for (uint32_t i = 0; i < abbrev->n && !cursor.is_bad; i++)
    {
      const AttributeSpec *spec = &abbrevs->attribute[abbrev->first + i];
      Value value;

      sysprof_dwarf_take_value (&cursor, unit, spec->form, spec->constant, &value);
      if (cursor.is_bad)
        break;
      switch (spec->name)
        {
        case DW_AT_LINKAGE_NAME:
        case DW_AT_MIPS_LINKAGE_NAME:
          entry->linkage = sysprof_dwarf_value_string (&value, unit);
          break;
        case DW_AT_NAME:
          entry->plain = sysprof_dwarf_value_string (&value, unit);
          break;
        case DW_AT_DECL_FILE:
          entry->file = value.number;
          entry->has_file = true;
          break;
        case DW_AT_DECL_LINE:
          entry->line = value.number;
          break;
        case DW_AT_ABSTRACT_ORIGIN:
          entry->origin = value;
          break;
        case DW_AT_SPECIFICATION:
          if (entry->origin.form == 0)
            entry->origin = value;
          break;
        default:
          break;
        }
    }
  return true;
}

/* If an attribute is missing, it is that of the origin. Each of name, file and line comes from
 * the first entry that has it. */
FunctionFacts
sysprof_dwarf_function_facts (Unit *unit, uint64_t offset, uint64_t *work)
{
  FunctionFacts facts = { 0 };
  const char *plain = NULL;
  NameEntry entry;

  for (unsigned i = 0; i <= DWARF_MAX_ORIGINS; i++)
    {
      if (!read_name_entry (unit, offset, work, &entry))
        break;
      if (facts.name == NULL && entry.linkage != NULL && entry.linkage[0] != 0)
        facts.name = entry.linkage;
      if (plain == NULL && entry.plain != NULL && entry.plain[0] != 0)
        plain = entry.plain;
      if (facts.decl_line == 0)
        facts.decl_line = entry.line;
      if (facts.decl_unit == NULL && entry.has_file)
        {
          facts.decl_unit = unit;
          facts.decl_file = entry.file;
        }
      if (entry.origin.form == 0 ||
          (facts.name != NULL && facts.decl_line != 0 && facts.decl_unit != NULL))
        break;

      (void) sysprof_dwarf_unit_root (unit); /* reads the bases of its strings */
      if (!sysprof_dwarf_value_reference (&entry.origin, unit, &unit, &offset))
        break;
      (void) sysprof_dwarf_unit_root (unit);
    }

  if (facts.name == NULL)
    facts.name = plain;
  return facts;
}
