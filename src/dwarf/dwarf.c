// SPDX-License-Identifier: GPL-3.0-or-later

/* Resolves addresses: finds the unit of each, and combines the unit's functions and lines into
 * answers. */

#include "dwarf/unit.h"

#include <stdlib.h>

/* The maximum number of steps of a call: per byte of the sections, per address, and in any
 * case. */
#define WORK_PER_BYTE    16
#define WORK_PER_ADDRESS 1024
#define LEAST_WORK       (UINT64_C (16) << 20)

#define MAX_RANGES (UINT32_C (1) << 24) /* of all units */
/* overlapping ranges that are examined before an address */
#define MOST_BACK  64
#define MAX_STRING 65536 /* maximum bytes of a name */

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t furthest; /* the highest end of this range and all before it */
  uint32_t unit;     /* index */
} UnitRange;

struct Dwarf
{
  DwarfFiles files;
  DwarfFile file;
  DwarfFile supplement;
  DwarfFile package;
  DwarfFile split; /* the split file that is open */
  bool has_package;
  uint32_t n_files; /* number of files so far */
  UnitRange *range; /* [n_ranges] by start */
  size_t n_ranges;
  size_t ranges_capacity;
  bool has_unit_ranges; /* includes the units that .debug_aranges omits */
  bool has_no_memory;
};

/* --- the unit of an address --- */

typedef struct
{
  Dwarf *dwarf;
  uint32_t unit;
} RangeOwner;

static void
append_range (void *closure, uint64_t start, uint64_t end)
{
  RangeOwner *owner = closure;
  Dwarf *self = owner->dwarf;

  if (start >= end || self->n_ranges >= MAX_RANGES)
    return;
  if (self->n_ranges == self->ranges_capacity)
    {
      size_t capacity = self->ranges_capacity == 0 ? 256 : 2 * self->ranges_capacity;
      UnitRange *larger = realloc (self->range, capacity * sizeof (UnitRange));

      if (larger == NULL)
        {
          self->has_no_memory = true;
          return;
        }
      self->range = larger;
      self->ranges_capacity = capacity;
    }
  self->range[self->n_ranges++] = (UnitRange){ start, end, 0, owner->unit };
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
sort_ranges (Dwarf *self)
{
  uint64_t furthest = 0;

  if (self->n_ranges == 0)
    return;
  qsort (self->range, self->n_ranges, sizeof (UnitRange), compare_ranges);
  for (size_t i = 0; i < self->n_ranges; i++)
    {
      if (self->range[i].end > furthest)
        furthest = self->range[i].end;
      self->range[i].furthest = furthest;
    }
}

/* Reads one set of .debug_aranges. The cursor is after its length. */
static void
take_set (Dwarf *self, Cursor set, const uint8_t *start, bool is_64)
{
  uint16_t version = cursor_u16 (&set);
  uint64_t offset = cursor_uint (&set, is_64 ? 8 : 4);
  uint8_t address_size = cursor_u8 (&set);
  uint8_t segment_size = cursor_u8 (&set);
  Unit *unit;
  uint64_t misaligned;

  if (set.is_bad || version != 2 || (address_size != 4 && address_size != 8) ||
      segment_size != 0 || self->file.n_units == 0)
    return;
  /* The offset is that of a unit's header. */
  unit = sysprof_dwarf_file_find_unit (&self->file, offset + (is_64 ? 24 : 12));
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
        append_range (&(RangeOwner){ self, (uint32_t) (unit - self->file.units) }, from, to);
    }
}

static void
read_aranges (Dwarf *self)
{
  Cursor cursor = sysprof_dwarf_file_cursor (&self->file, SECTION_ARANGES, 0);

  while (cursor_left (&cursor) > 0)
    {
      const uint8_t *start = cursor.at, *end;
      Cursor set;
      bool is_64;

      if (!sysprof_dwarf_take_length (&cursor, &is_64, &end))
        break;
      set = cursor;
      set.end = end;
      take_set (self, set, start, is_64);
      cursor.at = end;
    }
}

