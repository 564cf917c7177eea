// SPDX-License-Identifier: GPL-3.0-or-later

/* The texts of the answers: names of functions and paths of files, each stored once. */

#pragma once

#include "dwarf/unit.h"

typedef struct
{
  uint64_t key; /* of an entry: file and offset */
  uint32_t text;
  uint32_t decl_file;
  uint32_t decl_line;
  bool is_used;
} NameSlot;

/* The files of a unit. Each file's path is composed once. */
typedef struct
{
  LineTable table;
  bool is_there;
  uint32_t *text; /* [n_text] by file, 0 = not looked up yet or unknown */
  size_t n_text;
} UnitFiles;

/* *Owned* by one call of sysprof_dwarf_resolve(). */
typedef struct
{
  Dwarf *dwarf;
  DwarfAnswers *answers;
  size_t frames_capacity;
  size_t text_capacity;
  uint32_t *text_slot; /* [n_text_slots] offsets, 0 = free */
  size_t n_text_slots;
  size_t n_texts;
  NameSlot *name_slot; /* [n_name_slots] */
  size_t n_name_slots;
  size_t n_names;
  UnitFiles other_files; /* of the unit that declares a function of this unit */
  uint32_t other_number; /* of that unit's file, */
  uint64_t other_offset; /* and its offset in the file */
  uint64_t work;
  uint64_t most_work;
  ElfStatus status;
} Resolution;

/* Makes room for `size` bytes of text. FALSE: out of memory. */
bool sysprof_dwarf_reserve_text (Resolution *self, size_t size);
/* The text's offset; 0 if it is empty, or out of memory (status). */
uint32_t sysprof_dwarf_intern (Resolution *self, const char *text);
/* Frees everything except the answers. */
void sysprof_dwarf_clear_texts (Resolution *self);

void sysprof_dwarf_unit_files_read (Resolution *self, UnitFiles *files, Unit *unit);
void sysprof_dwarf_unit_files_clear (UnitFiles *self);
/* The offset of the file's path; 0 = unknown. */
uint32_t sysprof_dwarf_name_of_file (Resolution *self, UnitFiles *files, uint64_t file);

/* Finds the name of the function at an entry and its declaration. `files` are those of the
 * unit. */
void sysprof_dwarf_describe_entry (Resolution *self,
                                   Unit *unit,
                                   UnitFiles *files,
                                   uint64_t entry,
                                   DwarfFrame *frame);
