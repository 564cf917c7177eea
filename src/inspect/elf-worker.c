// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens an ELF file with its debug files from descriptors, and resolves offsets to symbols. It
 * runs in the parsing child, so it must not open paths or use GLib. */

#include "inspect/elf-worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* the section that distinguishes a kernel from its modules */
#define KERNEL_SECTION "__ksymtab"
#define KERNEL_LABEL   "_text"
#define MOST_SECTIONS  256 /* limit on the sections with code */

static void
close_fd (int *fd)
{
  if (*fd >= 0)
    (void) close (*fd); /* the file was only read */
  *fd = -1;
}

void
sysprof_elf_worker_close_dwarf (ElfWorker *self)
{
  sysprof_dwarf_free (self->dwarf);
  self->dwarf = NULL;
}

static void
clear_supplement (ElfWorker *self)
{
  sysprof_elf_worker_close_dwarf (self);
  sysprof_elf_image_free (self->supplement);
  self->supplement = NULL;
  close_fd (&self->supplement_fd);
}

static void
clear_package (ElfWorker *self)
{
  sysprof_elf_worker_close_dwarf (self);
  sysprof_elf_image_free (self->package);
  self->package = NULL;
  close_fd (&self->package_fd);
}

static void
clear_splits (ElfWorker *self)
{
  for (size_t i = 0; i < self->n_splits; i++)
    {
      free (self->split[i].directory);
      free (self->split[i].name);
      close_fd (&self->split[i].fd);
    }
  free (self->split);
  self->split = NULL;
  self->n_splits = self->n_given_splits = 0;
}

static void
clear_debug (ElfWorker *self)
{
  clear_supplement (self);
  clear_package (self);
  clear_splits (self);
  self->has_other_package = false;
  sysprof_elf_symbols_free (self->debug_symbols);
  sysprof_elf_symbols_free (self->data);
  sysprof_elf_image_free (self->debug_image);
  self->debug_symbols = self->data = NULL;
  self->debug_image = NULL;
  close_fd (&self->debug_fd);
}

void
sysprof_elf_worker_clear (ElfWorker *self)
{
  clear_debug (self);
  sysprof_elf_stubs_free (self->stubs);
  sysprof_elf_symbols_free (self->symbols);
  sysprof_elf_image_free (self->image);
  close_fd (&self->fd);
  *self = (ElfWorker) ELF_WORKER_INIT;
}

static bool
has_debug_info (const ElfImage *image)
{
  return sysprof_elf_image_has_section (image, ".debug_info");
}

/* `image` is the file that contains the debug information. */
static void
note_alt_link (ElfFacts *facts, ElfImage *image)
{
  size_t size = 0;

  facts->alt_link[0] = 0;
  facts->alt_id_size = 0;
  if (sysprof_elf_image_alt_link (image, facts->alt_link, facts->alt_id, &size) == ELF_OK)
    facts->alt_id_size = (uint32_t) size;
}

static void
note_text_sections (ElfFacts *facts, const ElfImage *image)
{
  const char *name;
  uint64_t address, size;

  for (size_t i = 0; i < MOST_SECTIONS && facts->n_text_sections < ELF_MAX_TEXT_SECTIONS &&
                     sysprof_elf_image_object_text (image, i, &name, &address, &size);
       i++)
    {
      ElfTextSection *section = &facts->text_section[facts->n_text_sections];

      if (strlen (name) >= sizeof section->name)
        continue;
      strcpy (section->name, name);
      section->address = address;
      section->size = size;
      facts->n_text_sections++;
    }
}

ElfStatus
sysprof_elf_worker_load_symbols (ElfWorker *self)
{
  ElfStatus status = sysprof_elf_symbols_load (self->image, &self->symbols);

  self->stubs = sysprof_elf_stubs_new (self->image, self->symbols);
  return status;
}

static void
note_symbols (ElfWorker *self)
{
  ElfFacts *own = &self->facts;

  own->symbols_status = sysprof_elf_worker_load_symbols (self);
  own->is_full = self->symbols != NULL && sysprof_elf_symbols_is_full (self->symbols);
  own->is_over_limit =
      own->symbols_status == ELF_TOO_LARGE ||
      (self->symbols != NULL && sysprof_elf_symbols_is_over_limit (self->symbols));
}

