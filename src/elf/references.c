// SPDX-License-Identifier: GPL-3.0-or-later

/* Links the code of an object file that is not linked, as far as this is possible without
 * knowing the final addresses: references within a section, such as calls. Lists the other
 * references with their symbols.
 *
 * Source: the psABIs of x86-64 ("Relocation Types") and of the Arm 64-bit architecture ("Static
 * AArch64 relocations"). */

#include "elf/image.h"

#include <stdlib.h>

#define RELA_SIZE   sizeof (Elf64_Rela)
#define SYMBOL_SIZE sizeof (Elf64_Sym)
#define ARM64_INSN  4
#define ARM64_IMM26 UINT32_C (0x03ffffff)
/* bytes: maximum distance of a call in either direction */
#define ARM64_REACH (INT64_C (1) << 27)
#define FIRST_ROWS  16

/* The format of a reference in an instruction. */
typedef enum
{
  FIELD_UNKNOWN,
  FIELD_RELATIVE,    /* 32 bits, relative to their own address */
  FIELD_CALL,        /* the lower 26 bits of an instruction: a quarter of the distance */
  FIELD_SOMEHOW,     /* 32 bits, not linked here */
  FIELD_SOMEHOW_FAR, /* 64 bits, not linked here */
  FIELD_SOMEHOW_RELATIVE,
} Field;

static Field
field_of (uint16_t machine, uint32_t type)
{
  if (machine == EM_X86_64)
    switch (type)
      {
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        return FIELD_RELATIVE;
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        return FIELD_SOMEHOW_RELATIVE;
      case R_X86_64_32:
      case R_X86_64_32S:
        return FIELD_SOMEHOW;
      case R_X86_64_64:
        return FIELD_SOMEHOW_FAR;
      default:
        return FIELD_UNKNOWN;
      }
  if (machine == EM_AARCH64)
    {
      if (type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26)
        return FIELD_CALL;
      if (type >= R_AARCH64_MOVW_UABS_G0 && type <= R_AARCH64_LDST128_ABS_LO12_NC)
        return FIELD_SOMEHOW;
    }
  return FIELD_UNKNOWN;
}

typedef struct
{
  const ElfImage *image;
  const ElfSection *section; /* the section of the code */
  uint64_t start;            /* offset of the code in the section */
  uint8_t *code;             /* [size] */
  uint64_t size;
  uint8_t *list; /* [list_size] of relocations */
  uint64_t list_size;
  uint8_t *symbols; /* [symbols_size] */
  uint64_t symbols_size;
  char *strings; /* [strings_size], terminated with NUL */
  uint64_t strings_size;
  ElfReferences *into;
  size_t capacity;
} Linker;

static const char *
name_of_section (const ElfImage *image, const ElfSection *section)
{
  return section->name < image->section_names_size ? image->section_names + section->name : "";
}

/* FALSE: there is no such symbol. */
static bool
find_symbol (const Linker *self,
             uint32_t number,
             ElfReference *reference,
             const ElfSection **section)
{
  const ElfImage *image = self->image;
  const uint8_t *at;
  uint32_t name;
  uint16_t index;

  *section = NULL;
  if (number == 0 || number >= self->symbols_size / SYMBOL_SIZE)
    return false;
  at = self->symbols + (uint64_t) number * SYMBOL_SIZE;
  name = sysprof_bytes_peek_u32 (at, image->is_swapped);
  index = sysprof_bytes_peek_u16 (at + 6, image->is_swapped);
  reference->name = name < self->strings_size ? self->strings + name : "";
  if (index == SHN_UNDEF || index >= SHN_LORESERVE || index >= image->n_sections)
    return true;

  *section = &image->sections[index];
  if (ELF64_ST_TYPE (at[4]) == STT_SECTION)
    reference->name = name_of_section (image, *section);
  /* An address before or after data may be that of a function, which is not the target. */
  if ((*section)->address != 0 && ((*section)->flags & SHF_EXECINSTR))
    reference->value = (*section)->address + sysprof_bytes_peek_u64 (at + 8, image->is_swapped);
  return true;
}

static void
store (uint8_t *at, uint32_t value, bool is_swapped)
{
  value = is_swapped ? __builtin_bswap32 (value) : value;
  memcpy (at, &value, sizeof value);
}

/* The distance does not change if the section moves. FALSE: it is too large. */
static bool
set_distance (const Linker *self, uint64_t at, Field field, int64_t distance)
{
  uint8_t *bytes = self->code + at;

  if (field == FIELD_RELATIVE && distance >= INT32_MIN && distance <= INT32_MAX)
    store (bytes, (uint32_t) distance, self->image->is_swapped);
  else if (field == FIELD_CALL && distance >= -ARM64_REACH && distance < ARM64_REACH)
    {
      /* Instructions are little-endian even if the data is big-endian. */
      uint32_t bits = ((uint32_t) bytes[3] << 24) & ~ARM64_IMM26;

      bits |= (uint32_t) (distance >> 2) & ARM64_IMM26;
      for (unsigned i = 0; i < ARM64_INSN; i++)
        bytes[i] = (uint8_t) (bits >> 8 * i);
    }
  else
    return false;
  return true;
}

