// SPDX-License-Identifier: GPL-3.0-or-later

/* The internal types of this module: files with their sections, units, abbreviations, values of
 * attributes. */

#pragma once

#include "dwarf/constants.h"
#include "dwarf/cursor.h"
#include "dwarf/dwarf.h"

typedef enum
{
  SECTION_INFO,
  SECTION_ABBREV,
  SECTION_STR,
  SECTION_LINE,
  SECTION_LINE_STR,
  SECTION_RANGES,
  SECTION_RNGLISTS,
  SECTION_ADDR,
  SECTION_STR_OFFSETS,
  SECTION_ARANGES,
  SECTION_UNIT_INDEX,
  N_SECTIONS,
} SectionId;

typedef struct
{
  uint8_t *bytes; /* [size], terminated with NUL; NULL = missing */
  uint64_t size;
  bool is_read;
  bool is_over_limit; /* the section exists, but is over the size limit */
} Section;

/* --- abbreviations (abbrev.c) --- */

typedef struct
{
  uint16_t name; /* 0 = an attribute that is not read */
  uint16_t form;
  int64_t constant; /* of DW_FORM_IMPLICIT_CONST */
} AttributeSpec;

/* The size of an entry, to skip it: numbers of bytes, addresses and offsets, if all its forms
 * have a fixed size. */
typedef struct
{
  uint64_t code;
  uint32_t tag;
  uint32_t first; /* index of the first attribute */
  uint32_t n;
  uint32_t fixed_bytes;
  uint16_t fixed_addresses;
  uint16_t fixed_offsets;
  bool is_fixed;
  bool has_children;
} Abbrev;

typedef struct
{
  uint64_t offset; /* of the table in .debug_abbrev */
  Abbrev *row;     /* [n] by code */
  size_t n;
  AttributeSpec *attribute;
  uint32_t n_users; /* number of readers: the table must stay in the cache */
  uint64_t last_use;
} AbbrevTable;

#define N_ABBREV_TABLES 64 /* of one file in the cache */

/* --- files (file.c) --- */

typedef struct DwarfFile DwarfFile;
typedef struct Unit Unit;

/* *Owned* by Dwarf. */
struct DwarfFile
{
  uint32_t number; /* unique within a Dwarf */
  ElfImage *image;
  bool owns_image;
  bool is_split; /* sections have names like .debug_info.dwo */
  bool is_swapped;
  DwarfFile *supplement; /* borrowed; or NULL */
  DwarfFile *main;       /* of split units: the file with .debug_addr; or NULL */
  Section section[N_SECTIONS];
  Unit *units; /* [n_units] by offset */
  size_t n_units;
  AbbrevTable abbrevs[N_ABBREV_TABLES];
  uint64_t clock;
  uint64_t abbrev_work; /* bytes of .debug_abbrev that were decoded */
};

/* The attributes of a unit's root entry. */
typedef struct
{
  bool is_read;
  bool is_sound;
  uint64_t tag;
  const char *comp_dir; /* or NULL */
  const char *dwo_name; /* or NULL */
  uint64_t dwo_id;
  uint64_t low_pc;
  uint64_t high_pc;
  bool has_pc;
  bool has_ranges;
  uint16_t ranges_form;
  uint64_t ranges;
  bool has_lines;
  uint64_t lines; /* offset in .debug_line */
  uint64_t language;
} Root;

struct Unit
{
  DwarfFile *file;
  uint64_t offset;  /* of the header in .debug_info */
  uint64_t entries; /* offset of the root entry */
  uint64_t end;
  uint64_t abbrev_offset;
  uint64_t dwo_id;
  uint8_t version;
  uint8_t type;
  uint8_t address_size;
  bool is_64;     /* offsets have 8 bytes */
  bool is_ranged; /* listed in .debug_aranges */
  /* The start of its part of each section: 0 except in packages. */
  uint64_t strings_base;
  uint64_t addresses_base;
  uint64_t ranges_base;
  uint64_t rnglists_base;
  Root root;
};

/* --- values of attributes (value.c) --- */

typedef struct
{
  uint16_t form; /* 0 = missing */
  uint64_t number;
  const char *string; /* of DW_FORM_STRING */
} Value;

/* The entry at the cursor. */
typedef struct
{
  const Abbrev *abbrev; /* NULL = end of siblings */
  const AttributeSpec *attribute;
  uint64_t offset;
} Entry;

static inline unsigned
sysprof_dwarf_unit_offset_size (const Unit *unit)
{
  return unit->is_64 ? 8 : 4;
}

/* Sections are read at their first use; a section that cannot be read is empty. */
const Section *sysprof_dwarf_file_section (DwarfFile *self, SectionId id);
Cursor sysprof_dwarf_file_cursor (DwarfFile *self, SectionId id, uint64_t offset);
ElfStatus sysprof_dwarf_file_init (DwarfFile *self, ElfImage *image, bool is_split);
void sysprof_dwarf_file_clear (DwarfFile *self);
/* Reads the headers of all units. */
ElfStatus sysprof_dwarf_file_find_units (DwarfFile *self);
/* The unit that contains `offset`, or NULL. */
Unit *sysprof_dwarf_file_find_unit (DwarfFile *self, uint64_t offset);
/* A unit of a package by its ID; FALSE if there is none. */
bool sysprof_dwarf_file_find_packaged (DwarfFile *self, uint64_t dwo_id);
/* A length of 4 or 12 bytes; FALSE if it is invalid. `*end` is limited to the cursor's. */
bool sysprof_dwarf_take_length (Cursor *cursor, bool *is_64, const uint8_t **end);

