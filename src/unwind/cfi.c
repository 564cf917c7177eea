// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the headers of a call-frame section: common entries (CIE), and the functions (FDE) that
 * refer to them.
 *
 * It makes one pass in the order of the bytes. A function may only refer to a common entry that
 * was read before. So each is parsed once, and its initial instructions run once, whatever the
 * references are. */

#include "unwind/cfi.h"

#include "unwind/cfi-program.h"

#include <elf.h>
#include <stdlib.h>

#define MOST_SECTION (UINT32_C (1) << 30) /* bytes; offsets are 32 bits */

/* Encodings of addresses. */
#define PE_FORMAT   0x0f
#define PE_RELATION 0x70
#define PE_PC_REL   0x10
#define PE_INDIRECT 0x80
#define PE_OMIT     0xff

/* --- addresses --- */

/* Reads a number in the format of the lower four bits of its encoding. */
static bool
take_number (Cursor *cursor, uint8_t encoding, uint64_t *value)
{
  switch (encoding & PE_FORMAT)
    {
    case 0x0: /* of the size of an address */
    case 0x4:
    case 0xc:
      return cursor_fixed (cursor, 8, value);
    case 0x1:
      return cursor_uleb128 (cursor, value);
    case 0x2:
      return cursor_fixed (cursor, 2, value);
    case 0x3:
      return cursor_fixed (cursor, 4, value);
    case 0x9:
      return cursor_sleb128 (cursor, (int64_t *) value);
    case 0xa:
      if (!cursor_fixed (cursor, 2, value))
        return false;
      *value = (uint64_t) (int64_t) (int16_t) *value;
      return true;
    case 0xb:
      if (!cursor_fixed (cursor, 4, value))
        return false;
      *value = (uint64_t) (int64_t) (int32_t) *value;
      return true;
    default:
      return false;
    }
}

bool
sysprof_cfi_take_address (const Cfi *self, Cursor *cursor, uint8_t encoding, uint64_t *address)
{
  uint64_t offset = self->address + (uint64_t) (cursor->at - self->bytes);

  if (encoding & PE_INDIRECT || !take_number (cursor, encoding, address))
    return false;

  if ((encoding & PE_RELATION) == PE_PC_REL)
    *address += offset;
  else if ((encoding & PE_RELATION) != 0)
    return false; /* relative to text, data, or function: not used on these machines */
  return true;
}

/* --- common entries --- */

/* Parses an augmentation that begins with z: the letters, and the data of each. */
static bool
parse_augmentation (CfiCommon *common, const char *letters, Cursor data)
{
  uint64_t personality;
  uint8_t encoding;

  for (; *letters != 0; letters++)
    switch (*letters)
      {
      case 'R':
        if (!cursor_u8 (&data, &common->encoding))
          return false;
        break;
      case 'L':
        if (!cursor_u8 (&data, &encoding))
          return false;
        break;
      case 'P':
        if (!cursor_u8 (&data, &encoding) || !take_number (&data, encoding, &personality))
          return false;
        break;
      case 'S':
        common->is_signal = true;
        break;
      case 'B': /* arm64: return addresses are signed with key B */
      case 'G': /* arm64: memory tagging */
        break;
      default:
        /* unknown letters can be skipped: the data's size is known, and R and S come first */
        return true;
      }

  return true;
}

static bool
parse_common (const Cfi *self, CfiCommon *common, Cursor entry)
{
  const char *letters = NULL;
  uint64_t return_column, size;
  uint8_t version, address_size, segment_size, column;
  const uint8_t *nul;

  if (!cursor_u8 (&entry, &version) || (version != 1 && version != 3 && version != 4))
    return false;

  nul = memchr (entry.at, 0, cursor_left (&entry));
  if (nul == NULL)
    return false;
  letters = (const char *) entry.at;
  entry.at = nul + 1;

  if (version == 4 &&
      (!cursor_u8 (&entry, &address_size) || !cursor_u8 (&entry, &segment_size) ||
       address_size != 8 || segment_size != 0))
    return false;
  if (!cursor_uleb128 (&entry, &common->code_align) ||
      !cursor_sleb128 (&entry, &common->data_align))
    return false;
  if (version == 1)
    {
      if (!cursor_u8 (&entry, &column))
        return false;
      return_column = column;
    }
  else if (!cursor_uleb128 (&entry, &return_column))
    {
      return false;
    }
  if (return_column != common->machine->ra)
    return false;

  if (*letters == 'z')
    {
      Cursor data;

      if (!cursor_uleb128 (&entry, &size) || size > cursor_left (&entry))
        return false;
      data = (Cursor){ entry.at, entry.at + size };
      entry.at += size;
      common->has_size = true;
      if (!parse_augmentation (common, letters + 1, data))
        return false;
    }
  else if (*letters != 0)
    {
      return false; /* an augmentation of unknown size hides the start of the instructions */
    }

  return sysprof_cfi_run_initial (self, common, entry);
}

/* --- one pass over the entries --- */

/* Reserves space for one more item; `*items` grows by half. */
static bool
make_room (void **items, size_t *capacity, size_t n, size_t item_size)
{
  size_t larger = n + n / 2 + 64;
  void *moved;

  if (n < *capacity)
    return true;
  moved = realloc (*items, larger * item_size);
  if (moved == NULL)
    return false;

  *items = moved;
  *capacity = larger;
  return true;
}