ElfStatus
sysprof_elf_worker_open (ElfWorker *self, int fd, bool is_for_lines, ElfFacts *facts)
{
  ElfFacts *own = &self->facts;
  ElfStatus status;
  size_t size = 0;

  sysprof_elf_worker_clear (self);
  self->fd = fd;
  self->is_for_lines = is_for_lines;
  status = sysprof_elf_image_open (fd, &self->image);
  if (status != ELF_OK)
    {
      sysprof_elf_worker_clear (self);
      return status;
    }

  if (sysprof_elf_image_build_id (self->image, own->build_id, &size) == ELF_OK)
    own->build_id_size = (uint32_t) size;
  if (sysprof_elf_image_debug_link (self->image, own->link, &own->link_crc) != ELF_OK)
    own->link[0] = 0;
  own->has_lines = has_debug_info (self->image);
  note_alt_link (own, self->image);
  if (!sysprof_elf_image_left_out_code (self->image, &own->text_address, &own->text_size))
    own->text_size = 0;
  if (sysprof_elf_image_has_section (self->image, KERNEL_SECTION) &&
      sysprof_elf_image_find_label (self->image, KERNEL_LABEL, &own->kernel_text) != ELF_OK)
    own->kernel_text = 0;
  note_text_sections (own, self->image);
  if (!is_for_lines)
    note_symbols (self);

  *facts = *own;
  return ELF_OK;
}

/* Sections of unlinked files are placed one behind the other in file order (elf.h). If the
 * debug file has other sections before them, its addresses belong to other code. */
static bool
has_same_places (const ElfImage *image, const ElfImage *debug_image)
{
  for (size_t i = 0; i < MOST_SECTIONS; i++)
    {
      const char *name, *debug_name;
      uint64_t address = 0, size = 0, debug_address = 0, debug_size = 0;
      bool is_there = sysprof_elf_image_object_text (image, i, &name, &address, &size);

      if (sysprof_elf_image_object_text (debug_image, i, &debug_name, &debug_address,
                                         &debug_size) != is_there ||
          address != debug_address || size != debug_size)
        return false;
      if (!is_there)
        break;
    }
  return true;
}

/* Compares the build IDs if both have one; else the checksum in the debug link. */
static bool
belongs_to_file (const ElfWorker *self, ElfImage *debug_image, int fd)
{
  const ElfFacts *facts = &self->facts;
  uint8_t build_id[ELF_MAX_BUILD_ID];
  size_t size;
  uint32_t crc;

  if (facts->build_id_size > 0 &&
      sysprof_elf_image_build_id (debug_image, build_id, &size) == ELF_OK)
    return size == facts->build_id_size && memcmp (build_id, facts->build_id, size) == 0;

  return facts->link[0] != 0 && sysprof_elf_file_crc (fd, &crc) == ELF_OK &&
         crc == facts->link_crc;
}

static ElfStatus
add_debug (ElfWorker *self, int fd)
{
  ElfStatus status;

  clear_debug (self);
  self->debug_fd = fd;
  if (self->image == NULL)
    status = ELF_ABSENT;
  else
    status = sysprof_elf_image_open (fd, &self->debug_image);

  if (status == ELF_OK && (!belongs_to_file (self, self->debug_image, fd) ||
                           !has_same_places (self->image, self->debug_image)))
    status = ELF_MISMATCH;
  if (status == ELF_OK && self->is_for_lines)
    status = has_debug_info (self->debug_image) ? ELF_OK : ELF_ABSENT;
  else if (status == ELF_OK)
    status = sysprof_elf_symbols_load (self->debug_image, &self->debug_symbols);
  if (status == ELF_OK && !self->is_for_lines &&
      !sysprof_elf_symbols_is_full (self->debug_symbols))
    status = ELF_ABSENT;
  if (status != ELF_OK)
    {
      clear_debug (self);
      return status;
    }

  note_alt_link (&self->facts, self->debug_image);
  return ELF_OK;
}

/* The build ID of the supplement must be the one that the debug information names. */
static bool
is_supplement (const ElfFacts *facts, ElfImage *image)
{
  uint8_t id[ELF_MAX_BUILD_ID];
  size_t size;

  return sysprof_elf_image_alt_id (image, id, &size) == ELF_OK && size == facts->alt_id_size &&
         memcmp (id, facts->alt_id, size) == 0;
}

