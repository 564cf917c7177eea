// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of a Go program (pclntab): a list of functions, and for each the size of its frame at every instruction. It is what
 * Go's runtime itself walks stacks with.
 *
 *   header      magic, 0, 0, quantum, size of a pointer; then numbers of that size:
 *               functions, files, [from 1.18: start of the text,] places of names, units, files, stack sizes, functions
 *   functions   (start, place) for each, ascending, and the end of the last one; from 1.18 in 32 bits from the text's start
 *   function    start, name, arguments, deferreturn, place of its stack sizes, files, lines, n, unit, [from 1.20: line,]
 *               kind, flags: 32 bits each, the last two a byte
 *   stack size  pairs of variable length: change of the size (sign in bit 0), bytes of code for which it holds; from -1; a
 *               change of 0 ends it
 *
 * Source: Go, src/runtime/symtab.go, src/internal/abi/symtab.go, src/debug/gosym/pclntab.go, as documentation of the format. */

#include "unwind/go.h"

#include "bpf/bpf.h"
#include "unwind/code-reader.h"
#include "unwind/cursor.h"
#include "unwind/known-code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

#define HEADER_NUMBERS 8 /* 8 bytes behind the magic */
#define POINTER        8

#define FLAG_TOP 1 /* nobody called it: goexit, mstart, rt0_go */
#define FLAG_SWITCH \
  2 /* changes SP to another stack: systemstack, mcall, morestack; from 1.17 */
#define FLAG_ASSEMBLY 4

#define SYSTEMSTACK "runtime.systemstack"
#define SIGNAL_HANDLER \
  "runtime.sigtramp" /* to Go an end; behind it is what the signal came upon */

#define MOST_SIGRETURN 32 /* bytes of the function that a signal handler returns to */

static bool
read_at (const GoTable *self, uint64_t place, unsigned size, uint64_t *value)
{
  Cursor cursor = { self->bytes, self->bytes + self->size };

  return cursor_skip (&cursor, place) && cursor_fixed (&cursor, size, value);
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
      self->sizes_place = 20;
      self->flags_place = 41;
      return read_number (self, 0, &self->n_functions) &&
             read_number (self, 5, &self->stack_sizes) &&
             read_number (self, 6, &self->functions);
    case MAGIC_1_18:
    case MAGIC_1_20:
      self->sizes_place = 16;
      self->flags_place = magic == MAGIC_1_20 ? 41 : 37;
      return read_number (self, 0, &self->n_functions) && read_number (self, 2, &self->text) &&
             read_number (self, 3, &self->names) && read_number (self, 6, &self->stack_sizes) &&
             read_number (self, 7, &self->functions) && self->text != 0;
    default:
      return false;
    }
}

/* --- functions --- */

/* Where function `i` begins; that of the number behind the last one is where that ends. */
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

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t stack_sizes; /* place of its pairs */
  uint64_t name;        /* place of it */
  bool is_top;
  bool is_switch;
  bool is_assembly;
} GoFunction;

static bool
read_function (const GoTable *self, uint64_t i, GoFunction *function)
{
  uint64_t entry = self->functions + i * (self->is_wide ? 16 : 8) + (self->is_wide ? 8 : 4);
  uint64_t place, stack_sizes, name, flags;

  if (!read_start (self, i, &function->start) || !read_start (self, i + 1, &function->end) ||
      !read_at (self, entry, self->is_wide ? 8 : 4, &place) || place > self->size)
    return false;
  place += self->functions;
  if (!read_at (self, place + self->sizes_place, 4, &stack_sizes) ||
      !read_at (self, place + (self->is_wide ? 8 : 4), 4, &name) ||
      !read_at (self, place + self->flags_place, 1, &flags))
    return false;

  function->stack_sizes = stack_sizes == 0 ? 0 : self->stack_sizes + stack_sizes;
  function->name = self->names + name;
  function->is_top = flags & FLAG_TOP;
  function->is_switch = !self->is_wide && flags & FLAG_SWITCH;
  function->is_assembly = flags & FLAG_ASSEMBLY;
  return function->start < function->end;
}

/* The first function that ends behind `address`. */
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

