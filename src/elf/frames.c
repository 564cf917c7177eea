// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the start and end of functions in the call-frame table, which is in every file with
 * exceptions or unwinding, stripped or not.
 *
 * .eh_frame_hdr has a sorted table of (first address, address of the entry). The entry (FDE)
 * has the length, in an encoding that its CIE defines. Only the form that linkers write is
 * read: a table of 32-bit offsets from the header. Source: LSB 5.0 core, chapter 10.6; DWARF 4,
 * 6.4. */

#include "elf/frames.h"

#include "elf/image.h"

#include <stdlib.h>

#define ENCODING_DATA_REL_SDATA4 0x3b
#define ENCODING_UDATA4          0x03
#define ENCODING_OMITTED         0xff
#define ENCODING_FORMAT          0x0f

#define TABLE_OFFSET 12   /* version, three encodings, pointer, count: with 32-bit forms */
#define MAX_ENTRY    4096 /* bytes of a CIE or FDE that are examined */
/* bytes read at once, because consecutive lookups are near each other */
#define WINDOW_SIZE (64 * 1024)

static ElfStatus
load_header (ElfImage *self)
{
  const ElfSegment *segment = NULL;
  ElfStatus status;

  if (self->is_frame_header_read)
    return self->frame_header != NULL ? ELF_OK : ELF_ABSENT;
  self->is_frame_header_read = true;

  for (uint32_t i = 0; i < self->n_segments && segment == NULL; i++)
    if (self->segments[i].type == PT_GNU_EH_FRAME)
      segment = &self->segments[i];
  if (segment == NULL || segment->file_size < TABLE_OFFSET)
    return ELF_ABSENT;

  status = sysprof_elf_source_read_new (&self->source, segment->offset, segment->file_size,
                                        ELF_MAX_SECTION, &self->frame_header);
  if (status != ELF_OK)
    return status;

  if (self->frame_header[0] != 1 || (self->frame_header[1] & ENCODING_FORMAT & 0x7) != 0x3 ||
      self->frame_header[2] != ENCODING_UDATA4 ||
      self->frame_header[3] != ENCODING_DATA_REL_SDATA4)
    {
      free (self->frame_header);
      self->frame_header = NULL;
      return ELF_UNSUPPORTED;
    }

  self->frame_header_size = segment->file_size;
  self->frame_header_address = segment->address;
  return ELF_OK;
}

static uint64_t
relative_address (const ElfImage *self, const uint8_t *at)
{
  int32_t delta = (int32_t) sysprof_bytes_peek_u32 (at, self->is_swapped);

  return self->frame_header_address + (uint64_t) (int64_t) delta;
}

/* Finds the last row of the table that begins at or before `address`. */
static bool
find_row (const ElfImage *self, uint64_t address, uint64_t *start, uint64_t *fde_address)
{
  const uint8_t *rows = self->frame_header + TABLE_OFFSET;
  uint64_t n = sysprof_bytes_peek_u32 (self->frame_header + 8, self->is_swapped);
  uint64_t low = 0;

  if (n > (self->frame_header_size - TABLE_OFFSET) / 8)
    n = (self->frame_header_size - TABLE_OFFSET) / 8;

  for (uint64_t high = n; low < high;)
    {
      uint64_t middle = low + (high - low) / 2;

      if (relative_address (self, rows + middle * 8) <= address)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0)
    return false;

  *start = relative_address (self, rows + (low - 1) * 8);
  *fde_address = relative_address (self, rows + (low - 1) * 8 + 4);
  return true;
}

/* Valid until the next call. */
static ElfStatus
read_through_window (ElfImage *self, uint64_t offset, size_t size, const uint8_t **bytes)
{
  uint64_t into = offset - self->frame_window_offset; /* huge if it is before the window */
  uint64_t left = offset < self->source.size ? self->source.size - offset : 0;
  ElfStatus status;

  if (into > self->frame_window_size || size > self->frame_window_size - into)
    {
      if (size > left)
        return ELF_TRUNCATED;
      if (self->frame_window == NULL && (self->frame_window = malloc (WINDOW_SIZE)) == NULL)
        return ELF_NO_MEMORY;

      self->frame_window_size = 0;
      left = left < WINDOW_SIZE ? left : WINDOW_SIZE;
      status =
          sysprof_elf_source_read (&self->source, offset, self->frame_window, (size_t) left);
      if (status != ELF_OK)
        return status;
      self->frame_window_offset = offset;
      self->frame_window_size = left;
      into = 0;
    }

  *bytes = self->frame_window + into;
  return ELF_OK;
}

