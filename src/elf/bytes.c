// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads a file or memory with bounds checks, and integers and strings from the result. */

#include "elf/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

ElfStatus
sysprof_elf_source_read (const ElfSource *self, uint64_t offset, void *into, size_t size)
{
  uint8_t *at = into;

  if (offset > self->size || size > self->size - offset)
    return ELF_TRUNCATED;

  if (self->memory != NULL)
    {
      memcpy (into, self->memory + offset, size);
      return ELF_OK;
    }

  while (size > 0)
    {
      ssize_t n = pread (self->fd, at, size, (off_t) offset);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return ELF_IO_ERROR;
      if (n == 0)
        return ELF_TRUNCATED; /* the file has become shorter since its size was read */

      at += n;
      offset += (uint64_t) n;
      size -= (size_t) n;
    }

  return ELF_OK;
}

ElfStatus
sysprof_elf_source_read_new (const ElfSource *self,
                             uint64_t offset,
                             uint64_t size,
                             uint64_t limit,
                             uint8_t **bytes)
{
  ElfStatus status;
  uint8_t *fresh;

  if (offset > self->size || size > self->size - offset)
    return ELF_TRUNCATED;
  if (size > limit)
    return ELF_TOO_LARGE;

  fresh = malloc ((size_t) size + 1);
  if (fresh == NULL)
    return ELF_NO_MEMORY;

  status = sysprof_elf_source_read (self, offset, fresh, (size_t) size);
  if (status != ELF_OK)
    {
      free (fresh);
      return status;
    }

  fresh[size] = 0;
  *bytes = fresh;
  return ELF_OK;
}

bool
sysprof_bytes_take (Bytes *self, size_t size, const uint8_t **bytes)
{
  if (size > sysprof_bytes_left (self))
    return false;

  *bytes = self->at;
  self->at += size;
  return true;
}

bool
sysprof_bytes_u8 (Bytes *self, uint8_t *value)
{
  const uint8_t *at;

  if (!sysprof_bytes_take (self, 1, &at))
    return false;

  *value = *at;
  return true;
}

bool
sysprof_bytes_u16 (Bytes *self, uint16_t *value)
{
  const uint8_t *at;

  if (!sysprof_bytes_take (self, 2, &at))
    return false;

  *value = sysprof_bytes_peek_u16 (at, self->is_swapped);
  return true;
}

bool
sysprof_bytes_u32 (Bytes *self, uint32_t *value)
{
  const uint8_t *at;

  if (!sysprof_bytes_take (self, 4, &at))
    return false;

  *value = sysprof_bytes_peek_u32 (at, self->is_swapped);
  return true;
}

bool
sysprof_bytes_u64 (Bytes *self, uint64_t *value)
{
  const uint8_t *at;

  if (!sysprof_bytes_take (self, 8, &at))
    return false;

  *value = sysprof_bytes_peek_u64 (at, self->is_swapped);
  return true;
}

bool
sysprof_bytes_word (Bytes *self, uint64_t *value)
{
  uint32_t narrow;

  if (self->is_64)
    return sysprof_bytes_u64 (self, value);
  if (!sysprof_bytes_u32 (self, &narrow))
    return false;

  *value = narrow;
  return true;
}

static bool
take_leb128 (Bytes *self, uint64_t *value, unsigned *shift, uint8_t *last)
{
  uint64_t result = 0;
  unsigned at = 0;
  uint8_t byte;

  do
    {
      if (at >= 70 || !sysprof_bytes_u8 (self, &byte))
        return false;
      if (at < 64)
        result |= (uint64_t) (byte & 0x7f) << at;
      at += 7;
    }
  while (byte & 0x80);

  *value = result;
  *shift = at;
  *last = byte;
  return true;
}

bool
sysprof_bytes_uleb128 (Bytes *self, uint64_t *value)
{
  unsigned shift;
  uint8_t last;

  return take_leb128 (self, value, &shift, &last);
}

bool
sysprof_bytes_sleb128 (Bytes *self, int64_t *value)
{
  uint64_t result;
  unsigned shift;
  uint8_t last;

  if (!take_leb128 (self, &result, &shift, &last))
    return false;

  if ((last & 0x40) && shift < 64)
    result |= UINT64_MAX << shift;
  *value = (int64_t) result;
  return true;
}

bool
sysprof_bytes_string (Bytes *self, const char **string)
{
  const uint8_t *nul;

  if (sysprof_bytes_left (self) == 0)
    return false;
  nul = memchr (self->at, 0, sysprof_bytes_left (self));
  if (nul == NULL)
    return false;

  *string = (const char *) self->at;
  self->at = nul + 1;
  return true;
}