static ElfStatus
add_common (Cfi *self, uint32_t offset, Cursor entry)
{
  CfiCommon *common;

  if (!make_room ((void **) &self->common, &self->common_capacity, self->n_common,
                  sizeof *common))
    return ELF_NO_MEMORY;

  common = &self->common[self->n_common++];
  *common = (CfiCommon){
    .offset = offset,
    .machine = self->is_arm64 ? &sysprof_cfi_arm64 : &sysprof_cfi_x86_64,
  };
  common->is_sound = parse_common (self, common, entry);
  return ELF_OK;
}

static const CfiCommon *
find_common (const Cfi *self, uint64_t offset)
{
  size_t low = 0;

  /* Nearly always it is the last one. */
  if (self->n_common > 0 && self->common[self->n_common - 1].offset == offset)
    return &self->common[self->n_common - 1];

  for (size_t high = self->n_common; low < high;)
    {
      size_t middle = low + (high - low) / 2;

      if (self->common[middle].offset < offset)
        low = middle + 1;
      else
        high = middle;
    }

  return low < self->n_common && self->common[low].offset == offset ? &self->common[low] : NULL;
}

static ElfStatus
add_function (Cfi *self, uint64_t common_offset, Cursor entry)
{
  const CfiCommon *common = find_common (self, common_offset);
  uint64_t start, length, size, end;

  if (common == NULL || !common->is_sound || common->encoding == PE_OMIT ||
      !sysprof_cfi_take_address (self, &entry, common->encoding, &start) ||
      !take_number (&entry, common->encoding & PE_FORMAT & 0x7, &length) ||
      (common->has_size && (!cursor_uleb128 (&entry, &size) || !cursor_skip (&entry, size))) ||
      __builtin_add_overflow (start, length, &end))
    {
      self->n_refused++;
      return ELF_OK;
    }
  if (length == 0)
    return ELF_OK; /* the linker has discarded the function */

  if (!make_room ((void **) &self->function, &self->function_capacity, self->n_functions,
                  sizeof (CfiFunction)))
    return ELF_NO_MEMORY;
  self->function[self->n_functions++] = (CfiFunction){
    .start = start,
    .end = end,
    .program = (uint32_t) (entry.at - self->bytes),
    .program_size = (uint32_t) cursor_left (&entry),
    .common = (uint32_t) (common - self->common),
  };
  return ELF_OK;
}

/* Parses an entry after its length. The ID in .eh_frame is 0 or the distance back to the common
 * entry; in .debug_frame it is all ones or the offset of the common entry. */
static ElfStatus
add_entry (Cfi *self, uint32_t offset, Cursor entry, unsigned offset_size)
{
  uint64_t at = (uint64_t) (entry.at - self->bytes);
  uint64_t reference;

  if (!self->is_debug)
    offset_size = 4;
  if (!cursor_fixed (&entry, offset_size, &reference))
    {
      self->n_refused++;
      return ELF_OK;
    }

  if (self->is_debug)
    return reference == (offset_size == 4 ? UINT32_MAX : UINT64_MAX)
               ? add_common (self, offset, entry)
               : add_function (self, reference, entry);
  return reference == 0 ? add_common (self, offset, entry)
                        : add_function (self, at - reference, entry);
}

static ElfStatus
scan_entries (Cfi *self, bool is_open)
{
  Cursor cursor = { self->bytes, self->bytes + self->size };
  uint64_t length;

  for (;;)
    {
      uint32_t offset = (uint32_t) (cursor.at - self->bytes);
      unsigned offset_size = 4;
      ElfStatus status;

      if (!cursor_fixed (&cursor, 4, &length))
        return ELF_OK;
      if (length == 0)
        {
          /* This ends the section for run-time unwinders. Entries of other linked files may
           * follow. */
          if (is_open)
            return ELF_OK;
          continue;
        }
      if (length == UINT32_MAX)
        {
          offset_size = 8;
          if (!cursor_fixed (&cursor, 8, &length))
            return ELF_OK;
        }
      if (length > cursor_left (&cursor))
        {
          self->n_refused++;
          return ELF_OK;
        }

      status = add_entry (self, offset, (Cursor){ cursor.at, cursor.at + length }, offset_size);
      if (status != ELF_OK)
        return status;
      cursor.at += length;
    }
}

static int
compare_functions (const void *a, const void *b)
{
  const CfiFunction *left = a, *right = b;

  if (left->start != right->start)
    return left->start < right->start ? -1 : 1;
  return left->program < right->program ? -1 : left->program > right->program;
}

static bool
is_sorted (const Cfi *self)
{
  for (size_t i = 1; i < self->n_functions; i++)
    if (self->function[i - 1].start > self->function[i].start)
      return false;
  return true;
}

ElfStatus
sysprof_cfi_open (Cfi *self, const ElfFrames *frames, uint16_t machine, bool is_debug)
{
  ElfStatus status;

  *self = (Cfi){
    .bytes = frames->bytes,
    .size = frames->size,
    .address = frames->address,
    .is_debug = is_debug,
    .is_arm64 = machine == EM_AARCH64,
  };
  if (machine != EM_X86_64 && machine != EM_AARCH64)
    return ELF_UNSUPPORTED;
  if (frames->size > MOST_SECTION)
    return ELF_TOO_LARGE;

  status = scan_entries (self, frames->is_open);
  if (status == ELF_OK && !is_sorted (self))
    qsort (self->function, self->n_functions, sizeof (CfiFunction), compare_functions);
  if (status != ELF_OK)
    sysprof_cfi_clear (self);
  return status;
}

void
sysprof_cfi_clear (Cfi *self)
{
  free (self->common);
  free (self->function);
  *self = (Cfi){ 0 };
}
