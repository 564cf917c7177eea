// SPDX-License-Identifier: GPL-3.0-or-later

/* Two hash tables: one finds a text that the answers already contain, the other finds the names
 * that belong to an entry. */

#include "dwarf/answer-texts.h"

#include <stdlib.h>

#define MAX_STRING 65536 /* maximum bytes of a name */

static uint64_t
hash_text (const char *text, size_t size)
{
  uint64_t hash = 0xcbf29ce484222325;

  for (size_t i = 0; i < size; i++)
    hash = (hash ^ (uint8_t) text[i]) * 0x100000001b3;
  return hash ^ hash >> 29;
}

static bool
grow_text_slots (Resolution *self)
{
  size_t n = self->n_text_slots == 0 ? 256 : 2 * self->n_text_slots;
  uint32_t *larger = calloc (n, sizeof *larger);

  if (larger == NULL)
    return false;
  for (size_t i = 0; i < self->n_text_slots; i++)
    if (self->text_slot[i] != 0)
      {
        const char *text = self->answers->text + self->text_slot[i];
        size_t at = (size_t) hash_text (text, strlen (text)) & (n - 1);

        while (larger[at] != 0)
          at = (at + 1) & (n - 1);
        larger[at] = self->text_slot[i];
      }
  free (self->text_slot);
  self->text_slot = larger;
  self->n_text_slots = n;
  return true;
}

bool
sysprof_dwarf_reserve_text (Resolution *self, size_t size)
{
  DwarfAnswers *answers = self->answers;
  size_t capacity = self->text_capacity == 0 ? 4096 : self->text_capacity;
  char *larger;

  if (size <= self->text_capacity - answers->text_size)
    return true;
  while (capacity - answers->text_size < size)
    capacity *= 2;
  larger = realloc (answers->text, capacity);
  if (larger == NULL)
    return false;
  answers->text = larger;
  self->text_capacity = capacity;
  return true;
}

uint32_t
sysprof_dwarf_intern (Resolution *self, const char *text)
{
  DwarfAnswers *answers = self->answers;
  size_t size = text != NULL ? strnlen (text, MAX_STRING + 1) : 0;
  size_t at;

  if (size == 0 || size > MAX_STRING)
    return 0;
  self->work += size / 8;
  if (size + 1 > DWARF_MAX_TEXT - answers->text_size)
    {
      self->status = ELF_TOO_LARGE;
      return 0;
    }
  if ((2 * self->n_texts >= self->n_text_slots && !grow_text_slots (self)) ||
      !sysprof_dwarf_reserve_text (self, size + 1))
    {
      self->status = ELF_NO_MEMORY;
      return 0;
    }

  for (at = (size_t) hash_text (text, size) & (self->n_text_slots - 1);
       self->text_slot[at] != 0; at = (at + 1) & (self->n_text_slots - 1))
    if (strncmp (answers->text + self->text_slot[at], text, size + 1) == 0)
      return self->text_slot[at];

  self->text_slot[at] = (uint32_t) answers->text_size;
  self->n_texts++;
  memcpy (answers->text + answers->text_size, text, size);
  answers->text[answers->text_size + size] = 0;
  answers->text_size += size + 1;
  return self->text_slot[at];
}

static NameSlot *
find_slot (NameSlot *slots, size_t n, uint64_t key)
{
  size_t at = (size_t) (key * 0x9e3779b97f4a7c15 >> 20) & (n - 1);

  while (slots[at].is_used && slots[at].key != key)
    at = (at + 1) & (n - 1);
  return &slots[at];
}

static bool
grow_name_slots (Resolution *self)
{
  size_t n = self->n_name_slots == 0 ? 256 : 2 * self->n_name_slots;
  NameSlot *larger = calloc (n, sizeof *larger);

  if (larger == NULL)
    return false;
  for (size_t i = 0; i < self->n_name_slots; i++)
    if (self->name_slot[i].is_used)
      *find_slot (larger, n, self->name_slot[i].key) = self->name_slot[i];
  free (self->name_slot);
  self->name_slot = larger;
  self->n_name_slots = n;
  return true;
}

void
sysprof_dwarf_unit_files_clear (UnitFiles *self)
{
  sysprof_dwarf_lines_clear (&self->table);
  free (self->text);
  *self = (UnitFiles){ 0 };
}

void
sysprof_dwarf_unit_files_read (Resolution *self, UnitFiles *files, Unit *unit)
{
  files->is_there = sysprof_dwarf_lines_read (&files->table, unit);
  if (!files->is_there)
    return;
  self->work += files->table.n_files + files->table.n_directories;
  files->n_text = files->table.n_files + 1;
  files->text = calloc (files->n_text, sizeof *files->text);
  if (files->text == NULL)
    self->status = ELF_NO_MEMORY;
}

uint32_t
sysprof_dwarf_name_of_file (Resolution *self, UnitFiles *files, uint64_t file)
{
  char *path;

  if (!files->is_there || file >= files->n_text)
    return 0;
  if (files->text[file] == 0)
    {
      path = sysprof_dwarf_lines_path (&files->table, file);
      files->text[file] = sysprof_dwarf_intern (self, path);
      free (path);
    }
  return files->text[file];
}

/* The files of a unit other than the current one. */
static UnitFiles *
other_files (Resolution *self, Unit *unit)
{
  if (self->other_number != unit->file->number || self->other_offset != unit->offset)
    {
      sysprof_dwarf_unit_files_clear (&self->other_files);
      if (self->work < self->most_work)
        sysprof_dwarf_unit_files_read (self, &self->other_files, unit);
      self->other_number = unit->file->number;
      self->other_offset = unit->offset;
    }
  return &self->other_files;
}

void
sysprof_dwarf_describe_entry (Resolution *self,
                              Unit *unit,
                              UnitFiles *files,
                              uint64_t entry,
                              DwarfFrame *frame)
{
  /* Sections have at most 2^30 bytes. */
  uint64_t key = (uint64_t) unit->file->number << 32 | entry;
  NameSlot *slot;

  if (2 * self->n_names >= self->n_name_slots && !grow_name_slots (self))
    {
      self->status = ELF_NO_MEMORY;
      return;
    }
  slot = find_slot (self->name_slot, self->n_name_slots, key);
  if (!slot->is_used)
    {
      FunctionFacts facts = sysprof_dwarf_function_facts (unit, entry, &self->work);

      slot->key = key;
      slot->is_used = true;
      slot->text = sysprof_dwarf_intern (self, facts.name);
      if (facts.decl_unit != NULL && facts.decl_line != 0 && facts.decl_line <= UINT32_MAX)
        slot->decl_file = sysprof_dwarf_name_of_file (
            self, facts.decl_unit == unit ? files : other_files (self, facts.decl_unit),
            facts.decl_file);
      slot->decl_line = slot->decl_file != 0 ? (uint32_t) facts.decl_line : 0;
      self->n_names++;
    }
  frame->name = slot->text;
  frame->decl_file = slot->decl_file;
  frame->decl_line = slot->decl_line;
}

void
sysprof_dwarf_clear_texts (Resolution *self)
{
  free (self->text_slot);
  free (self->name_slot);
  sysprof_dwarf_unit_files_clear (&self->other_files);
}
