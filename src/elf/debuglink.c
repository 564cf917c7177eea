// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads .gnu_debuglink, the name and checksum of a separate debug file. */

#include "elf/image.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

ElfStatus
sysprof_elf_image_debug_link (ElfImage *image, char name[256], uint32_t *crc)
{
  const ElfSection *section = sysprof_elf_image_find_section (image, ".gnu_debuglink");
  const char *link;
  const uint8_t *skipped;
  ElfStatus status;
  uint8_t *bytes;
  uint64_t size;
  Bytes cursor;
  size_t length;

  if (section == NULL)
    return ELF_ABSENT;
  if (section->size > 4096)
    return ELF_TOO_LARGE;
  status = sysprof_elf_image_read_section (image, section, &bytes, &size);
  if (status != ELF_OK)
    return status;

  /* Name, NUL, zeros up to a multiple of 4, CRC. */
  cursor = sysprof_elf_image_cursor (image, bytes, size);
  status = ELF_CORRUPT;
  if (!sysprof_bytes_string (&cursor, &link))
    goto out;
  length = strlen (link);
  if (length == 0 || length > 255 || strchr (link, '/') != NULL || strcmp (link, ".") == 0 ||
      strcmp (link, "..") == 0)
    goto out;
  if (!sysprof_bytes_take (&cursor, (4 - (length + 1) % 4) % 4, &skipped) ||
      !sysprof_bytes_u32 (&cursor, crc))
    goto out;

  memcpy (name, link, length + 1);
  status = ELF_OK;

out:
  free (bytes);
  return status;
}

ElfStatus
sysprof_elf_file_crc (int fd, uint32_t *crc)
{
  static const size_t buffer_size = 64 * 1024;
  uint8_t *buffer = malloc (buffer_size);
  uLong sum = crc32 (0, NULL, 0);
  ElfStatus status = ELF_OK;
  off_t offset = 0;

  if (buffer == NULL)
    return ELF_NO_MEMORY;

  for (;;)
    {
      ssize_t n = pread (fd, buffer, buffer_size, offset);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        status = ELF_IO_ERROR;
      if (n <= 0)
        break;

      sum = crc32 (sum, buffer, (uInt) n);
      offset += n;
    }

  free (buffer);
  if (status == ELF_OK)
    *crc = (uint32_t) sum;
  return status;
}
