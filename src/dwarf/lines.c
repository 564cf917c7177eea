// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads line tables, versions 2 to 5. The line program runs once per unit and writes no table:
 * each row is compared with the requested addresses. */

#include "dwarf/unit.h"

#include <stdlib.h>

#define MAX_FORMATS 16 /* of an entry in version 5; the standard has 5 content types */

typedef struct
{
  uint64_t content;
  uint16_t form;
} Format;

/* --- the header --- */

static size_t
take_formats (Cursor *cursor, Format formats[MAX_FORMATS])
{
  size_t n = cursor_u8 (cursor);

  if (n > MAX_FORMATS)
    cursor_fail (cursor);
  for (size_t i = 0; i < n && !cursor->is_bad; i++)
    {
      uint64_t content = cursor_uleb128 (cursor);
      uint64_t form = cursor_uleb128 (cursor);

      formats[i] = (Format){ content, (uint16_t) (form > UINT16_MAX ? 0 : form) };
    }
  return cursor->is_bad ? 0 : n;
}

/* Reads the directories or files of version 5. */
static bool
take_entries (Cursor *cursor, const Unit *unit, LineFile **entries, size_t *n_entries)
{
  Format formats[MAX_FORMATS];
  size_t n_formats = take_formats (cursor, formats);
  uint64_t n = cursor_uleb128 (cursor);

  /* Each has at least one byte. */
  if (cursor->is_bad || n > cursor_left (cursor) || (n > 0 && n_formats == 0))
    return false;
  *entries = calloc ((size_t) n + 1, sizeof (LineFile));
  if (*entries == NULL)
    return false;

  for (*n_entries = 0; *n_entries < n && !cursor->is_bad; (*n_entries)++)
    for (size_t i = 0; i < n_formats; i++)
      {
        LineFile *entry = &(*entries)[*n_entries];
        Value value;

        sysprof_dwarf_take_value (cursor, unit, formats[i].form, 0, &value);
        if (cursor->is_bad)
          break;
        if (formats[i].content == DW_LNCT_PATH)
          entry->name = sysprof_dwarf_value_string (&value, unit);
        else if (formats[i].content == DW_LNCT_DIRECTORY_INDEX)
          entry->directory = value.number;
      }
  return !cursor->is_bad;
}

static bool
take_new_tables (LineTable *self, Cursor *cursor, const Unit *unit)
{
  LineFile *directories = NULL;
  bool is_sound = take_entries (cursor, unit, &directories, &self->n_directories);

  if (is_sound)
    {
      self->directory = calloc (self->n_directories + 1, sizeof *self->directory);
      is_sound = self->directory != NULL;
    }
  for (size_t i = 0; is_sound && i < self->n_directories; i++)
    self->directory[i] = directories[i].name;
  free (directories);

  self->counts_from_zero = true;
  return is_sound && take_entries (cursor, unit, &self->file, &self->n_files);
}

/* Adds a file. A program may define files, which are added the same way. */
static bool
append_file (LineTable *self, const char *name, uint64_t directory)
{
  if ((self->n_files & (self->n_files - 1)) == 0)
    {
      size_t capacity = self->n_files == 0 ? 1 : 2 * self->n_files;
      LineFile *larger = realloc (self->file, capacity * sizeof (LineFile));

      if (larger == NULL)
        return false;
      self->file = larger;
    }
  self->file[self->n_files++] = (LineFile){ name, directory };
  return true;
}

static bool
take_old_file (LineTable *self, Cursor *cursor, const char *name)
{
  uint64_t directory = cursor_uleb128 (cursor);

  (void) cursor_uleb128 (cursor); /* time */
  (void) cursor_uleb128 (cursor); /* size */
  return !cursor->is_bad && append_file (self, name, directory);
}

static bool
take_old_tables (LineTable *self, Cursor *cursor)
{
  Cursor counting = *cursor;
  const char *name;
  size_t n = 0;

  while ((name = cursor_string (&counting)) != NULL && name[0] != 0)
    n++;
  self->directory = calloc (n + 1, sizeof *self->directory);
  if (self->directory == NULL)
    return false;
  while ((name = cursor_string (cursor)) != NULL && name[0] != 0)
    self->directory[self->n_directories++] = name;

  while ((name = cursor_string (cursor)) != NULL && name[0] != 0)
    if (!take_old_file (self, cursor, name))
      return false;
  return !cursor->is_bad;
}

