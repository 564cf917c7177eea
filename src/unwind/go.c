// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of a Go program (pclntab): a list of functions, and the size of the frame at every
 * instruction. Go's runtime unwinds stacks with it.
 *
 *   header      magic, 0, 0, quantum, size of a pointer; then numbers of that size: functions,
 *               files, [since 1.18: start of the text,] offsets of names, units, files, stack
 *               sizes, functions
 *   functions   (start, offset) for each, ascending, and the end of the last; since 1.18 32
 *               bits from the text's start
 *   function    start, name, arguments, deferreturn, offset of its stack sizes, files, lines,
 *               n, unit, [since 1.20: line,] kind, flags: 32 bits each, the last two a byte
 *   stack size  pairs of variable length: change of the size (sign in bit 0), bytes of code for
 *               which it applies; starts at -1; a change of 0 terminates it
 *
 * Source: Go, src/runtime/symtab.go, src/internal/abi/symtab.go, src/debug/gosym/pclntab.go, as
 * documentation of the format. */

#include "unwind/go.h"

#include "bpf/bpf.h"
#include "unwind/code-patterns.h"
#include "unwind/cursor.h"
#include "unwind/go-switch.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

#define HEADER_NUMBERS 8 /* 8 bytes after the magic */
#define POINTER        8

#define FLAG_TOP 1 /* the outermost function: goexit, mstart, rt0_go */
#define FLAG_SWITCH \
  2 /* switches SP to another stack: systemstack, mcall, morestack; since 1.17 */
#define FLAG_ASSEMBLY 4

#define SIGNAL_HANDLER \
  "runtime.sigtramp" /* outermost according to Go; its caller is the interrupted code */

#define MOST_SIGRETURN 32 /* maximum size of the function that a signal handler returns to */

static bool
read_at (const GoTable *self, uint64_t offset, unsigned size, uint64_t *value)
{
  Cursor cursor = { self->bytes, self->bytes + self->size };

  return cursor_skip (&cursor, offset) && cursor_fixed (&cursor, size, value);
}

static bool
read_number (const GoTable *self, unsigned i, uint64_t *value)
{
  return read_at (self, HEADER_NUMBERS + i * POINTER, POINTER, value);
}

static bool
parse_header (GoTable *self)
{
  uint64_t magic, pad, quantum, pointer;

  if (!read_at (self, 0, 4, &magic) || !read_at (self, 4, 2, &pad) ||
      !read_at (self, 6, 1, &quantum) || !read_at (self, 7, 1, &pointer))
    return false;
  if (pad != 0 || pointer != POINTER || (quantum != 1 && quantum != 4))
    return false;

  self->quantum = (uint32_t) quantum;
  switch (magic)
    {
    case MAGIC_1_16:
      self->is_wide = true;
      self->sizes_offset = 20;
      self->flags_offset = 41;
      return read_number (self, 0, &self->n_functions) && read_number (self, 2, &self->names) &&
             read_number (self, 5, &self->stack_sizes) &&
             read_number (self, 6, &self->functions);
    case MAGIC_1_18:
    case MAGIC_1_20:
      self->sizes_offset = 16;
      self->flags_offset = magic == MAGIC_1_20 ? 41 : 37;
      return read_number (self, 0, &self->n_functions) && read_number (self, 2, &self->text) &&
             read_number (self, 3, &self->names) && read_number (self, 6, &self->stack_sizes) &&
             read_number (self, 7, &self->functions);
    default:
      return false;
    }
}

/* --- functions --- */

/* The start of function `i`; for the number of functions, the end of the last one. */
static bool
read_start (const GoTable *self, uint64_t i, uint64_t *start)
{
  if (self->is_wide)
    return read_at (self, self->functions + i * 16, 8, start);
  if (!read_at (self, self->functions + i * 8, 4, start))
    return false;
  *start += self->text;
  return true;
}

static bool
read_function (const GoTable *self, uint64_t i, GoFunction *function)
{
  uint64_t entry = self->functions + i * (self->is_wide ? 16 : 8) + (self->is_wide ? 8 : 4);
  uint64_t offset, stack_sizes, name, flags;

  if (!read_start (self, i, &function->start) || !read_start (self, i + 1, &function->end) ||
      !read_at (self, entry, self->is_wide ? 8 : 4, &offset) || offset > self->size)
    return false;
  offset += self->functions;
  if (!read_at (self, offset + self->sizes_offset, 4, &stack_sizes) ||
      !read_at (self, offset + (self->is_wide ? 8 : 4), 4, &name) ||
      !read_at (self, offset + self->flags_offset, 1, &flags))
    return false;

  function->stack_sizes = stack_sizes == 0 ? 0 : self->stack_sizes + stack_sizes;
  function->name = self->names + name;
  function->is_top = flags & FLAG_TOP;
  function->is_switch = flags & FLAG_SWITCH;
  function->is_assembly = flags & FLAG_ASSEMBLY;
  return function->start < function->end;
}