static void
read_unit_ranges (Dwarf *self)
{
  self->has_unit_ranges = true;
  for (size_t i = 0; i < self->file.n_units; i++)
    {
      Unit *unit = &self->file.units[i];
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
find_unit (const Dwarf *self, uint64_t address)
{
  size_t low = 0, high = self->n_ranges;

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

/* --- texts --- */

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
} Files;

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
  Files other_files;     /* of the unit that declares a function of this unit */
  uint32_t other_number; /* of that unit's file, */
  uint64_t other_offset; /* and its offset in the file */
  uint64_t work;
  uint64_t most_work;
  ElfStatus status;
} Resolution;

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

static bool
reserve_text (Resolution *self, size_t size)
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

/* The text's offset; 0 if it is empty, or out of memory (status). */
static uint32_t
intern (Resolution *self, const char *text)
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
      !reserve_text (self, size + 1))
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

/* --- files --- */

static void
clear_files (Files *self)
{
  sysprof_dwarf_lines_clear (&self->table);
  free (self->text);
  *self = (Files){ 0 };
}

static void
read_files (Resolution *self, Files *files, Unit *unit)
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

static uint32_t
name_of_file (Resolution *self, Files *files, uint64_t file)
{
  char *path;

  if (!files->is_there || file >= files->n_text)
    return 0;
  if (files->text[file] == 0)
    {
      path = sysprof_dwarf_lines_path (&files->table, file);
      files->text[file] = intern (self, path);
      free (path);
    }
  return files->text[file];
}

/* The files of a unit other than the current one. */
static Files *
other_files (Resolution *self, Unit *unit)
{
  if (self->other_number != unit->file->number || self->other_offset != unit->offset)
    {
      clear_files (&self->other_files);
      if (self->work < self->most_work)
        read_files (self, &self->other_files, unit);
      self->other_number = unit->file->number;
      self->other_offset = unit->offset;
    }
  return &self->other_files;
}

/* Finds the name of the function at an entry and its declaration. `files` are those of the
 * unit. */
static void
describe_entry (Resolution *self, Unit *unit, Files *files, uint64_t entry, DwarfFrame *frame)
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
      slot->text = intern (self, facts.name);
      if (facts.decl_unit != NULL && facts.decl_line != 0 && facts.decl_line <= UINT32_MAX)
        slot->decl_file = name_of_file (
            self, facts.decl_unit == unit ? files : other_files (self, facts.decl_unit),
            facts.decl_file);
      slot->decl_line = slot->decl_file != 0 ? (uint32_t) facts.decl_line : 0;
      self->n_names++;
    }
  frame->name = slot->text;
  frame->decl_file = slot->decl_file;
  frame->decl_line = slot->decl_line;
}

/* --- the addresses of one unit --- */

static DwarfFrame *
append_frame (Resolution *self)
{
  DwarfAnswers *answers = self->answers;

  if (answers->n_frames == self->frames_capacity)
    {
      size_t capacity = self->frames_capacity == 0 ? 256 : 2 * self->frames_capacity;
      DwarfFrame *larger;

      if (capacity > DWARF_MAX_FRAMES)
        {
          self->status = ELF_TOO_LARGE;
          return NULL;
        }
      larger = realloc (answers->frame, capacity * sizeof (DwarfFrame));
      if (larger == NULL)
        {
          self->status = ELF_NO_MEMORY;
          return NULL;
        }
      answers->frame = larger;
      self->frames_capacity = capacity;
    }
  answers->frame[answers->n_frames] = (DwarfFrame){ 0 };
  return &answers->frame[answers->n_frames++];
}

static void
append_frames (Resolution *self,
               Unit *unit,
               const Functions *functions,
               size_t i,
               const LineRow *line,
               Files *files,
               DwarfRow *row)
{
  uint32_t file = line->is_known ? line->file : 0;
  uint32_t number = line->is_known ? line->line : 0;
  bool has_file = line->is_known;

  row->first = (uint32_t) self->answers->n_frames;
  row->start = functions->start[i];
  row->end = functions->end[i];
  for (uint32_t at = functions->innermost[i]; at != 0 || row->n == 0;
       at = functions->call[at].parent)
    {
      const Call *call = at != 0 ? &functions->call[at] : NULL;
      DwarfFrame *frame;

      if (call == NULL && !has_file)
        return;
      frame = append_frame (self);
      if (frame == NULL)
        return;
      row->n++;
      frame->line = number;
      frame->file = has_file ? name_of_file (self, files, file) : 0;
      if (call == NULL)
        return;

      frame->is_inlined = call->is_inlined;
      describe_entry (self, unit, files, call->entry, frame);
      file = call->call_file;
      number = call->call_line;
      has_file = true;
      self->work++;
    }
}

