// SPDX-License-Identifier: GPL-3.0-or-later

/* Relocates the debug information of object files that were never linked, such as kernel
 * modules, which the kernel links. Debug information refers to code and to other debug sections
 * only by sums of a symbol and a number.
 *
 * Source: the psABIs of x86-64 ("Relocation Types") and of the Arm 64-bit architecture ("Static
 * data relocations"). */

#include "elf/image.h"

#include <stdlib.h>

#define FIRST_ADDRESS UINT64_C (0x1000) /* 0 would mean "no address" */
#define LEAST_ALIGN   UINT64_C (16)
#define MOST_ALIGN    (UINT64_C (1) << 21)
#define MOST_SIZE     (UINT64_C (1) << 40)
#define RELA_SIZE     sizeof (Elf64_Rela)
#define SYMBOL_SIZE   sizeof (Elf64_Sym)

void
sysprof_elf_image_place_sections (ElfImage *self)
{
  uint64_t at = FIRST_ADDRESS;

  for (uint32_t i = 1; i < self->n_sections; i++)
    {
      ElfSection *section = &self->sections[i];
      uint64_t align = section->align;

      section->address = 0;
      if (!(section->flags & SHF_ALLOC) || section->size > MOST_SIZE || at > MOST_SIZE)
        continue;
      if (align < LEAST_ALIGN || align > MOST_ALIGN || (align & (align - 1)) != 0)
        align = LEAST_ALIGN;
      at = (at + align - 1) & ~(align - 1);
      section->address = at;
      at += section->size;
    }
}

bool
sysprof_elf_image_object_text (const ElfImage *image,
                               size_t i,
                               const char **name,
                               uint64_t *address,
                               uint64_t *size)
{
  for (uint32_t k = 1; k < image->n_sections && image->type == ET_REL; k++)
    {
      const ElfSection *section = &image->sections[k];

      if (section->address == 0 || !(section->flags & SHF_EXECINSTR) ||
          section->name >= image->section_names_size || i-- > 0)
        continue;
      *name = image->section_names + section->name;
      *address = section->address;
      *size = section->size;
      return true;
    }
  return false;
}

bool
sysprof_elf_image_object_code (const ElfImage *image, uint32_t number, ElfCode *code)
{
  const ElfSection *section = &image->sections[number];
  uint64_t size = section->size;

  if (image->type != ET_REL || section->type != SHT_PROGBITS ||
      !(section->flags & SHF_EXECINSTR) || (section->flags & SHF_COMPRESSED) ||
      section->address == 0 || section->offset >= image->source.size)
    return false;
  if (size > image->source.size - section->offset)
    size = image->source.size - section->offset;

  *code = (ElfCode){ .start = section->address,
                     .end = section->address + size,
                     .offset = section->offset };
  return size > 0;
}

/* The number of bytes that a relocation sets to a sum; 0 = another kind. */
static unsigned
size_of_sum (uint16_t machine, uint32_t type)
{
  switch (machine)
    {
    case EM_X86_64:
      return type == R_X86_64_64 ? 8 : type == R_X86_64_32 || type == R_X86_64_32S ? 4 : 0;
    case EM_AARCH64:
      return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : 0;
    default:
      return 0;
    }
}

typedef struct
{
  uint8_t *bytes; /* [size] */
  uint64_t size;
} Content;

/* The value of a symbol by its number. FALSE: it is not defined in this file. */
static bool
find_value (const ElfImage *self, const Content *symbols, uint32_t number, uint64_t *value)
{
  const uint8_t *at;
  uint16_t section;

  if (number >= symbols->size / SYMBOL_SIZE)
    return false;
  at = symbols->bytes + (uint64_t) number * SYMBOL_SIZE;
  section = sysprof_bytes_peek_u16 (at + 6, self->is_swapped);
  *value = sysprof_bytes_peek_u64 (at + 8, self->is_swapped);
  if (section == SHN_ABS)
    return true;
  if (section == SHN_UNDEF || section >= SHN_LORESERVE || section >= self->n_sections)
    return false;
  *value += self->sections[section].address;
  return true;
}

static void
store (uint8_t *at, uint64_t value, unsigned size, bool is_swapped)
{
  uint32_t low = (uint32_t) value;

  if (size == sizeof low)
    {
      low = is_swapped ? __builtin_bswap32 (low) : low;
      memcpy (at, &low, sizeof low);
    }
  else
    {
      value = is_swapped ? __builtin_bswap64 (value) : value;
      memcpy (at, &value, sizeof value);
    }
}

/* Skips invalid relocations. */
static void
apply (const ElfImage *self, const Content *list, const Content *symbols, Content target)
{
  for (uint64_t i = 0; i < list->size / RELA_SIZE; i++)
    {
      const uint8_t *at = list->bytes + i * RELA_SIZE;
      uint64_t offset = sysprof_bytes_peek_u64 (at, self->is_swapped);
      uint64_t info = sysprof_bytes_peek_u64 (at + 8, self->is_swapped);
      uint64_t addend = sysprof_bytes_peek_u64 (at + 16, self->is_swapped);
      unsigned size = size_of_sum (self->machine, (uint32_t) info);
      uint64_t value;

      if (size == 0 || target.size < size || offset > target.size - size ||
          !find_value (self, symbols, (uint32_t) (info >> 32), &value))
        continue;
      store (target.bytes + offset, value + addend, size, self->is_swapped);
    }
}

static bool
has_debug_name (const ElfImage *self, const ElfSection *section)
{
  static const char prefix[] = ".debug_";

  return section->name < self->section_names_size &&
         strncmp (self->section_names + section->name, prefix, sizeof prefix - 1) == 0;
}

/* A section has one list of relocations. The list and the symbols are not relocated,
 * because a file may declare them to be their own lists. */
ElfStatus
sysprof_elf_image_relocate (ElfImage *self,
                            const ElfSection *section,
                            uint8_t *bytes,
                            uint64_t size)
{
  uint32_t number = (uint32_t) (section - self->sections);

  if (!has_debug_name (self, section))
    return ELF_OK;
  for (uint32_t i = 1; i < self->n_sections; i++)
    {
      const ElfSection *row = &self->sections[i];
      Content list = { 0 }, symbols = { 0 };
      ElfStatus status;

      if ((row->type != SHT_RELA && row->type != SHT_REL) || row->info != number)
        continue;
      if (row->type == SHT_REL || !self->is_64 || row->link >= self->n_sections ||
          (self->machine != EM_X86_64 && self->machine != EM_AARCH64))
        return ELF_UNSUPPORTED;

      status = sysprof_elf_image_read_section_unlinked (self, row, &list.bytes, &list.size);
      if (status == ELF_OK)
        status = sysprof_elf_image_read_section_unlinked (self, &self->sections[row->link],
                                                          &symbols.bytes, &symbols.size);
      if (status == ELF_OK)
        apply (self, &list, &symbols, (Content){ bytes, size });
      free (list.bytes);
      free (symbols.bytes);
      return status;
    }
  return ELF_OK;
}
