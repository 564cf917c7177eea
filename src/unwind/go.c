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
#include "unwind/code-reader.h"
#include "unwind/cursor.h"

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

#define SYSTEMSTACK "runtime.systemstack"
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

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t stack_sizes; /* offset of its pairs */
  uint64_t name;        /* offset */
  bool is_top;
  bool is_switch;
  bool is_assembly;
} GoFunction;

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

/* --- functions that change the stack --- */

#define MOST_SWITCH 1024 /* maximum size of a function that switches stacks */
#define MOST_WORDS  16

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

/* Whether the code is mov word(%rip), %rcx; mov %fs:(%rcx), %…, or ends like that. */
static bool
is_by_word (const uint8_t *code)
{
  static const uint8_t take_word[] = { 0x48, 0x8b, 0x0d };

  return memcmp (code, take_word, sizeof take_word) == 0;
}

/* The distance below the thread base: mov %fs:number, %…, or mov $number, %rcx; mov %fs:(%rcx),
 * %…. 0: not found. */
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
      if (is_by_word (code + i) && code[i + 7] == 0x64)
        return RULE_GO_BY_WORD;
    }
  return 0;
}

/* systemstack() changes back to the goroutine: mov offset(%rbx), %rax; …; mov 0x38(%rax), %rsp.
 * The members of a goroutine are the same since 2012. If they differ in another version,
 * nothing is found. */
