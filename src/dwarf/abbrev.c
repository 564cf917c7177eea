// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads abbreviation tables. An abbreviation lists the attributes of an entry and their forms.
 * Each table is decoded once and kept in a cache. */

#include "dwarf/unit.h"

#include <stdlib.h>

#define MAX_ABBREVS    (UINT32_C (1) << 22) /* of one table */
#define MAX_ATTRIBUTES (UINT32_C (1) << 24)
#define MAX_OF_ONE     256 /* attributes; compilers write about 30 */

/* Limits for decoding .debug_abbrev: so many times its size, plus a constant. Units share
 * tables, and not all stay in the cache. */
#define MOST_READS 256
#define MORE_BYTES (UINT64_C (64) << 20)

/* Adds the size of a form to the entry's size. */
static void
add_size (Abbrev *abbrev, uint16_t form)
{
  switch (form)
    {
    case DW_FORM_ADDR:
      abbrev->fixed_addresses++;
      break;
    case DW_FORM_STRP:
    case DW_FORM_SEC_OFFSET:
    case DW_FORM_LINE_STRP:
    case DW_FORM_STRP_SUP:
    case DW_FORM_GNU_REF_ALT:
    case DW_FORM_GNU_STRP_ALT:
      abbrev->fixed_offsets++;
      break;
    case DW_FORM_DATA1:
    case DW_FORM_FLAG:
    case DW_FORM_REF1:
    case DW_FORM_STRX1:
    case DW_FORM_ADDRX1:
      abbrev->fixed_bytes += 1;
      break;
    case DW_FORM_DATA2:
    case DW_FORM_REF2:
    case DW_FORM_STRX2:
    case DW_FORM_ADDRX2:
      abbrev->fixed_bytes += 2;
      break;
    case DW_FORM_STRX3:
    case DW_FORM_ADDRX3:
      abbrev->fixed_bytes += 3;
      break;
    case DW_FORM_DATA4:
    case DW_FORM_REF4:
    case DW_FORM_STRX4:
    case DW_FORM_ADDRX4:
    case DW_FORM_REF_SUP4:
      abbrev->fixed_bytes += 4;
      break;
    case DW_FORM_DATA8:
    case DW_FORM_REF8:
    case DW_FORM_REF_SIG8:
    case DW_FORM_REF_SUP8:
      abbrev->fixed_bytes += 8;
      break;
    case DW_FORM_DATA16:
      abbrev->fixed_bytes += 16;
      break;
    case DW_FORM_FLAG_PRESENT:
    case DW_FORM_IMPLICIT_CONST:
      break;
    default:
      abbrev->is_fixed = false;
      break;
    }
}

/* Reserves space for one more item; the arrays double. */
static bool
reserve (void **array, size_t n, size_t size)
{
  void *larger;

  if ((n & (n - 1)) != 0 || (n != 0 && n < 16))
    return true; /* the capacity is a power of two: there is space */

  larger = realloc (*array, (n == 0 ? 16 : 2 * n) * size);
  if (larger == NULL)
    return false;
  *array = larger;
  return true;
}

static bool
take_attributes (Cursor *cursor, AbbrevTable *self, Abbrev *abbrev, size_t *n_attributes)
{
  for (;;)
    {
      uint64_t name = cursor_uleb128 (cursor);
      uint64_t form = cursor_uleb128 (cursor);
      int64_t constant = form == DW_FORM_IMPLICIT_CONST ? cursor_sleb128 (cursor) : 0;

      if (cursor->is_bad || form > UINT16_MAX)
        return false;
      if (name == 0 && form == 0)
        return true;
      if (*n_attributes >= MAX_ATTRIBUTES ||
          !reserve ((void **) &self->attribute, *n_attributes, sizeof (AttributeSpec)))
        return false;

      self->attribute[(*n_attributes)++] = (AttributeSpec){
        .name = (uint16_t) (name > UINT16_MAX ? 0 : name),
        .form = (uint16_t) form,
        .constant = constant,
      };
      if (++abbrev->n > MAX_OF_ONE)
        return false;
      add_size (abbrev, (uint16_t) form);
    }
}

static int
compare_codes (const void *a, const void *b)
{
  const Abbrev *left = a, *right = b;

  return (left->code > right->code) - (left->code < right->code);
}

bool
sysprof_dwarf_file_may_read_abbrevs (DwarfFile *self, uint64_t n_bytes)
{
  self->abbrev_work += n_bytes;
  return self->abbrev_work / MOST_READS <=
         sysprof_dwarf_file_section (self, SECTION_ABBREV)->size + MORE_BYTES / MOST_READS;
}

static bool
read_table (AbbrevTable *self, DwarfFile *file, Cursor cursor)
{
  const uint8_t *start = cursor.at;
  size_t n_attributes = 0;
  bool is_sorted = true;

  for (;;)
    {
      Abbrev abbrev = { .is_fixed = true };

      /* The end of the section also terminates a table. */
      if (cursor_left (&cursor) == 0)
        break;
      abbrev.code = cursor_uleb128 (&cursor);
      if (abbrev.code == 0)
        break;

      abbrev.tag = (uint32_t) cursor_uleb128 (&cursor);
      abbrev.has_children = cursor_u8 (&cursor) != 0;
      abbrev.first = (uint32_t) n_attributes;
      if (self->n >= MAX_ABBREVS || !take_attributes (&cursor, self, &abbrev, &n_attributes) ||
          !reserve ((void **) &self->row, self->n, sizeof (Abbrev)))
        return false;

      is_sorted = is_sorted && (self->n == 0 || self->row[self->n - 1].code < abbrev.code);
      self->row[self->n++] = abbrev;
    }

  if (!is_sorted)
    qsort (self->row, self->n, sizeof (Abbrev), compare_codes);
  return !cursor.is_bad &&
         sysprof_dwarf_file_may_read_abbrevs (file, (uint64_t) (cursor.at - start));
}

void
sysprof_dwarf_abbrevs_clear (AbbrevTable *self)
{
  free (self->row);
  free (self->attribute);
  *self = (AbbrevTable){ 0 };
}

AbbrevTable *
sysprof_dwarf_file_abbrevs (DwarfFile *self, uint64_t offset)
{
  AbbrevTable *oldest = NULL;

  for (size_t i = 0; i < N_ABBREV_TABLES; i++)
    {
      AbbrevTable *table = &self->abbrevs[i];

      if (table->last_use != 0 && table->offset == offset)
        {
          table->last_use = ++self->clock;
          return table;
        }
      if (table->n_users == 0 && (oldest == NULL || table->last_use < oldest->last_use))
        oldest = table;
    }
  if (oldest == NULL || offset >= sysprof_dwarf_file_section (self, SECTION_ABBREV)->size)
    return NULL;

  sysprof_dwarf_abbrevs_clear (oldest);
  if (!read_table (oldest, self, sysprof_dwarf_file_cursor (self, SECTION_ABBREV, offset)))
    {
      sysprof_dwarf_abbrevs_clear (oldest);
      return NULL;
    }
  oldest->offset = offset;
  oldest->last_use = ++self->clock;
  return oldest;
}

const Abbrev *
sysprof_dwarf_abbrevs_find (const AbbrevTable *self, uint64_t code)
{
  size_t low = 0, high = self->n;

  if (code - 1 < self->n && self->row[code - 1].code == code)
    return &self->row[code - 1];

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;

      if (self->row[middle].code < code)
        low = middle + 1;
      else
        high = middle;
    }
  return low < self->n && self->row[low].code == code ? &self->row[low] : NULL;
}