/* Go's functions save the caller's frame pointer right below the return address as soon as they have a frame. What assembly does
 * with it is its own affair. */
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
        return; /* what is left is padding */
      if (!cursor_uleb128 (&cursor, &length) || length == 0 ||
          length > (function->end - at) / self->quantum)
        break;

      size += (change & 1) ? -(int64_t) (change >> 1) - 1 : (int64_t) (change >> 1);
      if (size < -1 || size > INT32_MAX)
        size = -1; /* of hostile tables: out of what a rule can say, and not growing */
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
         sysprof_known_code_is_sigreturn (self->image, function->start);
}

/* --- functions that change the stack --- */

#define MOST_SWITCH 1024 /* bytes of one that finds where things are */

static bool
has_name (const GoTable *self, const GoFunction *function, const char *name)
{
  size_t size = strlen (name) + 1;

  return function->name < self->size && size <= self->size - function->name &&
         memcmp (self->bytes + function->name, name, size) == 0;
}

static uint32_t
u32_at (const uint8_t *bytes)
{
  return (uint32_t) bytes[0] | (uint32_t) bytes[1] << 8 | (uint32_t) bytes[2] << 16 |
         (uint32_t) bytes[3] << 24;
}

/* Below the thread's base: mov %fs:number, %…, or mov $number, %rcx; mov %fs:(%rcx), %…. 0: neither is there. */
static uint32_t
find_below (const uint8_t *code, size_t size)
{
  static const uint8_t by_number[] = { 0x64, 0x48, 0x8b };
  static const uint8_t number[] = { 0x48, 0xc7, 0xc1 };

  for (size_t i = 0; i + 9 <= size; i++)
    {
      if (memcmp (code + i, by_number, sizeof by_number) == 0 && (code[i + 3] & 0xc7) == 0x04 &&
          code[i + 4] == 0x25)
        return -u32_at (code + i + 5);
      if (memcmp (code + i, number, sizeof number) == 0 && code[i + 7] == 0x64)
        return -u32_at (code + i + 3);
    }
  return 0;
}

/* systemstack() leaves the goroutine as it comes back to it: mov place(%rbx), %rax; …; mov 0x38(%rax), %rsp. Where a goroutine's
 * own things are has not changed since 2012; where they are in another version, nothing is found. */
static uint32_t
find_place (const uint8_t *code, size_t size)
{
  static const uint8_t thread[] = { 0x48, 0x8b, 0x58, 0x30 };
  static const uint8_t place[] = { 0x48, 0x8b, 0x83 };
  static const uint8_t take_stack[] = { 0x48, 0x8b, 0x60, 0x38 };
  const uint8_t *end = memmem (code, size, take_stack, sizeof take_stack);

  if (end == NULL || memmem (code, size, thread, sizeof thread) == NULL)
    return 0;
  for (const uint8_t *at = end - 7; at >= code; at--)
    if (memcmp (at, place, sizeof place) == 0)
      return u32_at (at + 3);
  return 0;
}

static void
find_switch (GoTable *self)
{
  GoFunction function;

  for (uint64_t i = 0; i < self->n_functions && read_function (self, i, &function); i++)
    {
      uint64_t size = function.end - function.start;
      uint8_t code[MOST_SWITCH];
      uint32_t below, place;

      if (!function.is_switch || size > sizeof code || !has_name (self, &function, SYSTEMSTACK))
        continue;
      if (sysprof_elf_image_peek_code (self->image, function.start, code, (size_t) size) !=
          ELF_OK)
        return;
      below = find_below (code, (size_t) size);
      place = find_place (code, (size_t) size);
      if (below > 0 && below % 8 == 0 && below <= RULE_GO_MOST_BELOW && place > 0 &&
          place % 8 == 0 && place <= RULE_GO_MOST_PLACE)
        self->switch_rule = RULE_MAKE_GO (GO_CALL, below, 0, place);
      return;
    }
}

