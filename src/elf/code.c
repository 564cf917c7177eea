// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the code of a file and its call-frame sections, for building unwind tables. */

#include "elf/image.h"

#include <stdlib.h>

uint16_t
sysprof_elf_image_machine (const ElfImage *image)
{
  return image->machine;
}

bool
sysprof_elf_image_is_native (const ElfImage *image)
{
  return image->is_64 && !image->is_swapped;
}

bool
sysprof_elf_image_is_64 (const ElfImage *image)
{
  return image->is_64;
}

bool
sysprof_elf_image_is_swapped (const ElfImage *image)
{
  return image->is_swapped;
}

uint64_t
sysprof_elf_image_entry (const ElfImage *image)
{
  return image->entry;
}

/* A segment that is larger than the file is code up to the end of the file. */
static bool
is_code (const ElfImage *image, const ElfSegment *segment, ElfCode *code)
{
  uint64_t size = segment->file_size;

  if (segment->type != PT_LOAD || !(segment->flags & PF_X) ||
      segment->offset >= image->source.size)
    return false;
  if (size > image->source.size - segment->offset)
    size = image->source.size - segment->offset;

  code->start = segment->address;
  code->offset = segment->offset;
  return size > 0 && !__builtin_add_overflow (segment->address, size, &code->end);
}

static int
compare_code (const void *a, const void *b)
{
  const ElfCode *left = a, *right = b;

  return left->start < right->start ? -1 : left->start > right->start;
}

/* Of overlapping ranges, the first keeps the common part. */
static size_t
sort_apart (ElfCode *code, size_t n)
{
  size_t n_apart = 0;

  qsort (code, n, sizeof *code, compare_code);
  for (size_t i = 0; i < n; i++)
    {
      if (n_apart > 0 && code[i].start < code[n_apart - 1].end)
        {
          code[i].offset += code[n_apart - 1].end - code[i].start;
          code[i].start = code[n_apart - 1].end;
        }
      if (code[i].start < code[i].end)
        code[n_apart++] = code[i];
    }
  return n_apart;
}

size_t
sysprof_elf_image_code (const ElfImage *image, ElfCode *code, size_t most)
{
  size_t n = 0;

  for (uint32_t i = 0; i < image->n_segments && n < most; i++)
    if (is_code (image, &image->segments[i], &code[n]))
      n++;
  for (uint32_t i = 1; image->type == ET_REL && i < image->n_sections && n < most; i++)
    if (sysprof_elf_image_object_code (image, i, &code[n]))
      n++;
  return sort_apart (code, n);
}

/* The part of an executable section that is in the file and in its segment. */
static bool
is_text (const ElfImage *image, const ElfSection *section, ElfCode *text)
{
  if (section->type != SHT_PROGBITS || !(section->flags & SHF_EXECINSTR) ||
      (section->flags & SHF_COMPRESSED) || section->size == 0)
    return false;

  for (uint32_t i = 0; i < image->n_segments; i++)
    {
      ElfCode code;

      if (!is_code (image, &image->segments[i], &code) || section->address < code.start ||
          section->address >= code.end)
        continue;
      text->start = section->address;
      text->end = section->size < code.end - section->address ? section->address + section->size
                                                              : code.end;
      text->offset = code.offset + (section->address - code.start);
      return true;
    }
  return false;
}

size_t
sysprof_elf_image_text (const ElfImage *image, ElfCode *text, size_t most)
{
  size_t n = 0;

  for (uint32_t i = 1; i < image->n_sections; i++)
    {
      ElfCode one;

      if (!is_text (image, &image->sections[i], &one))
        continue;
      if (n == most)
        return sysprof_elf_image_code (image, text, most);
      text[n++] = one;
    }
  return n > 0 ? sort_apart (text, n) : sysprof_elf_image_code (image, text, most);
}

ElfStatus
sysprof_elf_image_peek_code (ElfImage *image, uint64_t start, uint8_t *bytes, size_t size)
{
  uint64_t offset, left;
  ElfStatus status = sysprof_elf_image_offset_of_address (image, start, &offset, &left);

  if (status != ELF_OK)
    return status;
  if (size > left)
    return ELF_TRUNCATED;
  return sysprof_elf_source_read (&image->source, offset, bytes, size);
}

ElfStatus
sysprof_elf_image_read_code (ElfImage *image, uint64_t start, uint64_t end, uint8_t **bytes)
{
  uint64_t offset, left;
  ElfStatus status;

  if (end < start)
    return ELF_CORRUPT;
  status = sysprof_elf_image_offset_of_address (image, start, &offset, &left);
  if (status != ELF_OK)
    return status;
  if (end - start > left)
    return ELF_TRUNCATED;
  return sysprof_elf_source_read_new (&image->source, offset, end - start, ELF_MAX_SECTION,
                                      bytes);
}

#define ENCODING_PC_REL_SDATA4 \
  0x1b /* encoding of the pointer to .eh_frame: the same in all files of common linkers */

/* Version, three encodings, and the address of .eh_frame, relative to the field itself. */
static ElfStatus
find_by_segment (ElfImage *image, uint64_t *address)
{
  for (uint32_t i = 0; i < image->n_segments; i++)
    {
      const ElfSegment *segment = &image->segments[i];
      uint8_t header[8];
      ElfStatus status;

      if (segment->type != PT_GNU_EH_FRAME)
        continue;
      status = sysprof_elf_source_read (&image->source, segment->offset, header, sizeof header);
      if (status != ELF_OK)
        return status;
      if (header[0] != 1 || header[1] != ENCODING_PC_REL_SDATA4)
        return ELF_UNSUPPORTED;

      *address =
          segment->address + 4 +
          (uint64_t) (int64_t) (int32_t) sysprof_bytes_peek_u32 (header + 4, image->is_swapped);
      return ELF_OK;
    }

  return ELF_ABSENT;
}

ElfStatus
sysprof_elf_image_read_eh_frame (ElfImage *image, ElfFrames *frames)
{
  const ElfSection *section = sysprof_elf_image_find_section (image, ".eh_frame");
  uint64_t offset, left;
  ElfStatus status;

  *frames = (ElfFrames){ 0 };
  if (section != NULL && section->type != SHT_NOBITS)
    {
      frames->address = section->address;
      return sysprof_elf_image_read_section (image, section, &frames->bytes, &frames->size);
    }

  status = find_by_segment (image, &frames->address);
  if (status == ELF_OK)
    status = sysprof_elf_image_offset_of_address (image, frames->address, &offset, &left);
  if (status == ELF_OK)
    status = sysprof_elf_source_read_new (&image->source, offset, left, ELF_MAX_SECTION,
                                          &frames->bytes);
  if (status == ELF_OK)
    {
      frames->size = left;
      frames->is_open = true;
    }
  return status;
}

ElfStatus
sysprof_elf_image_read_named (ElfImage *image, const char *name, ElfFrames *frames)
{
  const ElfSection *section = sysprof_elf_image_find_section (image, name);

  *frames = (ElfFrames){ 0 };
  if (section == NULL)
    return ELF_ABSENT;
  frames->address = section->address;
  return sysprof_elf_image_read_section (image, section, &frames->bytes, &frames->size);
}
