// SPDX-License-Identifier: GPL-3.0-or-later

/* Decompresses sections and .gnu_debugdata. Limits the size of the result before it allocates.
 */

#include "elf/inflate.h"

#include "elf/image.h"

#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#ifdef HAVE_LIBDEFLATE
#  include <libdeflate.h>
#endif

#define XZ_MEMORY_LIMIT (UINT64_C (64) << 20)  /* bytes that the decoder may allocate */
#define XZ_OUTPUT_LIMIT (UINT64_C (256) << 20) /* bytes */
/* bytes: shorter ones cannot contain an ELF file */
#define MIN_PACKED_FILE 32
#define XZ_FIRST_OUTPUT (UINT64_C (64) << 10) /* bytes, doubled as needed */

#ifndef ELFCOMPRESS_ZSTD
#  define ELFCOMPRESS_ZSTD 2
#endif

#ifdef HAVE_LIBDEFLATE

static bool
inflate_zlib (Bytes packed, uint8_t *into, uint64_t size)
{
  struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor ();
  enum libdeflate_result result = LIBDEFLATE_BAD_DATA;

  /* Without a pointer for the actual size, the result must have exactly the given size. */
  if (decompressor != NULL)
    result = libdeflate_zlib_decompress (decompressor, packed.at, sysprof_bytes_left (&packed),
                                         into, (size_t) size, NULL);
  libdeflate_free_decompressor (decompressor);
  return result == LIBDEFLATE_SUCCESS;
}

#else

static bool
inflate_zlib (Bytes packed, uint8_t *into, uint64_t size)
{
  uLongf written = (uLongf) size;

  return uncompress (into, &written, packed.at, (uLong) sysprof_bytes_left (&packed)) == Z_OK &&
         written == size;
}

#endif

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
      return ELF_TRUNCATED; /* the input is incomplete */
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
        break; /* it stopped although there is space: the input is truncated */
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

/* The size is in the header. Files without it are not decompressed. */
static ElfStatus
inflate_zstd_file (const uint8_t *packed, size_t packed_size, uint8_t **bytes, uint64_t *size)
{
  unsigned long long unpacked_size = ZSTD_getFrameContentSize (packed, packed_size);
  uint8_t *fresh;

  if (unpacked_size == ZSTD_CONTENTSIZE_UNKNOWN || unpacked_size == ZSTD_CONTENTSIZE_ERROR)
    return ELF_UNSUPPORTED;
  if (unpacked_size > XZ_OUTPUT_LIMIT || unpacked_size / ELF_MAX_RATIO > packed_size)
    return ELF_TOO_LARGE;
  fresh = malloc ((size_t) unpacked_size + 1);
  if (fresh == NULL)
    return ELF_NO_MEMORY;
  if (ZSTD_decompress (fresh, (size_t) unpacked_size, packed, packed_size) != unpacked_size)
    {
      free (fresh);
      return ELF_CORRUPT;
    }
  *bytes = fresh;
  *size = unpacked_size;
  return ELF_OK;
}

/* The size, below 4 GiB, is at the end. */
static ElfStatus
inflate_gzip_file (const uint8_t *packed, size_t packed_size, uint8_t **bytes, uint64_t *size)
{
  z_stream stream = { .next_in = (uint8_t *) packed, .avail_in = (uInt) packed_size };
  const uint8_t *behind = packed + packed_size - 4;
  uint32_t unpacked_size = (uint32_t) behind[0] | (uint32_t) behind[1] << 8 |
                           (uint32_t) behind[2] << 16 | (uint32_t) behind[3] << 24;
  uint8_t *fresh;
  int result;

  if (unpacked_size > XZ_OUTPUT_LIMIT || unpacked_size / ELF_MAX_RATIO > packed_size)
    return ELF_TOO_LARGE;
  fresh = malloc ((size_t) unpacked_size + 1);
  if (fresh == NULL || inflateInit2 (&stream, 15 + 16) != Z_OK)
    {
      free (fresh);
      return ELF_NO_MEMORY;
    }
  stream.next_out = fresh;
  stream.avail_out = unpacked_size;
  result = inflate (&stream, Z_FINISH);
  (void) inflateEnd (&stream); /* frees the stream in any state */
  if (result != Z_STREAM_END || stream.total_out != unpacked_size)
    {
      free (fresh);
      return ELF_CORRUPT;
    }
  *bytes = fresh;
  *size = unpacked_size;
  return ELF_OK;
}

ElfStatus
sysprof_elf_inflate_file (const ElfSource *source, uint8_t **bytes, uint64_t *size)
{
  static const struct
  {
    uint8_t magic[4];
    ElfStatus (*inflate) (const uint8_t *, size_t, uint8_t **, uint64_t *);
  } kinds[] = {
    { { 0x28, 0xb5, 0x2f, 0xfd }, inflate_zstd_file },
    { { 0x1f, 0x8b, 8, 0 }, inflate_gzip_file },
  };
  static const uint8_t xz[] = { 0xfd, '7', 'z', 'X' };
  uint8_t head[4], *packed;
  ElfStatus status = ELF_NOT_ELF;

  if (source->size < MIN_PACKED_FILE ||
      sysprof_elf_source_read (source, 0, head, sizeof head) != ELF_OK)
    return ELF_NOT_ELF;
  head[3] = memcmp (head, kinds[1].magic, 3) == 0 ? 0 : head[3]; /* the flags of gzip */
  if (memcmp (head, xz, sizeof xz) != 0 && memcmp (head, kinds[0].magic, sizeof head) != 0 &&
      memcmp (head, kinds[1].magic, sizeof head) != 0)
    return ELF_NOT_ELF;
  if (sysprof_elf_source_read_new (source, 0, source->size, XZ_OUTPUT_LIMIT, &packed) != ELF_OK)
    return ELF_NOT_ELF;

  if (memcmp (head, xz, sizeof xz) == 0)
    status = sysprof_elf_inflate_xz (packed, source->size, bytes, size);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (memcmp (head, kinds[i].magic, sizeof head) == 0)
      status = kinds[i].inflate (packed, (size_t) source->size, bytes, size);
  free (packed);
  return status;
}