static uint32_t
find_goroutine_offset (const uint8_t *code, size_t size)
{
  static const uint8_t thread[] = { 0x48, 0x8b, 0x58, 0x30 };
  static const uint8_t offset[] = { 0x48, 0x8b, 0x83 };
  static const uint8_t take_stack[] = { 0x48, 0x8b, 0x60, 0x38 };
  const uint8_t *end = memmem (code, size, take_stack, sizeof take_stack);

  if (end == NULL || memmem (code, size, thread, sizeof thread) == NULL)
    return 0;
  for (const uint8_t *at = end - 7; at >= code; at--)
    if (memcmp (at, offset, sizeof offset) == 0)
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
      uint32_t below, offset;

      if (!function.is_switch || size > sizeof code || !has_name (self, &function, SYSTEMSTACK))
        continue;
      if (sysprof_elf_image_peek_code (self->image, function.start, code, (size_t) size) !=
          ELF_OK)
        return;
      below = find_below (code, (size_t) size);
      offset = find_goroutine_offset (code, (size_t) size);
      if (below > 0 && below % 8 == 0 &&
          (below <= RULE_GO_MOST_BELOW || below == RULE_GO_BY_WORD) && offset > 0 &&
          offset % 8 == 0 && offset <= RULE_GO_MOST_OFFSET)
        self->switch_rule = RULE_MAKE_GO (GO_CALL, below, 0, offset);
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

/* The rule for code on another stack. */
static uint32_t
rule_behind_switch (const GoTable *self, const GoFunction *function)
{
  if (has_name (self, function, "runtime.mcall") || has_name (self, function, "runtime.clone"))
    return RULE_END; /* its callee, which runs on a new thread, never returns */
  if (self->switch_rule != 0 && has_name (self, function, SYSTEMSTACK))
    return self->switch_rule;
  if (self->switch_rule != 0 && has_name (self, function, "runtime.morestack"))
    return self->switch_rule | RULE_MAKE_GO (GO_GROWTH, 0, 0, 0);
  return RULE_ESCAPE;
}

/* --- between Go and C --- */

#define MOST_SPANS 8
#define RDX        1 /* DWARF number */

/* Addresses with a known rule that the code itself does not show. */
typedef struct
{
  uint64_t start;
  uint64_t end;
  uint32_t rule;
} Span;

typedef struct
{
  Span span[MOST_SPANS]; /* [n] ascending */
  unsigned n;
} Spans;

static void
add_span (Spans *self, uint64_t start, uint64_t end, uint32_t rule)
{
  if (self->n < MOST_SPANS && start < end)
    self->span[self->n++] = (Span){ start, end, rule };
}

/* asmcgocall() keeps SP in %rdx. It switches to the thread's stack (mov 0x38(%rsi), %rsp) after
 * it has saved the goroutine's SP as systemstack() does, or stays on it. It aligns SP, and as
 * the last thing on the thread's stack saves where it was on the goroutine's stack: mov %…,
 * offset(%rsp). If it stays, it saves SP itself. It calls C, and returns with mov %rsi, %rsp;
 * mov %eax, …(%rsp); ret. */
static void
find_calls_of_c (const GoTable *self,
                 const GoFunction *function,
                 const uint8_t *code,
                 size_t size,
                 Spans *spans)
{
  static const uint8_t keep[] = { 0x48, 0x89, 0xe2 };
  static const uint8_t leave[] = { 0x48, 0x8b, 0x66, 0x38 };
  static const uint8_t align[] = { 0x48, 0x83, 0xe4, 0xf0 };
  static const uint8_t back[] = { 0x48, 0x89, 0xf4, 0x89, 0x44, 0x24 };
  bool is_kept = memmem (code, size, keep, sizeof keep) != NULL;
  size_t from = 0;

  for (size_t i = 0; i + 8 <= size; i++)
    {
      size_t store = 0, unknown = 0;
      uint32_t offset = 0, rule = 0;

      if (memcmp (code + i, back, sizeof back) != 0 || code[i + 7] != 0xc3)
        continue;
      for (size_t at = from; at + 5 <= i; at++)
        if (memcmp (code + at, leave, sizeof leave) == 0)
          {
            unknown = at + sizeof leave;
            rule = self->switch_rule;
          }
        else if (unknown == 0 && memcmp (code + at, align, sizeof align) == 0)
          {
            unknown = at + sizeof align;
            rule = is_kept ? RULE_MAKE (RULE_REG, RULE_REG_FIELD (RDX, 8), 0) : 0;
          }
        else if (code[at] == 0x48 && code[at + 1] == 0x89 && (code[at + 2] & 0xc7) == 0x44 &&
                 code[at + 3] == 0x24)
          {
            store = at + 5;
            offset = code[at + 4];
          }
        else if (code[at] == 0x48 && code[at + 1] == 0x89 && (code[at + 2] & 0xc7) == 0x04 &&
                 code[at + 3] == 0x24)
          {
            store = at + 4;
            offset = 0;
          }
      if (store > 0 && offset % 8 == 0)
        {
          if (unknown > 0 && unknown < store && rule != 0)
            add_span (spans, function->start + unknown, function->start + store, rule);
          add_span (spans, function->start + store, function->start + i + 3,
                    RULE_MAKE_GO_CALLED_C (offset));
        }
      add_span (spans, function->start + i + 3, function->start + i + 8,
                RULE_MAKE (RULE_SP, 8, SLOT_UNCHANGED));
      from = i + 8;
    }
}

/* The address after the first such bytes at or after `from`; NULL = not found. */
static const uint8_t *
behind (const uint8_t *from, const uint8_t *end, const uint8_t *bytes, size_t size)
{
  const uint8_t *found =
      from != NULL ? memmem (from, (size_t) (end - from), bytes, size) : NULL;

  return found != NULL ? found + size : NULL;
}

/* C calls cgocallback(). It saves SP (mov %rax, (%rsp); mov %rsp, 0x38(%rsi)) and makes a frame
 * of the same size on the goroutine's stack (lea size(%rsp), %rax; sub %rsp, %rax; …; mov %rdi,
 * %rsp). It returns with mov 0x38(%rsi), %rsp; mov (%rsp), %rax; mov %rax, 0x38(%rsi); …; add
 * $…, %rsp; ret. */
static void
find_call_by_c (const GoTable *self,
                const GoFunction *function,
                const uint8_t *code,
                size_t size,
                Spans *spans)
{
  static const uint8_t note[] = { 0x48, 0x89, 0x04, 0x24, 0x48, 0x89, 0x66, 0x38 };
  static const uint8_t measure[] = { 0x48, 0x29, 0xe0 };
  static const uint8_t leave[] = { 0x48, 0x89, 0xfc };
  static const uint8_t come[] = { 0x48, 0x8b, 0x66, 0x38 };
  static const uint8_t forget[] = { 0x48, 0x8b, 0x04, 0x24, 0x48, 0x89, 0x46, 0x38 };
  const uint8_t *end = code + size;
  const uint8_t *noted = behind (code, end, note, sizeof note);
  const uint8_t *measured = behind (noted, end, measure, sizeof measure);
  const uint8_t *left = behind (measured, end, leave, sizeof leave);
  const uint8_t *came = behind (left, end, come, sizeof come);
  const uint8_t *forgot = behind (came, end, forget, sizeof forget);
  uint32_t below = RULE_GO_BELOW (self->switch_rule), frame;
  uint64_t start = function->start;

  if (forgot == NULL || below == 0 ||
      memcmp (measured - sizeof measure - 5, "\x48\x8d\x44\x24", 4) != 0)
    return;
  frame = measured[-(ptrdiff_t) sizeof measure - 1];
  if (frame % 8 != 0 || frame < 16)
    return;

  add_span (spans, start + (uint64_t) (noted - code), start + (uint64_t) (left - code),
            RULE_MAKE_GO_NOTED (below, frame));
  add_span (spans, start + (uint64_t) (left - code), start + (uint64_t) (came - code),
            RULE_MAKE_GO_CALLED_BY_C (below, frame));
  add_span (spans, start + (uint64_t) (came - code), start + (uint64_t) (forgot - code),
            RULE_MAKE_GO_NOTED (below, frame));
  for (const uint8_t *at = forgot; at + 5 <= end; at++)
    if (memcmp (at, "\x48\x83\xc4", 3) == 0 && at[4] == 0xc3)
      {
        uint64_t freed = start + (uint64_t) (at - code) + 4;

        add_span (spans, start + (uint64_t) (forgot - code), freed,
                  RULE_MAKE (RULE_SP, frame, 2));
        add_span (spans, freed, freed + 1, RULE_MAKE (RULE_SP, 8, SLOT_UNCHANGED));
        return;
      }
}

static void
find_spans (const GoTable *self, const GoFunction *function, Spans *spans)
{
  uint64_t size = function->end - function->start;
  uint8_t code[MOST_SWITCH];

  if (size > sizeof code ||
      sysprof_elf_image_peek_code (self->image, function->start, code, (size_t) size) != ELF_OK)
    return;
  if (has_name (self, function, "runtime.asmcgocall"))
    find_calls_of_c (self, function, code, (size_t) size, spans);
  else if (has_name (self, function, "runtime.cgocallback"))
    find_call_by_c (self, function, code, (size_t) size, spans);
}

/* --- rows of functions that switch stacks --- */

typedef struct
{
  CfiRow row;
  void *data;
  uint64_t start;
  uint64_t end;
  uint32_t size;  /* of the frame, when it was last known */
  uint32_t other; /* the rule where SP is unknown */
  Spans spans;
  unsigned next_span;
  uint32_t last; /* of the code */
  /* [n_words] offsets from `start` of instructions that load the word with the goroutine's
   * offset */
  uint32_t words[MOST_WORDS];
  unsigned n_words;
  uint64_t given_at; /* the last row, and its rule */
  uint32_t given;
} SwitchRows;

static bool
is_by_word_rule (uint32_t rule)
{
  return RULE_KIND (rule) == RULE_GO && RULE_GO_BELOW (rule) == RULE_GO_BY_WORD;
}

static void
find_words (SwitchRows *self, ElfImage *image)
{
  uint64_t size = self->end - self->start;
  uint8_t code[MOST_SWITCH];

  if (size > sizeof code ||
      sysprof_elf_image_peek_code (image, self->start, code, (size_t) size) != ELF_OK)
    return;
  for (uint32_t i = 0; i + 8 <= size && self->n_words < MOST_WORDS; i++)
    if (is_by_word (code + i) && code[i + 7] == 0x64)
      self->words[self->n_words++] = i;
}

/* Adds the distance to that word from the block of `address`. */
static uint32_t
with_distance (const SwitchRows *self, uint64_t address, uint32_t rule)
{
  uint64_t from = (address & ~(uint64_t) (GO_BLOCK - 1)) - GO_BEFORE_BLOCK;

  for (unsigned i = 0; i < self->n_words; i++)
    if (self->start + self->words[i] - from <= RULE_GO_MOST_DISTANCE)
      return RULE_GO_MAKE_DISTANCE (rule, self->start + self->words[i] - from);
  return RULE_ESCAPE;
}

/* Repeats the last row for each block that begins before `until`, if the rule differs there. */
static void
give_blocks (SwitchRows *self, uint64_t until)
{
  while (is_by_word_rule (self->given) && (self->given_at | (GO_BLOCK - 1)) + 1 < until)
    {
      self->given_at = (self->given_at | (GO_BLOCK - 1)) + 1;
      self->row (self->data, self->given_at, with_distance (self, self->given_at, self->given));
    }
}

static void
give_row (SwitchRows *self, uint64_t address, uint32_t rule)
{
  give_blocks (self, address);
  self->given_at = address;
  self->given = rule;
  self->row (self->data, address,
             is_by_word_rule (rule) ? with_distance (self, address, rule) : rule);
}

/* Adds the spans that begin before `until`. */
static void
add_spans (SwitchRows *self, uint64_t until)
{
  while (self->next_span < self->spans.n && self->spans.span[self->next_span].start < until)
    {
      const Span *span = &self->spans.span[self->next_span++];
      bool is_joined = self->next_span < self->spans.n &&
                       self->spans.span[self->next_span].start == span->end;

      give_row (self, span->start, span->rule);
      if (!is_joined && span->end < until && span->end < self->end)
        give_row (self, span->end, self->last);
    }
}

static bool
is_in_span (const SwitchRows *self, uint64_t address)
{
  for (unsigned i = 0; i < self->spans.n; i++)
    if (address >= self->spans.span[i].start && address < self->spans.span[i].end)
      return true;
  return false;
}

/* Adds a row of the code. If SP is unknown there, the code is on another stack. */
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
  add_spans (self, address);
  self->last = rule;
  if (!is_in_span (self, address))
    give_row (self, address, rule);
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
  find_spans (self, function, &rows.spans);
  find_words (&rows, self->image);
  rows.last = RULE_ESCAPE;
  (void) sysprof_code_reader_run (reader, add_switch_row, &rows);
  add_spans (&rows, end);
  give_blocks (&rows, end);
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
        continue; /* out of order, or replaced by a span */

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