static Unit *
find_unit_by_id (DwarfFile *file, uint64_t dwo_id)
{
  for (size_t i = 0; i < file->n_units; i++)
    {
      Unit *unit = &file->units[i];

      if (unit->type != DW_UT_SPLIT_TYPE && unit->type != DW_UT_TYPE &&
          sysprof_dwarf_unit_root (unit)->dwo_id == dwo_id)
        return unit;
    }
  return NULL;
}

/* Finds the unit with that ID in the file of the borrowed descriptor. */
static Unit *
open_split (Dwarf *self, int fd, uint64_t dwo_id)
{
  ElfImage *image;

  if (fd < 0 || sysprof_elf_image_open (fd, &image) != ELF_OK)
    return NULL;

  sysprof_dwarf_file_clear (&self->split);
  /* on failure the file has no units */
  (void) sysprof_dwarf_file_init (&self->split, image, true);
  self->split.owns_image = true;
  self->split.main = &self->file;
  self->split.number = ++self->n_files;
  (void) sysprof_dwarf_file_find_units (&self->split); /* likewise */
  return find_unit_by_id (&self->split, dwo_id);
}

bool
sysprof_dwarf_has_split (ElfImage *image, uint64_t dwo_id)
{
  DwarfFile file = { 0 };
  bool has_unit = sysprof_dwarf_file_init (&file, image, true) == ELF_OK &&
                  sysprof_dwarf_file_find_units (&file) == ELF_OK &&
                  find_unit_by_id (&file, dwo_id) != NULL;

  sysprof_dwarf_file_clear (&file);
  return has_unit;
}

bool
sysprof_dwarf_has_packaged (ElfImage *image, const uint64_t *dwo_ids, size_t n)
{
  DwarfFile file = { 0 };
  bool has_unit = false;

  if (sysprof_dwarf_file_init (&file, image, true) == ELF_OK)
    for (size_t i = 0; i < n && !has_unit; i++)
      has_unit = sysprof_dwarf_file_find_packaged (&file, dwo_ids[i]);

  sysprof_dwarf_file_clear (&file);
  return has_unit;
}

/* Adds the file that should have the unit to the answers. */
static void
note_split (Resolution *self,
            const char *directory,
            const char *name,
            uint64_t dwo_id,
            bool is_other)
{
  DwarfAnswers *answers = self->answers;
  DwarfSplit split = { .directory = intern (self, directory),
                       .name = intern (self, name),
                       .dwo_id = dwo_id,
                       .is_other = is_other };

  if (split.name == 0)
    return;
  if (answers->split == NULL)
    answers->split = calloc (DWARF_MAX_SPLITS, sizeof (DwarfSplit));
  if (answers->split == NULL)
    {
      self->status = ELF_NO_MEMORY;
      return;
    }

  for (size_t i = 0; i < answers->n_splits; i++)
    if (answers->split[i].directory == split.directory && answers->split[i].name == split.name)
      return;
  if (answers->n_splits < DWARF_MAX_SPLITS)
    answers->split[answers->n_splits++] = split;
}

/* The split unit of a skeleton; the skeleton itself if the split unit is not available. */
static Unit *
find_split (Resolution *self, Unit *skeleton)
{
  Dwarf *dwarf = self->dwarf;
  const Root *root = sysprof_dwarf_unit_root (skeleton);
  const char *directory = root->comp_dir != NULL ? root->comp_dir : "";
  bool is_other = dwarf->has_package;
  Unit *found = NULL;

  /* An empty name is not a file. */
  if (root->dwo_name == NULL || root->dwo_name[0] == '\0')
    return skeleton;

  if (dwarf->has_package && sysprof_dwarf_file_find_packaged (&dwarf->package, root->dwo_id))
    {
      dwarf->package.number = ++dwarf->n_files;
      found = &dwarf->package.units[0];
    }
  else if (dwarf->files.open_split != NULL)
    {
      int fd = dwarf->files.open_split (dwarf->files.closure, directory, root->dwo_name);

      is_other = is_other || fd >= 0;
      found = open_split (dwarf, fd, root->dwo_id);
    }
  if (found == NULL)
    {
      note_split (self, directory, root->dwo_name, root->dwo_id, is_other);
      return skeleton;
    }

  (void) sysprof_dwarf_unit_root (found); /* its bases, except for this one */
  found->addresses_base = skeleton->addresses_base;
  if (found->file == &dwarf->split)
    self->most_work +=
        sysprof_dwarf_file_section (found->file, SECTION_INFO)->size * WORK_PER_BYTE;
  return found;
}