bool
sysprof_dwarf_lines_read (LineTable *self, Unit *unit)
{
  const Root *root = sysprof_dwarf_unit_root (unit);
  Cursor cursor, header;
  const uint8_t *end;
  uint64_t header_length;
  uint16_t version;
  Unit sizes = *unit; /* the table has its own offset size */

  *self = (LineTable){ .unit = unit };
  if (!root->has_lines)
    return false;

  cursor = sysprof_dwarf_file_cursor (unit->file, SECTION_LINE, root->lines);
  if (cursor.is_bad || !sysprof_dwarf_take_length (&cursor, &sizes.is_64, &end))
    return false;
  cursor.end = end;
  version = cursor_u16 (&cursor);
  if (version < 2 || version > 5)
    return false;

  self->address_size = unit->address_size;
  if (version >= 5)
    {
      self->address_size = sizes.address_size = cursor_u8 (&cursor);
      cursor_skip (&cursor, 1); /* size of segment selectors */
    }
  header_length = cursor_uint (&cursor, sysprof_dwarf_unit_offset_size (&sizes));
  if (cursor.is_bad || header_length > cursor_left (&cursor))
    return false;

  self->program = cursor;
  self->program.at = cursor.at + header_length;
  header = cursor;
  header.end = self->program.at;
  self->min_length = cursor_u8 (&header);
  self->max_operations = version >= 4 ? cursor_u8 (&header) : 1;
  cursor_skip (&header, 1); /* initial value of is_stmt */
  self->line_base = (int8_t) cursor_u8 (&header);
  self->line_range = cursor_u8 (&header);
  self->opcode_base = cursor_u8 (&header);
  for (unsigned i = 1; i < self->opcode_base; i++)
    self->opcode_length[i] = cursor_u8 (&header);
  if (self->max_operations == 0)
    self->max_operations = 1;
  if (header.is_bad || self->line_range == 0 || self->opcode_base == 0)
    return false;

  if (version >= 5 ? take_new_tables (self, &header, &sizes) : take_old_tables (self, &header))
    return true;

  sysprof_dwarf_lines_clear (self);
  return false;
}

void
sysprof_dwarf_lines_clear (LineTable *self)
{
  free (self->directory);
  free (self->file);
  *self = (LineTable){ 0 };
}

/* --- the program --- */

typedef struct
{
  uint64_t address;
  uint64_t operation; /* in an instruction word, for VLIW machines */
  uint64_t file;
  uint64_t line;
} Registers;

typedef struct
{
  const uint64_t *addresses; /* [n] ascending */
  size_t n;
  size_t at; /* index after the last range */
  LineRow *rows;
  /* No address is between these two addresses around the last range. Mostly the next range is
   * between them, too. */
  uint64_t gap_begin;
  uint64_t gap_end;
} Wanted;

/* A row is valid from its address up to the next row. */
static void
use_range (Wanted *wanted, const Registers *row, uint64_t end)
{
  const uint64_t *addresses = wanted->addresses;
  size_t at = wanted->at;

  if (at > 0 && addresses[at - 1] >= row->address)
    at = 0;
  if (at < wanted->n && addresses[at] < row->address)
    {
      size_t low = at + 1, high = wanted->n;

      while (low < high)
        {
          size_t middle = low + (high - low) / 2;

          if (addresses[middle] < row->address)
            low = middle + 1;
          else
            high = middle;
        }
      at = low;
    }

  for (; at < wanted->n && addresses[at] < end; at++)
    if (!wanted->rows[at].is_known)
      wanted->rows[at] = (LineRow){
        .file = (uint32_t) (row->file > UINT32_MAX ? UINT32_MAX : row->file),
        .line = (uint32_t) (row->line > UINT32_MAX ? 0 : row->line),
        .is_known = true,
      };
  wanted->at = at;
  wanted->gap_begin = at > 0 ? addresses[at - 1] + 1 : 0;
  wanted->gap_end = at < wanted->n ? addresses[at] : UINT64_MAX;
}

static inline bool
is_in_gap (const Wanted *wanted, uint64_t start, uint64_t end)
{
  return start >= end || (start >= wanted->gap_begin && end <= wanted->gap_end);
}

static inline void
advance (const LineTable *self, Registers *registers, uint64_t operations)
{
  if (self->max_operations == 1)
    {
      registers->address += operations * self->min_length;
      return;
    }
  operations += registers->operation;
  registers->address += operations / self->max_operations * self->min_length;
  registers->operation = operations % self->max_operations;
}

typedef enum
{
  STEP_ON,
  STEP_ROW,
  STEP_END, /* the end of a sequence */
} Step;

static Step
run_extended (LineTable *self, Cursor *program, Registers *registers)
{
  uint64_t length = cursor_uleb128 (program);
  Cursor operands = *program;
  const char *name;

  if (length == 0 || length > cursor_left (program))
    {
      cursor_fail (program);
      return STEP_ON;
    }
  cursor_skip (program, length);
  operands.end = program->at;
  switch (cursor_u8 (&operands))
    {
    case DW_LNE_END_SEQUENCE:
      return STEP_END;
    case DW_LNE_SET_ADDRESS:
      registers->address = cursor_uint (&operands, (unsigned) cursor_left (&operands));
      registers->operation = 0;
      return STEP_ON;
    case DW_LNE_DEFINE_FILE:
      name = cursor_string (&operands);
      if (name != NULL && !self->counts_from_zero)
        (void) take_old_file (self, &operands, name); /* else the file has no name */
      return STEP_ON;
    default:
      return STEP_ON;
    }
}