static bool
append (Linker *self, const ElfReference *reference)
{
  ElfReferences *into = self->into;

  if (into->n == self->capacity)
    {
      size_t capacity = self->capacity == 0 ? FIRST_ROWS : self->capacity * 2;
      ElfReference *larger = realloc (into->row, capacity * sizeof *larger);

      if (larger == NULL)
        return false;
      into->row = larger;
      self->capacity = capacity;
    }
  into->row[into->n++] = *reference;
  return true;
}

static ElfStatus
link_all (Linker *self)
{
  const ElfImage *image = self->image;

  /* Each byte belongs to at most one reference; a file may claim more. */
  for (uint64_t i = 0; i < self->list_size / RELA_SIZE && self->into->n < self->size; i++)
    {
      const uint8_t *at = self->list + i * RELA_SIZE;
      uint64_t offset = sysprof_bytes_peek_u64 (at, image->is_swapped);
      uint64_t info = sysprof_bytes_peek_u64 (at + 8, image->is_swapped);
      uint64_t addend = sysprof_bytes_peek_u64 (at + 16, image->is_swapped);
      Field field = field_of (image->machine, (uint32_t) info);
      uint64_t width = field == FIELD_SOMEHOW_FAR ? 8 : 4;
      ElfReference reference = { 0 };
      const ElfSection *target;

      if (field == FIELD_UNKNOWN || self->size < width || offset < self->start ||
          offset - self->start > self->size - width ||
          !find_symbol (self, (uint32_t) (info >> 32), &reference, &target))
        continue;
      reference.at = self->section->address + offset;
      reference.addend = (int64_t) addend;
      reference.is_from_end = image->machine == EM_X86_64 &&
                              (field == FIELD_RELATIVE || field == FIELD_SOMEHOW_RELATIVE);
      if (target == self->section &&
          set_distance (self, offset - self->start, field,
                        (int64_t) (reference.value + addend - reference.at)))
        continue;
      if (!append (self, &reference))
        return ELF_NO_MEMORY;
    }
  return ELF_OK;
}

static int
compare_references (const void *a, const void *b)
{
  const ElfReference *left = a, *right = b;

  return (left->at > right->at) - (left->at < right->at);
}

void
sysprof_elf_references_clear (ElfReferences *self)
{
  free (self->row);
  free (self->strings);
  *self = (ElfReferences){ 0 };
}

static ElfStatus
read_lists (Linker *self, ElfImage *image, const ElfSection *list)
{
  const ElfSection *symbols;
  ElfStatus status;

  if (list->type == SHT_REL || !image->is_64 || list->link >= image->n_sections ||
      (image->machine != EM_X86_64 && image->machine != EM_AARCH64))
    return ELF_UNSUPPORTED;
  symbols = &image->sections[list->link];
  if (symbols->link >= image->n_sections)
    return ELF_CORRUPT;

  status = sysprof_elf_image_read_section_unlinked (image, list, &self->list, &self->list_size);
  if (status == ELF_OK)
    status = sysprof_elf_image_read_section_unlinked (image, symbols, &self->symbols,
                                                      &self->symbols_size);
  if (status == ELF_OK)
    status = sysprof_elf_image_read_section_unlinked (image, &image->sections[symbols->link],
                                                      (uint8_t **) &self->strings,
                                                      &self->strings_size);
  return status;
}

ElfStatus
sysprof_elf_image_link_code (ElfImage *image,
                             uint64_t start,
                             uint8_t *code,
                             uint64_t size,
                             ElfReferences *references)
{
  Linker self = { .image = image, .code = code, .size = size, .into = references };
  ElfStatus status = ELF_OK;
  uint32_t number = 0;

  *references = (ElfReferences){ 0 };
  for (uint32_t i = 1; i < image->n_sections && number == 0 && image->type == ET_REL; i++)
    if (image->sections[i].address != 0 && start >= image->sections[i].address &&
        start - image->sections[i].address < image->sections[i].size)
      number = i;
  if (number == 0)
    return ELF_OK;

  self.section = &image->sections[number];
  self.start = start - self.section->address;
  for (uint32_t i = 1; i < image->n_sections; i++)
    {
      const ElfSection *list = &image->sections[i];

      if ((list->type != SHT_RELA && list->type != SHT_REL) || list->info != number)
        continue;
      status = read_lists (&self, image, list);
      if (status == ELF_OK)
        status = link_all (&self);
      break; /* one section of relocations */
    }
  free (self.list);
  free (self.symbols);
  references->strings = self.strings;
  if (references->n > 0)
    qsort (references->row, references->n, sizeof *references->row, compare_references);
  if (status != ELF_OK)
    sysprof_elf_references_clear (references);
  return status;
}