static ElfStatus
add_supplement (ElfWorker *self, int fd)
{
  ElfStatus status;

  clear_supplement (self);
  self->supplement_fd = fd;
  if (self->image == NULL || self->facts.alt_id_size == 0)
    status = ELF_ABSENT;
  else
    status = sysprof_elf_image_open (fd, &self->supplement);

  if (status == ELF_OK && !is_supplement (&self->facts, self->supplement))
    status = ELF_MISMATCH;
  if (status == ELF_OK && !has_debug_info (self->supplement) &&
      !sysprof_elf_image_has_section (self->supplement, ".debug_str"))
    status = ELF_ABSENT;
  if (status != ELF_OK)
    clear_supplement (self);
  return status;
}

static bool
is_package (const ElfWorker *self, ElfImage *image)
{
  size_t n = self->n_splits - self->n_given_splits;
  uint64_t *dwo_ids = calloc (n + 1, sizeof *dwo_ids);
  bool is_one;

  if (dwo_ids == NULL)
    return false;
  for (size_t i = 0; i < n; i++)
    dwo_ids[i] = self->split[self->n_given_splits + i].dwo_id;
  is_one = sysprof_dwarf_has_packaged (image, dwo_ids, n);
  free (dwo_ids);
  return is_one;
}

static ElfStatus
add_package (ElfWorker *self, int fd)
{
  ElfStatus status;

  clear_package (self);
  self->package_fd = fd;
  if (self->image == NULL)
    status = ELF_ABSENT;
  else
    status = sysprof_elf_image_open (fd, &self->package);

  if (status == ELF_OK && !sysprof_elf_image_has_section (self->package, ".debug_cu_index"))
    status = ELF_ABSENT;
  if (status == ELF_OK && !is_package (self, self->package))
    {
      self->has_other_package = true;
      status = ELF_MISMATCH;
    }
  if (status != ELF_OK)
    clear_package (self);
  return status;
}

static ElfStatus
add_split (ElfWorker *self, int fd, size_t i)
{
  ElfSplitFile *split = self->split + self->n_given_splits + i;
  ElfImage *image = NULL;
  ElfStatus status;

  if (i >= self->n_splits - self->n_given_splits)
    status = ELF_ABSENT;
  else
    status = sysprof_elf_image_open (fd, &image);

  if (status == ELF_OK && !sysprof_dwarf_has_split (image, split->dwo_id))
    {
      split->is_other = true;
      status = ELF_MISMATCH;
    }
  sysprof_elf_image_free (image);
  if (status == ELF_OK)
    {
      close_fd (&split->fd);
      split->fd = fd;
    }
  else
    close_fd (&fd);
  return status;
}

ElfStatus
sysprof_elf_worker_add_part (ElfWorker *self, const ElfPart *part, int fd, ElfFacts *facts)
{
  ElfStatus status = ELF_ABSENT;

  switch (part->kind)
    {
    case ELF_PART_DEBUG:
      status = add_debug (self, fd);
      break;
    case ELF_PART_SUPPLEMENT:
      status = add_supplement (self, fd);
      break;
    case ELF_PART_PACKAGE:
      status = add_package (self, fd);
      break;
    case ELF_PART_SPLIT:
      status = add_split (self, fd, part->split);
      break;
    }
  if (status == ELF_OK)
    *facts = self->facts;
  return status;
}

/* --- resolving --- */

bool
sysprof_elf_worker_find_symbol (const ElfWorker *self, uint64_t address, ElfSymbol *symbol)
{
  return (self->debug_symbols != NULL &&
          sysprof_elf_symbols_find (self->debug_symbols, address, symbol)) ||
         (self->symbols != NULL && sysprof_elf_symbols_find (self->symbols, address, symbol)) ||
         (self->stubs != NULL && sysprof_elf_stubs_find (self->stubs, address, symbol));
}