/* Precomputed effects of the special opcodes, which are most of all steps. */
typedef struct
{
  uint8_t operations[256];
  int16_t lines[256];
} SpecialOpcodes;

static void
list_special_opcodes (const LineTable *self, SpecialOpcodes *special)
{
  for (unsigned opcode = self->opcode_base; opcode < 256; opcode++)
    {
      unsigned adjusted = opcode - self->opcode_base;

      special->operations[opcode] = (uint8_t) (adjusted / self->line_range);
      special->lines[opcode] =
          (int16_t) (self->line_base + (int) (adjusted % self->line_range));
    }
}

/* Runs an opcode that is not special. */
static Step
run_step (LineTable *self, uint8_t opcode, Cursor *program, Registers *registers)
{
  switch (opcode)
    {
    case 0:
      return run_extended (self, program, registers);
    case DW_LNS_COPY:
      return STEP_ROW;
    case DW_LNS_ADVANCE_PC:
      advance (self, registers, cursor_uleb128 (program));
      return STEP_ON;
    case DW_LNS_ADVANCE_LINE:
      registers->line += (uint64_t) cursor_sleb128 (program);
      return STEP_ON;
    case DW_LNS_SET_FILE:
      registers->file = cursor_uleb128 (program);
      return STEP_ON;
    case DW_LNS_CONST_ADD_PC:
      advance (self, registers, (255u - self->opcode_base) / self->line_range);
      return STEP_ON;
    case DW_LNS_FIXED_ADVANCE_PC:
      registers->address += cursor_u16 (program);
      registers->operation = 0;
      return STEP_ON;
    default:
      for (unsigned i = 0; i < self->opcode_length[opcode]; i++)
        (void) cursor_uleb128 (program);
      return STEP_ON;
    }
}

uint64_t
sysprof_dwarf_lines_run (LineTable *self,
                         const uint64_t *addresses,
                         size_t n,
                         uint64_t most,
                         LineRow *rows)
{
  const Registers fresh = { .file = 1, .line = 1 };
  Wanted wanted = { .addresses = addresses, .n = n, .rows = rows };
  Registers registers = fresh, last = fresh;
  Cursor program = self->program;
  SpecialOpcodes special;
  bool has_last = false;
  uint64_t steps;

  list_special_opcodes (self, &special);
  for (steps = 0; steps < most && cursor_left (&program) > 0; steps++)
    {
      uint8_t opcode = cursor_u8 (&program);
      Step step = STEP_ROW;

      if (opcode >= self->opcode_base)
        {
          advance (self, &registers, special.operations[opcode]);
          registers.line += (uint64_t) (int64_t) special.lines[opcode];
        }
      else
        step = run_step (self, opcode, &program, &registers);

      if (program.is_bad)
        break;
      if (step == STEP_ON)
        continue;
      if (has_last && !is_in_gap (&wanted, last.address, registers.address))
        use_range (&wanted, &last, registers.address);
      has_last = step == STEP_ROW;
      last = registers;
      if (step == STEP_END)
        registers = fresh;
    }
  return steps;
}

/* --- names of files --- */

char *
sysprof_dwarf_lines_path (const LineTable *self, uint64_t file)
{
  const char *parts[3] = { NULL }, *comp_dir;
  size_t n = 0, size = 0;
  const LineFile *row;
  const char *directory = NULL;
  char *path, *at;

  if (!self->counts_from_zero)
    file--; /* 0 means no file */
  if (file >= self->n_files || self->file[file].name == NULL)
    return NULL;

  row = &self->file[file];
  comp_dir = self->unit->root.comp_dir;
  if (self->counts_from_zero)
    directory = row->directory < self->n_directories ? self->directory[row->directory] : NULL;
  else if (row->directory > 0 && row->directory <= self->n_directories)
    directory = self->directory[row->directory - 1];

  if (row->name[0] != '/')
    {
      if ((directory == NULL || directory[0] != '/') && comp_dir != NULL)
        parts[n++] = comp_dir;
      if (directory != NULL)
        parts[n++] = directory;
    }
  parts[n++] = row->name;

  for (size_t i = 0; i < n; i++)
    size += strlen (parts[i]) + 1;
  path = at = malloc (size);
  for (size_t i = 0; path != NULL && i < n; i++)
    {
      size_t length = strlen (parts[i]);

      memcpy (at, parts[i], length);
      at[length] = i + 1 < n ? '/' : 0;
      at += length + 1;
    }
  return path;
}