ElfStatus
sysprof_go_table_open (GoTable *self, ElfImage *image)
{
  ElfFrames section;
  ElfStatus status = sysprof_elf_image_read_named (image, ".gopclntab", &section);

  *self = (GoTable){ 0 };
  if (status == ELF_ABSENT)
    status = sysprof_elf_image_read_named (image, ".data.rel.ro.gopclntab", &section);
  if (status != ELF_OK)
    return status;

  self->image = image;
  self->bytes = section.bytes;
  self->size = section.size;
  /* As many as there is room for, so that places in the list do not overflow. */
  if (!parse_header (self) || self->functions > self->size ||
      self->n_functions > (self->size - self->functions) / 8)
    {
      sysprof_go_table_clear (self);
      return ELF_ABSENT;
    }
  find_switch (self);
  return ELF_OK;
}

void
sysprof_go_table_clear (GoTable *self)
{
  free (self->bytes);
  *self = (GoTable){ 0 };
}

/* Of code that is on another stack. */
static uint32_t
rule_behind_switch (const GoTable *self, const GoFunction *function)
{
  if (has_name (self, function, "runtime.mcall"))
    return RULE_END; /* what is called never returns */
  if (self->switch_rule != 0 && has_name (self, function, SYSTEMSTACK))
    return self->switch_rule;
  if (self->switch_rule != 0 && has_name (self, function, "runtime.morestack"))
    return self->switch_rule | RULE_MAKE_GO (GO_GROWTH, 0, 0, 0);
  return RULE_ESCAPE;
}

typedef struct
{
  CfiRow row;
  void *data;
  uint64_t start;
  uint64_t end;
  uint32_t size;  /* of the frame, as it was last known */
  uint32_t other; /* the rule where SP is not known */
} SwitchRows;

/* What the code says; where it is not known where SP is, that is another stack. */
static void
add_switch_row (void *data, uint64_t address, uint32_t rule)
{
  SwitchRows *self = data;

  if (address < self->start || address >= self->end)
    return;
  if (RULE_KIND (rule) == RULE_SP)
    self->size = RULE_OFFSET (rule) - 8;
  if (RULE_KIND (rule) == RULE_BP)
    rule = RULE_OFFSET (rule) <= RULE_GO_MOST_SIZE
               ? RULE_MAKE_GO (GO_FRAME, 0, RULE_OFFSET (rule), 0)
               : RULE_ESCAPE;
  else if (RULE_KIND (rule) == RULE_NONE)
    rule = self->other;
  if (rule == self->other && RULE_KIND (rule) == RULE_GO && RULE_GO_MODE (rule) == GO_CALL)
    rule = self->size <= RULE_GO_MOST_SIZE ? rule | RULE_MAKE_GO (GO_CALL, 0, self->size, 0)
                                           : RULE_ESCAPE;
  self->row (self->data, address, rule);
}

static void
add_switch (const GoTable *self,
            const GoFunction *function,
            uint64_t end,
            CfiRow row,
            void *data)
{
  uint64_t size = function->end - function->start;
  SwitchRows rows = { .row = row, .data = data, .start = function->start, .end = end };
  CodeReader *reader = NULL;

  if (self->code_budget == NULL || size <= *self->code_budget)
    reader = sysprof_code_reader_new (self->image, function->start, function->end);

  rows.other = rule_behind_switch (self, function);
  if (reader == NULL)
    {
      row (data, function->start, RULE_ESCAPE);
      return;
    }
  if (self->code_budget != NULL)
    *self->code_budget -= size;
  sysprof_code_reader_add_start (reader, function->start);
  (void) sysprof_code_reader_run (reader, add_switch_row, &rows);
  sysprof_code_reader_free (reader);
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
        continue; /* not in order, or cut by what others know better */

      if (is_sigreturn (self, &function))
        row (data, function.start > start ? function.start - 1 : function.start, RULE_SIGNAL);
      else if (function.is_top && !has_name (self, &function, SIGNAL_HANDLER))
        row (data, function.start, RULE_END);
      else if (function.is_switch && is_arm64)
        row (data, function.start, RULE_ESCAPE);
      else if (function.is_switch)
        add_switch (self, &function, function_end, row, data);
      else
        add_sizes (self, &function, function_end, row, data);
      covered += function_end - function.start;
      at = function_end;
    }

  if (covered > 0)
    row (data, at, RULE_NONE);
  return covered;
}