static bool
name_answer (ElfAnswers *answers,
             const ElfSymbol *symbol,
             const ElfAnswer *last,
             ElfAnswer *answer)
{
  char *demangled;
  bool is_kept = true;

  answer->start = symbol->start;
  answer->end = symbol->end;
  /* Offsets ascend, so most answers are in the same function as the previous one. */
  if (last != NULL && last->name != 0 && last->start == symbol->start &&
      last->end == symbol->end)
    {
      answer->name = last->name;
      answer->demangled = last->demangled;
      return true;
    }

  demangled = sysprof_elf_demangle (symbol->name);
  if (!sysprof_elf_answers_add_text (answers, symbol->name, &answer->name) ||
      (demangled != NULL &&
       !sysprof_elf_answers_add_text (answers, demangled, &answer->demangled)))
    is_kept = false;
  free (demangled);
  return is_kept;
}

/* Even if a function has no name, its bounds may be known. */
static void
describe_nameless (const ElfWorker *self, ElfAnswer *answer)
{
  answer->is_entry =
      sysprof_elf_image_is_entry (self->image, self->symbols, answer->link_address);
  if (sysprof_elf_image_function_bounds (self->image, answer->link_address, &answer->start,
                                         &answer->end) != ELF_OK)
    answer->start = answer->end = 0;
}

ElfStatus
sysprof_elf_worker_find_address (const ElfWorker *self,
                                 const ElfQuery *query,
                                 uint64_t place,
                                 uint64_t *address)
{
  if (!query->are_addresses)
    return sysprof_elf_image_address_of_offset (self->image, place, address);

  *address = place;
  return ELF_OK;
}

static bool
find_data_address (const ElfWorker *self, uint64_t offset, uint64_t *address)
{
  ElfCode code[2];

  if (sysprof_elf_image_code (self->image, code, 2) != 1)
    return false;
  *address = offset - code->offset + code->start;
  return true;
}

static ElfStatus
resolve_data (ElfWorker *self, const ElfQuery *query, ElfAnswers *answers)
{
  ElfStatus status = ELF_OK;

  if (self->data == NULL && self->image != NULL)
    status = sysprof_elf_symbols_load_data (
        self->debug_image != NULL ? self->debug_image : self->image, &self->data);
  if (status != ELF_OK)
    return status;
  for (size_t i = 0; i < query->n; i++)
    {
      ElfAnswer *answer = &answers->symbol[i];
      ElfSymbol symbol;

      if (find_data_address (self, query->offsets[i], &answer->link_address) &&
          sysprof_elf_symbols_find (self->data, answer->link_address, &symbol) &&
          !name_answer (answers, &symbol, i > 0 ? answer - 1 : NULL, answer))
        return ELF_NO_MEMORY;
    }
  return ELF_OK;
}

static ElfStatus
resolve_symbols (ElfWorker *self, const ElfQuery *query, ElfAnswers *answers)
{
  uint32_t empty;

  answers->symbol = calloc (query->n + 1, sizeof (ElfAnswer));
  answers->n = query->n;
  if (answers->symbol == NULL || !sysprof_elf_answers_add_text (answers, "", &empty) ||
      self->image == NULL)
    return ELF_NO_MEMORY;
  if (query->kind == ELF_OBJECTS)
    return resolve_data (self, query, answers);

  for (size_t i = 0; i < query->n; i++)
    {
      ElfAnswer *answer = &answers->symbol[i];
      ElfSymbol symbol;

      if (sysprof_elf_worker_find_address (self, query, query->offsets[i],
                                           &answer->link_address) != ELF_OK)
        continue;
      if (!sysprof_elf_worker_find_symbol (self, answer->link_address, &symbol))
        describe_nameless (self, answer);
      else if (!name_answer (answers, &symbol, i > 0 ? answer - 1 : NULL, answer))
        return ELF_NO_MEMORY;
    }
  return ELF_OK;
}

ElfStatus
sysprof_elf_worker_resolve (ElfWorker *self, const ElfQuery *query, ElfAnswers *answers)
{
  ElfStatus status;

  *answers = (ElfAnswers){ 0 };
  status = (query->kind == ELF_LINES  ? sysprof_elf_worker_resolve_lines
            : query->kind == ELF_CODE ? sysprof_elf_worker_disassemble
                                      : resolve_symbols) (self, query, answers);
  if (status != ELF_OK)
    sysprof_elf_answers_clear (answers);
  return status;
}