/* Whether this many bytes of .debug_abbrev may still be decoded: units may share tables or
 * overlap. */
bool sysprof_dwarf_file_may_read_abbrevs (DwarfFile *self, uint64_t n_bytes);
/* NULL if the table is invalid or there is no memory. */
AbbrevTable *sysprof_dwarf_file_abbrevs (DwarfFile *self, uint64_t offset);
const Abbrev *sysprof_dwarf_abbrevs_find (const AbbrevTable *self, uint64_t code);
void sysprof_dwarf_abbrevs_clear (AbbrevTable *self);

/* Takes one value; `constant` is that of the abbreviation. */
void sysprof_dwarf_take_value (Cursor *cursor,
                               const Unit *unit,
                               uint16_t form,
                               int64_t constant,
                               Value *value);
void sysprof_dwarf_skip_value (Cursor *cursor, const Unit *unit, uint16_t form);
const char *sysprof_dwarf_value_string (const Value *value, const Unit *unit);
bool sysprof_dwarf_value_address (const Value *value, const Unit *unit, uint64_t *address);
bool sysprof_dwarf_address_at (const Unit *unit, uint64_t index, uint64_t *address);
/* The entry that a reference refers to, and its unit. */
bool
sysprof_dwarf_value_reference (const Value *value, Unit *unit, Unit **target, uint64_t *offset);
static inline bool
sysprof_dwarf_value_is_address (const Value *value)
{
  return value->form == DW_FORM_ADDR || value->form == DW_FORM_ADDRX ||
         (value->form >= DW_FORM_ADDRX1 && value->form <= DW_FORM_ADDRX4) ||
         value->form == DW_FORM_GNU_ADDR_INDEX;
}

/* Reads the root entry once. */
const Root *sysprof_dwarf_unit_root (Unit *unit);

/* --- ranges (ranges.c) --- */

typedef void (*RangeFunc) (void *closure, uint64_t start, uint64_t end);

/* Calls `func` for each range of an entry's DW_AT_ranges. `skeleton` is `unit` except for split
 * units. Returns the number of entries read. */
uint64_t sysprof_dwarf_for_each_range (Unit *unit,
                                       const Unit *skeleton,
                                       uint16_t form,
                                       uint64_t number,
                                       RangeFunc func,
                                       void *closure);

/* --- lines (lines.c) --- */

typedef struct
{
  const char *name;
  uint64_t directory;
} LineFile;

/* The line table of one unit. */
typedef struct
{
  Unit *unit;
  bool counts_from_zero;
  const char **directory; /* [n_directories] */
  size_t n_directories;
  LineFile *file; /* [n_files] */
  size_t n_files;
  Cursor program;
  uint8_t address_size;
  uint8_t min_length;
  uint8_t max_operations;
  int8_t line_base;
  uint8_t line_range;
  uint8_t opcode_base;
  uint8_t opcode_length[256];
} LineTable;

typedef struct
{
  uint32_t file;
  uint32_t line;
  bool is_known;
} LineRow;

bool sysprof_dwarf_lines_read (LineTable *self, Unit *unit);
void sysprof_dwarf_lines_clear (LineTable *self);
/* Runs the program and stores the row for each of the ascending addresses. Returns the number
 * of steps, at most `most`. */
uint64_t sysprof_dwarf_lines_run (LineTable *self,
                                  const uint64_t *addresses,
                                  size_t n,
                                  uint64_t most,
                                  LineRow *rows);
/* The file's path in new memory; NULL if there is none. */
char *sysprof_dwarf_lines_path (const LineTable *self, uint64_t file);

/* --- functions (functions.c) --- */

/* A function or inlined call that contains at least one of the addresses. */
typedef struct
{
  uint32_t parent; /* 0 = none */
  uint32_t depth;  /* number of inlined calls around it */
  bool is_inlined;
  uint64_t entry; /* offset in .debug_info */
  uint32_t call_file;
  uint32_t call_line;
} Call;

typedef struct
{
  const uint64_t *addresses; /* [n] ascending */
  size_t n;
  uint32_t *innermost; /* [n] index of a call; 0 = none */
  uint64_t *start;     /* [n] of the function */
  uint64_t *end;
  Call *call; /* [n_calls], 0 is none */
  size_t n_calls;
  size_t capacity;
  uint64_t work; /* steps made, and their limit */
  uint64_t most_work;
  bool has_no_memory;
  bool is_over_limit; /* inlined calls are nested too deeply */
} Functions;

/* `skeleton` has the addresses of split units; otherwise it equals `unit`. */
void sysprof_dwarf_functions_find (Functions *self, Unit *unit, Unit *skeleton);

/* --- names (names.c) --- */

typedef struct
{
  const char *name; /* linkage name if there is one; NULL = none */
  Unit *decl_unit;  /* the unit whose line table defines `decl_file`; NULL = unknown */
  uint64_t decl_file;
  uint64_t decl_line;
} FunctionFacts;

/* Reads the entry of a function. Adds its steps to `*work`. */
FunctionFacts sysprof_dwarf_function_facts (Unit *unit, uint64_t entry, uint64_t *work);