/* The first function that ends after `address`. */
static uint64_t
find_function (const GoTable *self, uint64_t address)
{
  uint64_t low = 0, end;

  for (uint64_t high = self->n_functions; low < high;)
    {
      uint64_t middle = low + (high - low) / 2;

      if (read_start (self, middle + 1, &end) && end <= address)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* --- rows --- */

/* Functions in Go save the caller's frame pointer right below the return address as soon as
 * they have a frame. Assembly functions may use it in any way. */
static uint32_t
rule_of_size (int64_t size, bool is_assembly)
{
  uint32_t slot = size == 0 ? SLOT_UNCHANGED : is_assembly ? SLOT_LOST : 2;

  if (size < 0 || (size & 7) != 0 || size + 8 > RULE_FAR_MOST_OFFSET)
    return RULE_ESCAPE;
  if (size + 8 <= RULE_MOST_OFFSET)
    return RULE_MAKE (RULE_SP, size + 8, slot);
  return RULE_MAKE_FAR (size + 8, slot == SLOT_LOST ? SLOT_FAR_LOST : slot);
}

/* arm64: they save X30 at SP, and the frame pointer right below. */
static uint32_t
rule_of_size_arm64 (int64_t size)
{
  if (size == 0)
    return RULE_MAKE (RULE_LR, 0, SLOT_UNCHANGED);
  if (size < 0 || (size & 7) != 0 || size / 8 + 1 > SLOT_MOST)
    return RULE_ESCAPE;
  return RULE_MAKE (RULE_SP, size, size / 8 + 1);
}

static void
add_sizes (const GoTable *self,
           const GoFunction *function,
           uint64_t end,
           CfiRow row,
           void *data)
{
  Cursor cursor = { self->bytes, self->bytes + self->size };
  uint64_t at = function->start, change, length;
  bool is_arm64 = sysprof_elf_image_machine (self->image) == EM_AARCH64;
  int64_t size = -1;

  if (function->stack_sizes == 0 || !cursor_skip (&cursor, function->stack_sizes))
    {
      row (data, at, RULE_NONE);
      return;
    }

  while (at < end)
    {
      if (!cursor_uleb128 (&cursor, &change) || change > UINT32_MAX)
        break;
      if (change == 0 && at > function->start)
        return; /* the rest is padding */
      if (!cursor_uleb128 (&cursor, &length) || length == 0 ||
          length > (function->end - at) / self->quantum)
        break;

      size += (change & 1) ? -(int64_t) (change >> 1) - 1 : (int64_t) (change >> 1);
      if (size < -1 || size > INT32_MAX)
        size = -1; /* in a corrupt table: a size that a rule cannot express */
      row (data, at,
           is_arm64 ? rule_of_size_arm64 (size) : rule_of_size (size, function->is_assembly));
      at += length * self->quantum;
    }
  if (at < end)
    row (data, at, RULE_ESCAPE);
}

static bool
is_sigreturn (const GoTable *self, const GoFunction *function)
{
  return function->end - function->start <= MOST_SIGRETURN &&
         sysprof_code_patterns_is_sigreturn (self->image, function->start);
}

/* --- functions that switch stacks --- */

bool
sysprof_go_has_name (const GoTable *self, const GoFunction *function, const char *name)
{
  size_t size = strlen (name) + 1;

  return function->name < self->size && size <= self->size - function->name &&
         memcmp (self->bytes + function->name, name, size) == 0;
}

static void
find_switch (GoTable *self)
{
  GoFunction function;

  for (uint64_t i = 0; i < self->n_functions && read_function (self, i, &function); i++)
    if (function.is_switch && sysprof_go_has_name (self, &function, GO_SYSTEMSTACK))
      {
        self->switch_rule = sysprof_go_find_switch_rule (self->image, &function);
        return;
      }
}

/* --- finding the table --- */

#define TEXT_NUMBER  2  /* index of the start of the text in the header's numbers */
#define RELOCATION   24 /* bytes of an entry */
#define ALIGNMENT    8
#define MOST_HEADERS 4 /* candidates, because data may look like a header by chance */

/* If the C linker links position-independent code, the table is among other data and has no
 * section of its own. */
static const char joined_section[] = ".data.rel.ro";

/* Sections that only Go's linker creates, in every program. */
static bool
is_go (ElfImage *image)
{
  static const char *const signs[] = { ".go.buildinfo", ".note.go.buildid" };

  for (unsigned i = 0; i < sizeof signs / sizeof signs[0]; i++)
    {
      ElfFrames section;
      ElfStatus status = sysprof_elf_image_read_named (image, signs[i], &section);

      free (section.bytes);
      if (status == ELF_OK)
        return true;
    }
  return false;
}

/* The value that the dynamic loader writes to the address; 0 = none. */
static uint64_t
find_relocated (ElfImage *image, uint64_t address)
{
  ElfFrames section;
  uint64_t value = 0;

  if (sysprof_elf_image_read_named (image, ".rela.dyn", &section) != ELF_OK)
    return 0;
  for (uint64_t at = 0; at + RELOCATION <= section.size && value == 0; at += RELOCATION)
    {
      Cursor cursor = { section.bytes + at, section.bytes + section.size };
      uint64_t offset, kind, addend;

      if (cursor_fixed (&cursor, 8, &offset) && offset == address &&
          cursor_fixed (&cursor, 8, &kind) && cursor_fixed (&cursor, 8, &addend))
        value = addend;
    }
  free (section.bytes);
  return value;
}

static bool
is_code (ElfImage *image, uint64_t start, uint64_t end)
{
  ElfCode code[UNWIND_MOST_SEGMENTS];
  size_t n = sysprof_elf_image_code (image, code, UNWIND_MOST_SEGMENTS);

  for (size_t i = 0; i < n; i++)
    if (start >= code[i].start && start < end && end <= code[i].end)
      return true;
  return false;
}

/* Parses the table whose first bytes are at `offset` of the section, and at `address`. */
static bool
parse (GoTable *self, const ElfFrames *section, uint64_t offset)
{
  uint64_t start, end;

  self->bytes = section->bytes + offset;
  self->size = section->size - offset;
  if (!parse_header (self))
    return false;
  if (!self->is_wide && self->text == 0)
    self->text = find_relocated (self->image, section->address + offset + HEADER_NUMBERS +
                                                  TEXT_NUMBER * POINTER);
  /* Limits the number of functions, so that offsets in the list do not overflow. */
  return self->n_functions > 0 && self->functions <= self->size &&
         self->n_functions <= (self->size - self->functions) / 8 &&
         read_start (self, 0, &start) && read_start (self, self->n_functions, &end) &&
         is_code (self->image, start, end);
}

/* All magic numbers have the same start. */
static bool
is_header (const uint8_t *bytes)
{
  return bytes[0] >= 0xf0 && memcmp (bytes + 1, "\xff\xff\xff\0\0", 5) == 0 &&
         bytes[7] == POINTER;
}

static bool
find_in_section (GoTable *self, ElfImage *image, const ElfFrames *section)
{
  unsigned n = 0;

  for (uint64_t at = 0; at + HEADER_NUMBERS <= section->size && n < MOST_HEADERS;
       at += ALIGNMENT)
    {
      if (!is_header (section->bytes + at))
        continue;
      n++;
      *self = (GoTable){ .image = image, .section = section->bytes };
      if (parse (self, section, at))
        return true;
    }
  return false;
}

ElfStatus
sysprof_go_table_open (GoTable *self, ElfImage *image)
{
  ElfFrames section;
  ElfStatus status = sysprof_elf_image_read_named (image, ".gopclntab", &section);

  *self = (GoTable){ 0 };
  if (status == ELF_ABSENT)
    status = sysprof_elf_image_read_named (image, ".data.rel.ro.gopclntab", &section);
  if (status == ELF_ABSENT)
    {
      if (!is_go (image))
        return ELF_ABSENT;
      status = sysprof_elf_image_read_named (image, joined_section, &section);
    }
  if (status != ELF_OK)
    return status == ELF_NO_MEMORY || status == ELF_IO_ERROR ? status : ELF_UNSUPPORTED;

  if (!find_in_section (self, image, &section))
    {
      free (section.bytes);
      *self = (GoTable){ 0 };
      return ELF_UNSUPPORTED;
    }
  find_switch (self);
  return ELF_OK;
}

void
sysprof_go_table_clear (GoTable *self)
{
  free (self->section);
  *self = (GoTable){ 0 };
}

uint64_t
sysprof_go_table_run (const GoTable *self, uint64_t start, uint64_t end, CfiRow row, void *data)
{
  uint64_t at = start, covered = 0;
  GoFunction function;
  bool is_arm64;

  if (self->n_functions == 0)
    return 0;
  is_arm64 = sysprof_elf_image_machine (self->image) == EM_AARCH64;

  for (uint64_t i = find_function (self, start);
       i < self->n_functions && read_function (self, i, &function) && function.start < end; i++)
    {
      uint64_t function_end = function.end < end ? function.end : end;

      if (function.start < at)
        continue; /* out of order, or replaced by a span */

      if (is_sigreturn (self, &function))
        row (data, function.start > start ? function.start - 1 : function.start, RULE_SIGNAL);
      else if (function.is_top && !sysprof_go_has_name (self, &function, SIGNAL_HANDLER))
        row (data, function.start, RULE_END);
      else if (function.is_switch && is_arm64)
        row (data, function.start, RULE_ESCAPE);
      else if (function.is_switch)
        sysprof_go_add_switch (self, &function, function_end, row, data);
      else
        add_sizes (self, &function, function_end, row, data);
      covered += function_end - function.start;
      at = function_end;
    }

  if (covered > 0)
    row (data, at, RULE_NONE);
  return covered;
}