/* The body of a CIE or FDE, after its length. Valid until the next call. */
static ElfStatus
read_entry (ElfImage *self, uint64_t address, Bytes *body)
{
  const uint8_t *bytes;
  uint64_t offset, left, size;
  uint32_t length;
  ElfStatus status;

  status = sysprof_elf_image_offset_of_address (self, address, &offset, &left);
  if (status != ELF_OK)
    return status;
  size = left < MAX_ENTRY ? left : MAX_ENTRY;
  status = read_through_window (self, offset, (size_t) size, &bytes);
  if (status != ELF_OK)
    return status;

  *body = sysprof_elf_image_cursor (self, bytes, size);
  if (!sysprof_bytes_u32 (body, &length) || length == 0 || length == UINT32_MAX)
    return ELF_CORRUPT; /* .eh_frame does not use the 64-bit form */
  if (length < sysprof_bytes_left (body))
    body->end = body->at + length;
  return ELF_OK;
}

static bool
take_encoded (Bytes *bytes, uint8_t encoding, uint64_t *value)
{
  uint16_t narrow;
  uint32_t medium;

  switch (encoding & ENCODING_FORMAT)
    {
    case 0x0: /* an address */
      return sysprof_bytes_word (bytes, value);
    case 0x1:
      return sysprof_bytes_uleb128 (bytes, value);
    case 0x9:
      return sysprof_bytes_sleb128 (bytes, (int64_t *) value);
    case 0x2:
    case 0xa:
      if (!sysprof_bytes_u16 (bytes, &narrow))
        return false;
      *value = (encoding & 0x8) ? (uint64_t) (int64_t) (int16_t) narrow : narrow;
      return true;
    case 0x3:
    case 0xb:
      if (!sysprof_bytes_u32 (bytes, &medium))
        return false;
      *value = (encoding & 0x8) ? (uint64_t) (int64_t) (int32_t) medium : medium;
      return true;
    case 0x4:
    case 0xc:
      return sysprof_bytes_u64 (bytes, value);
    default:
      return false;
    }
}

static bool
parse_cie (Bytes body, ElfFrameCommon *common)
{
  const char *augmentation;
  uint64_t code_align, augmentation_size, personality;
  int64_t data_align;
  uint32_t id;
  uint8_t version, byte;

  *common = (ElfFrameCommon){ 0 };

  if (!sysprof_bytes_u32 (&body, &id) || id != 0 || !sysprof_bytes_u8 (&body, &version) ||
      !sysprof_bytes_string (&body, &augmentation) ||
      !sysprof_bytes_uleb128 (&body, &code_align) ||
      !sysprof_bytes_sleb128 (&body, &data_align))
    return false;
  if (version == 1)
    {
      if (!sysprof_bytes_u8 (&body, &byte))
        return false;
      common->return_column = byte;
    }
  else if (!sysprof_bytes_uleb128 (&body, &common->return_column))
    {
      return false;
    }

  if (*augmentation != 'z')
    return *augmentation == 0;
  if (!sysprof_bytes_uleb128 (&body, &augmentation_size))
    return false;
  common->has_size = true;

  for (augmentation++; *augmentation != 0; augmentation++)
    switch (*augmentation)
      {
      case 'R':
        return sysprof_bytes_u8 (&body, &common->encoding);
      case 'L':
        if (!sysprof_bytes_u8 (&body, &byte))
          return false;
        break;
      case 'P':
        if (!sysprof_bytes_u8 (&body, &byte) || !take_encoded (&body, byte, &personality))
          return false;
        break;
      case 'S':
      case 'B':
        break;
      default:
        return false;
      }

  return true;
}

