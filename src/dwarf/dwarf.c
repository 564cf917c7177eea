// SPDX-License-Identifier: GPL-3.0-or-later

/* Resolves addresses: finds the unit of each, and combines the unit's functions and lines into
 * answers. A skeleton's functions are in its split unit. */

#include "dwarf/answer-texts.h"
#include "dwarf/unit-ranges.h"

#include <stdlib.h>

/* The maximum number of steps of a call: per byte of the sections, per address, and in any
 * case. */
#define WORK_PER_BYTE    16
#define WORK_PER_ADDRESS 1024
#define LEAST_WORK       (UINT64_C (16) << 20)

struct Dwarf
{
  DwarfFiles files;
  DwarfFile file;
  DwarfFile supplement;
  DwarfFile package;
  DwarfFile split; /* the split file that is open */
  bool has_package;
  uint32_t n_files;  /* number of files so far */
  UnitRanges ranges; /* of `file` */
};

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
               UnitFiles *files,
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
      frame->file = has_file ? sysprof_dwarf_name_of_file (self, files, file) : 0;
      if (call == NULL)
        return;

      frame->is_inlined = call->is_inlined;
      sysprof_dwarf_describe_entry (self, unit, files, call->entry, frame);
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
  DwarfSplit split = { .directory = sysprof_dwarf_intern (self, directory),
                       .name = sysprof_dwarf_intern (self, name),
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
           UnitFiles *files,
           LineRow *lines)
{
  functions->most_work = work_left (self);
  sysprof_dwarf_functions_find (functions, unit, skeleton);
  self->work += functions->work;
  self->answers->is_over_limit |= functions->is_over_limit;
  if (functions->has_no_memory)
    self->status = ELF_NO_MEMORY;

  sysprof_dwarf_unit_files_read (self, files, skeleton);
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
  UnitFiles files = { 0 };
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

  sysprof_dwarf_unit_files_clear (&files);
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
    units[i] = (UnitOfAddress){
      sysprof_dwarf_unit_ranges_find (&self->ranges, &self->file, addresses[i]), (uint32_t) i
    };
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
      !sysprof_dwarf_reserve_text (&resolution, 1))
    {
      resolution.status = ELF_NO_MEMORY;
    }
  else
    {
      answers->text[0] = 0;
      answers->text_size = 1;
      find_units (self, addresses, n, units);
      resolve_units (&resolution, units, n, addresses);
      if (self->ranges.has_no_memory)
        resolution.status = ELF_NO_MEMORY;
    }

  answers->is_over_limit |= resolution.status == ELF_TOO_LARGE;
  if (resolution.status == ELF_NO_MEMORY)
    sysprof_dwarf_answers_clear (answers);
  free (units);
  sysprof_dwarf_clear_texts (&resolution);
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

  sysprof_dwarf_unit_ranges_read (&self->ranges, &self->file);
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
  sysprof_dwarf_unit_ranges_clear (&self->ranges);
  free (self);
}