static uint64_t
work_left (const Resolution *self)
{
  return self->work < self->most_work ? self->most_work - self->work : 0;
}

/* Reads the functions of a unit, then its lines. */
static void
read_unit (Resolution *self,
           Unit *unit,
           Unit *skeleton,
           Functions *functions,
           Files *files,
           LineRow *lines)
{
  functions->most_work = work_left (self);
  sysprof_dwarf_functions_find (functions, unit, skeleton);
  self->work += functions->work;
  self->answers->is_over_limit |= functions->is_over_limit;
  if (functions->has_no_memory)
    self->status = ELF_NO_MEMORY;

  read_files (self, files, skeleton);
  if (files->is_there && self->status == ELF_OK)
    self->work += sysprof_dwarf_lines_run (&files->table, functions->addresses, functions->n,
                                           work_left (self), lines);
}

/* `asked` are the indices of the `n` addresses in the answers. */
static void
resolve_unit (Resolution *self,
              Unit *skeleton,
              const uint64_t *addresses,
              const uint32_t *asked,
              size_t n)
{
  Unit *unit = find_split (self, skeleton);
  Files files = { 0 };
  Functions functions = {
    .addresses = addresses,
    .n = n,
    .innermost = calloc (n, sizeof (uint32_t)),
    .start = calloc (n, sizeof (uint64_t)),
    .end = calloc (n, sizeof (uint64_t)),
  };
  LineRow *lines = calloc (n, sizeof (LineRow));

  (void) sysprof_dwarf_unit_root (skeleton); /* reads the bases */
  if (functions.innermost == NULL || functions.start == NULL || functions.end == NULL ||
      lines == NULL)
    self->status = ELF_NO_MEMORY;
  else
    read_unit (self, unit, skeleton, &functions, &files, lines);

  for (size_t i = 0; i < n && self->status == ELF_OK; i++)
    append_frames (self, unit, &functions, i, &lines[i], &files, &self->answers->row[asked[i]]);

  clear_files (&files);
  free (functions.innermost);
  free (functions.start);
  free (functions.end);
  free (functions.call);
  free (lines);
}

/* --- all addresses --- */

typedef struct
{
  uint32_t unit;
  uint32_t asked; /* index of the address */
} UnitOfAddress;

static int
compare_units (const void *a, const void *b)
{
  const UnitOfAddress *left = a, *right = b;

  if (left->unit != right->unit)
    return left->unit < right->unit ? -1 : 1;
  return (left->asked > right->asked) - (left->asked < right->asked);
}

static void
find_units (Dwarf *self, const uint64_t *addresses, size_t n, UnitOfAddress *units)
{
  for (size_t i = 0; i < n; i++)
    {
      uint32_t unit = find_unit (self, addresses[i]);

      if (unit == UINT32_MAX && !self->has_unit_ranges)
        {
          read_unit_ranges (self);
          unit = find_unit (self, addresses[i]);
        }
      units[i] = (UnitOfAddress){ unit, (uint32_t) i };
    }
  qsort (units, n, sizeof (UnitOfAddress), compare_units);
}

static void
resolve_units (Resolution *self,
               const UnitOfAddress *units,
               size_t n,
               const uint64_t *addresses)
{
  uint64_t *of_unit = calloc (n + 1, sizeof *of_unit);
  uint32_t *asked = calloc (n + 1, sizeof *asked);
  size_t end;

  if (of_unit == NULL || asked == NULL)
    self->status = ELF_NO_MEMORY;
  for (size_t i = 0; i < n && units[i].unit != UINT32_MAX && self->status == ELF_OK; i = end)
    {
      for (end = i; end < n && units[end].unit == units[i].unit; end++)
        {
          asked[end - i] = units[end].asked;
          of_unit[end - i] = addresses[units[end].asked];
        }
      resolve_unit (self, &self->dwarf->file.units[units[i].unit], of_unit, asked, end - i);
      if (self->status == ELF_OK && self->work >= self->most_work)
        self->status = ELF_TOO_LARGE;
    }

  free (of_unit);
  free (asked);
}