/* Whether the initial instructions, those for the function's first byte, mark the return
 * address as undefined. */
static bool
begins_without_return (Bytes instructions, uint64_t return_column)
{
  uint8_t opcode;
  uint64_t column, operand;

  while (sysprof_bytes_u8 (&instructions, &opcode))
    switch (opcode)
      {
      case 0x00: /* nop */
        break;
      case 0x07: /* undefined */
        if (!sysprof_bytes_uleb128 (&instructions, &column))
          return false;
        if (column == return_column)
          return true;
        break;
      case 0x0c: /* def_cfa */
        if (!sysprof_bytes_uleb128 (&instructions, &column) ||
            !sysprof_bytes_uleb128 (&instructions, &operand))
          return false;
        break;
      case 0x08: /* same_value */
      case 0x0d: /* def_cfa_register */
      case 0x0e: /* def_cfa_offset */
        if (!sysprof_bytes_uleb128 (&instructions, &operand))
          return false;
        break;
      default: /* the next row of the table, or an instruction that entry code does not use */
        return false;
      }

  return false;
}

/* Reads the FDE at an address and its CIE. A file has few CIEs, and consecutive FDEs mostly
 * have the same one. */
static ElfStatus
read_fde (ElfImage *image, uint64_t address, Bytes *fde, const ElfFrameCommon **common)
{
  uint64_t cie_address;
  uint32_t cie_delta;
  ElfStatus status;
  Bytes cie;

  status = read_entry (image, address, fde);
  if (status != ELF_OK)
    return status;
  if (!sysprof_bytes_u32 (fde, &cie_delta) || cie_delta == 0)
    return ELF_CORRUPT;

  *common = &image->cie;
  cie_address = address + 4 - cie_delta;
  if (image->cie_address == cie_address && cie_address != 0)
    return ELF_OK;

  image->cie_address = 0;
  status = read_entry (image, cie_address, &cie);
  if (status != ELF_OK)
    return status;
  if (!parse_cie (cie, &image->cie) || image->cie.encoding == ENCODING_OMITTED)
    return ELF_CORRUPT;
  image->cie_address = cie_address;

  /* The window may have moved. */
  status = read_entry (image, address, fde);
  return status != ELF_OK || sysprof_bytes_u32 (fde, &cie_delta) ? status : ELF_CORRUPT;
}

ElfStatus
sysprof_elf_image_find_frame_entry (ElfImage *image, uint64_t address, FrameEntry *entry)
{
  uint64_t start, fde_address, pointer, range, size;
  const ElfFrameCommon *common;
  const uint8_t *skipped;
  ElfStatus status;
  Bytes fde;

  status = load_header (image);
  if (status != ELF_OK)
    return status;
  if (!find_row (image, address, &start, &fde_address))
    return ELF_ABSENT;

  status = read_fde (image, fde_address, &fde, &common);
  if (status != ELF_OK)
    return status;

  /* The first address is in the table; the length has the same format, but is unsigned and
   * absolute. */
  if (!take_encoded (&fde, common->encoding, &pointer) ||
      !take_encoded (&fde, common->encoding & ENCODING_FORMAT & 0x7, &range))
    return ELF_CORRUPT;
  if (address - start >= range)
    return ELF_ABSENT;
  if (range > UINT64_MAX - start)
    return ELF_CORRUPT;

  *entry = (FrameEntry){ .start = start, .end = start + range };
  if (!common->has_size ||
      (sysprof_bytes_uleb128 (&fde, &size) && size <= sysprof_bytes_left (&fde) &&
       sysprof_bytes_take (&fde, (size_t) size, &skipped)))
    entry->is_outermost = begins_without_return (fde, common->return_column);
  return ELF_OK;
}

ElfStatus
sysprof_elf_image_function_bounds (ElfImage *image,
                                   uint64_t address,
                                   uint64_t *start,
                                   uint64_t *end)
{
  FrameEntry entry;
  ElfStatus status = sysprof_elf_image_find_frame_entry (image, address, &entry);

  if (status == ELF_OK)
    {
      *start = entry.start;
      *end = entry.end;
    }
  return status;
}
