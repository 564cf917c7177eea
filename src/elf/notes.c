// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the build ID: from note sections, or else from note segments. (A separate debug file
 * has segments, too, but not their contents.) */

#include "elf/image.h"

#include <stdlib.h>

static bool
align_cursor (Bytes *bytes, const uint8_t *begin, size_t align)
{
  size_t used = (size_t) (bytes->at - begin);
  size_t padding = (align - used % align) % align;
  const uint8_t *skipped;

  /* The padding of the last note may be missing. */
  if (padding > sysprof_bytes_left (bytes))
    padding = sysprof_bytes_left (bytes);
  return sysprof_bytes_take (bytes, padding, &skipped);
}

static ElfStatus
find_build_id (Bytes bytes, size_t align, uint8_t build_id[ELF_MAX_BUILD_ID], size_t *size)
{
  const uint8_t *begin = bytes.at;

  while (sysprof_bytes_left (&bytes) > 0)
    {
      uint32_t name_size, desc_size, type;
      const uint8_t *name, *desc;

      if (!sysprof_bytes_u32 (&bytes, &name_size) || !sysprof_bytes_u32 (&bytes, &desc_size) ||
          !sysprof_bytes_u32 (&bytes, &type) ||
          !sysprof_bytes_take (&bytes, name_size, &name) ||
          !align_cursor (&bytes, begin, align) ||
          !sysprof_bytes_take (&bytes, desc_size, &desc) ||
          !align_cursor (&bytes, begin, align))
        return ELF_CORRUPT;

      if (type != NT_GNU_BUILD_ID || name_size != 4 || memcmp (name, "GNU", 4) != 0)
        continue;
      if (desc_size == 0 || desc_size > ELF_MAX_BUILD_ID)
        return ELF_CORRUPT;

      memcpy (build_id, desc, desc_size);
      *size = desc_size;
      return ELF_OK;
    }

  return ELF_ABSENT;
}

static ElfStatus
read_notes (const ElfImage *image,
            uint64_t offset,
            uint64_t size,
            uint64_t align,
            uint8_t build_id[ELF_MAX_BUILD_ID],
            size_t *id_size)
{
  ElfStatus status;
  uint8_t *bytes;

  status = sysprof_elf_source_read_new (&image->source, offset, size, ELF_MAX_NOTES, &bytes);
  if (status != ELF_OK)
    return status;

  status = find_build_id (sysprof_elf_image_cursor (image, bytes, size), align == 8 ? 8 : 4,
                          build_id, id_size);
  free (bytes);
  return status;
}

ElfStatus
sysprof_elf_image_build_id (ElfImage *image, uint8_t build_id[ELF_MAX_BUILD_ID], size_t *size)
{
  ElfStatus first_failure = ELF_ABSENT;
  unsigned budget = 64; /* note tables; real files have fewer than ten */

  for (uint32_t i = 1; i < image->n_sections && budget > 0; i++)
    {
      const ElfSection *section = &image->sections[i];
      ElfStatus status;

      if (section->type != SHT_NOTE || (section->flags & SHF_COMPRESSED))
        continue;

      budget--;
      /* Sections contain notes of one kind; only .note.gnu.property is aligned to 8. */
      status = read_notes (image, section->offset, section->size, 4, build_id, size);
      if (status == ELF_OK)
        return status;
    }

  for (uint32_t i = 0; i < image->n_segments && budget > 0; i++)
    {
      const ElfSegment *segment = &image->segments[i];
      ElfStatus status;

      if (segment->type != PT_NOTE)
        continue;

      budget--;
      status = read_notes (image, segment->offset, segment->file_size, segment->align, build_id,
                           size);
      if (status == ELF_OK)
        return status;
      if (first_failure == ELF_ABSENT)
        first_failure = status;
    }

  return first_failure;
}