static uint64_t
bound_work (Dwarf *self, size_t n)
{
  uint64_t size = sysprof_dwarf_file_section (&self->file, SECTION_INFO)->size +
                  sysprof_dwarf_file_section (&self->file, SECTION_LINE)->size +
                  sysprof_dwarf_file_section (&self->file, SECTION_RANGES)->size +
                  sysprof_dwarf_file_section (&self->file, SECTION_RNGLISTS)->size;

  if (self->has_package)
    size += sysprof_dwarf_file_section (&self->package, SECTION_INFO)->size;
  return LEAST_WORK + size * WORK_PER_BYTE + (uint64_t) n * WORK_PER_ADDRESS;
}

ElfStatus
sysprof_dwarf_resolve (Dwarf *self, const uint64_t *addresses, size_t n, DwarfAnswers *answers)
{
  Resolution resolution = { .dwarf = self, .answers = answers };
  UnitOfAddress *units = calloc (n + 1, sizeof *units);

  *answers = (DwarfAnswers){ .row = calloc (n + 1, sizeof (DwarfRow)), .n = n };
  self->file.abbrev_work = self->supplement.abbrev_work = self->package.abbrev_work = 0;
  resolution.most_work = bound_work (self, n);
  if (n >= UINT32_MAX || units == NULL || answers->row == NULL ||
      !reserve_text (&resolution, 1))
    {
      resolution.status = ELF_NO_MEMORY;
    }
  else
    {
      answers->text[0] = 0;
      answers->text_size = 1;
      find_units (self, addresses, n, units);
      resolve_units (&resolution, units, n, addresses);
      if (self->has_no_memory)
        resolution.status = ELF_NO_MEMORY;
    }

  answers->is_over_limit |= resolution.status == ELF_TOO_LARGE;
  if (resolution.status == ELF_NO_MEMORY)
    sysprof_dwarf_answers_clear (answers);
  free (units);
  free (resolution.text_slot);
  free (resolution.name_slot);
  clear_files (&resolution.other_files);
  sysprof_dwarf_file_clear (&self->split); /* its descriptor was borrowed */
  return resolution.status;
}

void
sysprof_dwarf_answers_clear (DwarfAnswers *self)
{
  free (self->row);
  free (self->frame);
  free (self->split);
  free (self->text);
  *self = (DwarfAnswers){ 0 };
}

/* --- open and close --- */

ElfStatus
sysprof_dwarf_open (const DwarfFiles *files, Dwarf **dwarf)
{
  Dwarf *self = calloc (1, sizeof *self);
  ElfStatus status;

  if (self == NULL)
    return ELF_NO_MEMORY;

  self->files = *files;
  status = sysprof_dwarf_file_init (&self->file, files->image, false);
  if (status == ELF_OK)
    status = sysprof_dwarf_file_find_units (&self->file);
  self->file.number = ++self->n_files;
  if (status == ELF_OK && files->supplement != NULL)
    {
      /* Two small programs may share nothing but strings. */
      if (sysprof_dwarf_file_init (&self->supplement, files->supplement, false) == ELF_OK)
        status = sysprof_dwarf_file_find_units (&self->supplement);
      self->supplement.number = ++self->n_files;
      self->file.supplement = &self->supplement;
    }
  if (status == ELF_OK && files->package != NULL &&
      sysprof_dwarf_file_init (&self->package, files->package, true) == ELF_OK)
    {
      self->package.main = &self->file;
      self->has_package = true;
    }
  if (status != ELF_OK)
    {
      sysprof_dwarf_free (self);
      return status;
    }

  read_aranges (self);
  sort_ranges (self);
  *dwarf = self;
  return ELF_OK;
}

void
sysprof_dwarf_free (Dwarf *self)
{
  if (self == NULL)
    return;

  sysprof_dwarf_file_clear (&self->file);
  sysprof_dwarf_file_clear (&self->supplement);
  sysprof_dwarf_file_clear (&self->package);
  sysprof_dwarf_file_clear (&self->split);
  free (self->range);
  free (self);
}
