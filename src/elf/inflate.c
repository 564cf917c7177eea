// SPDX-License-Identifier: GPL-3.0-or-later

#include "elf/inflate.h"

#include "elf/image.h"

#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define XZ_MEMORY_LIMIT (UINT64_C (64) << 20)  /* bytes that the decoder may use */
#define XZ_OUTPUT_LIMIT (UINT64_C (256) << 20) /* bytes */
#define XZ_FIRST_OUTPUT (UINT64_C (64) << 10)  /* bytes, doubled as needed */

#ifndef ELFCOMPRESS_ZSTD
#  define ELFCOMPRESS_ZSTD 2
#endif

static bool
inflate_zlib (Bytes packed, uint8_t *into, uint64_t size)
{
  uLongf written = (uLongf) size;

  return uncompress (into, &written, packed.at, (uLong) sysprof_bytes_left (&packed)) == Z_OK &&
         written == size;
}

static bool
inflate_zstd (Bytes packed, uint8_t *into, uint64_t size)
{
  return ZSTD_decompress (into, (size_t) size, packed.at, sysprof_bytes_left (&packed)) == size;
}

ElfStatus
sysprof_elf_inflate_section (Bytes section, uint8_t **bytes, uint64_t *size)
{
  uint32_t type, reserved;
  uint64_t unpacked_size, align;
  uint8_t *fresh;
  bool is_whole;

  if (!sysprof_bytes_u32 (&section, &type) ||
      (section.is_64 && !sysprof_bytes_u32 (&section, &reserved)) ||
      !sysprof_bytes_word (&section, &unpacked_size) || !sysprof_bytes_word (&section, &align))
    return ELF_TRUNCATED;
  if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD)
    return ELF_UNSUPPORTED;
  if (unpacked_size > ELF_MAX_SECTION ||
      unpacked_size / ELF_MAX_RATIO > sysprof_bytes_left (&section))
    return ELF_TOO_LARGE;

  fresh = malloc ((size_t) unpacked_size + 1);
  if (fresh == NULL)
    return ELF_NO_MEMORY;

  is_whole = type == ELFCOMPRESS_ZLIB ? inflate_zlib (section, fresh, unpacked_size)
                                      : inflate_zstd (section, fresh, unpacked_size);
  if (!is_whole)
    {
      free (fresh);
      return ELF_CORRUPT;
    }

  fresh[unpacked_size] = 0;
  *bytes = fresh;
  *size = unpacked_size;
  return ELF_OK;
}

static ElfStatus
status_of_lzma (lzma_ret result)
{
  switch (result)
    {
    case LZMA_MEMLIMIT_ERROR:
      return ELF_TOO_LARGE;
    case LZMA_MEM_ERROR:
      return ELF_NO_MEMORY;
    case LZMA_OPTIONS_ERROR:
      return ELF_UNSUPPORTED;
    case LZMA_OK:
    case LZMA_BUF_ERROR:
      return ELF_TRUNCATED; /* it wants more than there is */
    default:
      return ELF_CORRUPT;
    }
}

ElfStatus
sysprof_elf_inflate_xz (const uint8_t *packed,
                        uint64_t packed_size,
                        uint8_t **bytes,
                        uint64_t *size)
{
  lzma_stream stream = LZMA_STREAM_INIT;
  uint64_t capacity = XZ_FIRST_OUTPUT;
  ElfStatus status = ELF_NO_MEMORY;
  uint8_t *output = malloc ((size_t) capacity);
  lzma_ret result;

  if (output == NULL)
    return ELF_NO_MEMORY;
  result = lzma_stream_decoder (&stream, XZ_MEMORY_LIMIT, 0);

  stream.next_in = packed;
  stream.avail_in = (size_t) packed_size;
  stream.next_out = output;
  stream.avail_out = (size_t) capacity;

  while (result == LZMA_OK)
    {
      result = lzma_code (&stream, LZMA_FINISH);

      if (result == LZMA_OK && stream.avail_out == 0)
        {
          uint8_t *larger;

          if (capacity >= XZ_OUTPUT_LIMIT)
            {
              status = ELF_TOO_LARGE;
              goto out;
            }
          larger = realloc (output, (size_t) capacity * 2);
          if (larger == NULL)
            goto out;

          output = larger;
          stream.next_out = output + capacity;
          stream.avail_out = (size_t) capacity;
          capacity *= 2;
        }
      else if (result == LZMA_OK)
        break; /* room, yet it stopped: its input is cut */
    }

  status = result == LZMA_STREAM_END ? ELF_OK : status_of_lzma (result);

out:
  if (status == ELF_OK)
    {
      *bytes = output;
      *size = stream.total_out;
    }
  else
    {
      free (output);
    }
  lzma_end (&stream);
  return status;
}
