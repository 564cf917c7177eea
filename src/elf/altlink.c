// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the link to the supplementary file, into which dwz moves debug information that several
 * files share: .gnu_debugaltlink (name, NUL, build ID), or .debug_sup of DWARF 5, which the
 * supplementary file has, too (section 7.3.6 of the standard). */

#include "elf/image.h"

#include <stdlib.h>

#define MOST_BYTES 4096 /* of such a section */
#define DEBUG_SUP  5    /* version */

typedef struct
{
  const char *name;
  const uint8_t *id;
  size_t size; /* of `id` */
} Link;

static bool
parse_altlink (Bytes *cursor, Link *link)
{
  if (!sysprof_bytes_string (cursor, &link->name))
    return false;

  link->size = sysprof_bytes_left (cursor);
  return sysprof_bytes_take (cursor, link->size, &link->id);
}

static bool
parse_debug_sup (Bytes *cursor, bool is_supplement, Link *link)
{
  uint16_t version;
  uint8_t flag;
  uint64_t size;

  if (!sysprof_bytes_u16 (cursor, &version) || version != DEBUG_SUP ||
      !sysprof_bytes_u8 (cursor, &flag) || flag != is_supplement ||
      !sysprof_bytes_string (cursor, &link->name) || !sysprof_bytes_uleb128 (cursor, &size) ||
      size > sysprof_bytes_left (cursor))
    return false;

  link->size = (size_t) size;
  return sysprof_bytes_take (cursor, link->size, &link->id);
}

/* `*bytes` receives the memory that the cursor refers to; the caller frees it. */
static ElfStatus
read_link_section (ElfImage *image, const char *name, uint8_t **bytes, Bytes *cursor)
{
  const ElfSection *section = sysprof_elf_image_find_section (image, name);
  ElfStatus status;
  uint64_t size;

  if (section == NULL)
    return ELF_ABSENT;
  if (section->size > MOST_BYTES)
    return ELF_TOO_LARGE;
  status = sysprof_elf_image_read_section (image, section, bytes, &size);
  if (status == ELF_OK)
    *cursor = sysprof_elf_image_cursor (image, *bytes, size);
  return status;
}

static bool
take_id (const Link *link, uint8_t id[ELF_MAX_BUILD_ID], size_t *size)
{
  if (link->size == 0 || link->size > ELF_MAX_BUILD_ID)
    return false;

  memcpy (id, link->id, link->size);
  *size = link->size;
  return true;
}

ElfStatus
sysprof_elf_image_alt_link (ElfImage *image,
                            char name[ELF_MAX_ALT_LINK],
                            uint8_t id[ELF_MAX_BUILD_ID],
                            size_t *size)
{
  uint8_t *bytes = NULL;
  bool is_sound = false;
  Link link = { 0 };
  ElfStatus status;
  Bytes cursor;

  status = read_link_section (image, ".gnu_debugaltlink", &bytes, &cursor);
  if (status == ELF_OK)
    is_sound = parse_altlink (&cursor, &link);
  if (status == ELF_ABSENT)
    {
      status = read_link_section (image, ".debug_sup", &bytes, &cursor);
      if (status == ELF_OK)
        is_sound = parse_debug_sup (&cursor, false, &link);
    }

  if (status == ELF_OK)
    status = ELF_CORRUPT;
  if (is_sound && link.name[0] != 0 && strlen (link.name) < ELF_MAX_ALT_LINK &&
      take_id (&link, id, size))
    {
      memcpy (name, link.name, strlen (link.name) + 1);
      status = ELF_OK;
    }
  free (bytes);
  return status;
}

ElfStatus
sysprof_elf_image_alt_id (ElfImage *image, uint8_t id[ELF_MAX_BUILD_ID], size_t *size)
{
  uint8_t *bytes = NULL;
  Link link = { 0 };
  Bytes cursor;
  bool is_told = read_link_section (image, ".debug_sup", &bytes, &cursor) == ELF_OK &&
                 parse_debug_sup (&cursor, true, &link) && take_id (&link, id, size);

  free (bytes);
  return is_told ? ELF_OK : sysprof_elf_image_build_id (image, id, size);
}
