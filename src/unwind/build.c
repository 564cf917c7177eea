// SPDX-License-Identifier: GPL-3.0-or-later

/* Builds the unwind table of a file. Functions come from .eh_frame, then from .debug_frame. For
 * code in the gaps, rules come from code patterns, from Go's own table, or from reading the
 * instructions. */

#include "unwind/build.h"

#include "unwind/call-targets.h"
#include "unwind/cfi.h"
#include "unwind/code-patterns.h"
#include "unwind/code-reader.h"
#include "unwind/go.h"
#include "unwind/rule-check.h"
#include "unwind/table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXTS 64 /* executable sections */

#define MOST_CONTRADICTED 64

/* Linkers put up to 15 bytes of padding between functions. Padding counts as part of the
 * function before it. This saves two rows, and a return address after a call that never returns
 * is looked up at the call. */
#define MOST_PADDING 15

/* At most this many bytes of code without rules are read per file. Files with more are
 * browsers, which have frame pointers, or are not programs. */
#define MOST_CODE_READ (UINT64_C (32) << 20)
/* Symbols are loaded only for gaps of at least this many bytes; smaller gaps contain a few
 * consecutive functions. Every program has a gap of about 200 bytes, which the compiler
 * adds. */
#define LEAST_SYMBOLS 256
#define MOST_OUTSIDE  8192 /* stored calls between gaps */
#define MOST_GAPS     4096 /* gaps of that size that are searched for calls */

typedef struct
{
  Cfi eh;
  Cfi debug;
  GoTable go;
  size_t next_eh;
  size_t next_debug;
  TableBuilder *builder;
  bool has_bx_frames; /* there are rows whose CFA depends on RBX */
  UnwindTableHeader header;
  ElfImage *image;
  ElfImage *debug_image; /* may be NULL */
  ElfSymbols *symbols;   /* loaded when first needed; NULL = none */
  bool has_symbols;      /* loading has been tried */
  /* [n_call_targets] addresses without rules that code of the file calls or refers to */
  uint64_t *call_targets;
  size_t n_call_targets;
  bool has_call_targets; /* they have been searched for */
  /* [n_contradicted] functions whose rules contradict their code */
  uint64_t contradicted[MOST_CONTRADICTED];
  size_t n_contradicted;
  /* compare rules with code: in the first pass, unless only call-frame information is used */
  bool is_comparing;
  bool is_again;     /* the pass must be repeated, because a function needs other rows */
  RuleCheck check;   /* of the current function and section */
  uint64_t *outside; /* [MOST_OUTSIDE] */
  size_t n_outside;
  uint64_t code_budget; /* bytes of code without rules that may still be read */
  uint32_t no_rule;     /* RULE_NONE or RULE_DOUBT */
  BuildSources sources;
} Build;

#define RBX 3

static void
add_row (void *data, uint64_t address, uint32_t rule)
{
  Build *self = data;

  sysprof_rule_check_add (&self->check, address, rule);
  if (RULE_KIND (rule) == RULE_REG && RULE_REG_NUMBER (rule) == RBX)
    self->has_bx_frames = true;
  sysprof_table_builder_add (self->builder, address, rule);
}

/* The first function at or after `from`, of those of the section that are left. */
static const CfiFunction *
peek (const Cfi *cfi, size_t *next, uint64_t from)
{
  while (*next < cfi->n_functions && cfi->function[*next].start < from)
    (*next)++;
  return *next < cfi->n_functions ? &cfi->function[*next] : NULL;
}

/* --- code without rules --- */

/* Adds the rows of a gap: those of the instructions, replaced by code patterns where these
 * match. */
typedef struct
{
  Build *build;
  const CodeMatch *known; /* [n_known] */
  size_t n_known;
  uint64_t end;
  uint32_t rule; /* the last one of the instructions */
} GapRows;

/* Adds the matches before the address `until`. */
static void
add_known (GapRows *self, uint64_t until)
{
  while (self->n_known > 0 && self->known->start < until)
    {
      add_row (self->build, self->known->start, self->known->rule);
      if (self->known->end > until)
        return;
      if (self->known->end < self->end)
        add_row (self->build, self->known->end, self->rule);
      self->known++;
      self->n_known--;
    }
}

static void
add_gap_row (void *data, uint64_t address, uint32_t rule)
{
  GapRows *self = data;

  if (rule == RULE_NONE)
    rule = self->build->no_rule;
  add_known (self, address);
  self->rule = rule;
  if (self->n_known == 0 || self->known->start > address)
    add_row (self->build, address, rule);
}

/* Finds the gaps that are read with symbols: `gap` [most]. Ignores .debug_frame, because a file
 * with it has symbols, too. */
static size_t
find_gaps (const Build *self, ElfCode *gap, size_t most)
{
  ElfCode text[MOST_TEXTS];
  size_t n_texts = sysprof_elf_image_text (self->image, text, MOST_TEXTS);
  size_t next = 0, n = 0;

  for (size_t i = 0; i < n_texts; i++)
    for (uint64_t at = text[i].start; at < text[i].end && n < most;)
      {
        const CfiFunction *function = peek (&self->eh, &next, at);
        uint64_t end =
            function != NULL && function->start < text[i].end ? function->start : text[i].end;

        if (end - at >= LEAST_SYMBOLS)
          gap[n++] = (ElfCode){ .start = at, .end = end };
        at = end == text[i].end ? end : function->end;
      }
  return n;
}

/* Called once per file; few files have such code. */
static void
find_call_targets (Build *self)
{
  ElfCode *gap;

  if (self->has_call_targets)
    return;
  self->has_call_targets = true;
  gap = calloc (MOST_GAPS, sizeof *gap);
  if (gap != NULL)
    self->call_targets = sysprof_call_targets_find (
        self->image, gap, find_gaps (self, gap, MOST_GAPS), &self->n_call_targets);
  free (gap);
}

/* Symbols of this kind are parts of functions, which are jumped to and not called. */
static bool
is_part (const char *name)
{
  return strstr (name, ".cold") != NULL;
}

static void
add_starts_among (CodeReader *reader,
                  const uint64_t *target,
                  size_t n,
                  uint64_t start,
                  uint64_t end)
{
  for (size_t i = 0; i < n; i++)
    if (target[i] >= start && target[i] < end)
      sysprof_code_reader_add_start (reader, target[i]);
}

/* Stores calls from one gap to later ones. */
static void
keep_outside (Build *self, const CodeReader *reader)
{
  size_t n;
  const uint64_t *target = sysprof_code_reader_get_outside (reader, &n);

  if (self->outside == NULL)
    self->outside = calloc (MOST_OUTSIDE, sizeof *self->outside);
  if (self->outside == NULL)
    return;
  for (size_t i = 0; i < n && self->n_outside < MOST_OUTSIDE; i++)
    self->outside[self->n_outside++] = target[i];
}

/* The first symbol that begins at or after `address`. */
static size_t
find_symbol (const ElfSymbols *symbols, uint64_t address)
{
  size_t low = 0;

  for (size_t high = sysprof_elf_symbols_count (symbols); low < high;)
    {
      size_t middle = low + (high - low) / 2;

      if (sysprof_elf_symbols_get (symbols, middle).start < address)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static void
add_starts (Build *self, CodeReader *reader, uint64_t start, uint64_t end)
{
  if (end - start < LEAST_SYMBOLS)
    return;
  if (!self->has_symbols)
    {
      self->has_symbols = true;
      /* Without symbols, only calls show where functions begin. */
      if (self->debug_image == NULL ||
          sysprof_elf_symbols_load (self->debug_image, &self->symbols) != ELF_OK)
        (void) sysprof_elf_symbols_load (self->image, &self->symbols);
    }

  for (size_t i = self->symbols != NULL ? find_symbol (self->symbols, start) : SIZE_MAX;
       self->symbols != NULL && i < sysprof_elf_symbols_count (self->symbols); i++)
    {
      ElfSymbol symbol = sysprof_elf_symbols_get (self->symbols, i);

      if (symbol.start >= end)
        break;
      if (!is_part (symbol.name))
        sysprof_code_reader_add_start (reader, symbol.start);
    }

  find_call_targets (self);
  add_starts_among (reader, self->call_targets, self->n_call_targets, start, end);
  add_starts_among (reader, self->outside, self->n_outside, start, end);
}

/* Returns the number of bytes that have rules afterwards. */
static uint64_t
read_code (Build *self, GapRows *rows, uint64_t start, uint64_t end)
{
  CodeReader *reader;
  uint64_t covered;

  if (self->header.machine != EM_X86_64 || self->sources == BUILD_FRAMES ||
      end - start > self->code_budget)
    return 0;
  reader = sysprof_code_reader_new (self->image, start, end);
  if (reader == NULL)
    return 0;

  self->code_budget -= end - start;
  sysprof_code_reader_add_likely_start (reader, start);
  sysprof_code_reader_add_start (reader, sysprof_elf_image_entry (self->image));
  add_starts (self, reader, start, end);
  covered = sysprof_code_reader_run (reader, add_gap_row, rows);
  keep_outside (self, reader);
  sysprof_code_reader_free (reader);
  return covered;
}

static void
add_gap (Build *self, uint64_t start, uint64_t end)
{
  CodeMatch known[MOST_CODE_MATCHES];
  GapRows rows = { .build = self, .known = known, .end = end, .rule = self->no_rule };
  uint64_t covered;

  if (start == end || (end - start <= MOST_PADDING &&
                       RULE_KIND (sysprof_table_builder_rule (self->builder)) != RULE_NONE))
    return;

  sysprof_table_builder_add (self->builder, start, self->no_rule);
  covered = sysprof_go_table_run (&self->go, start, end, add_row, self);
  if (covered > 0)
    {
      self->header.sources |= UNWIND_SOURCE_GO;
    }
  else
    {
      rows.n_known = sysprof_code_patterns_find (self->image, start, end, known);
      covered = read_code (self, &rows, start, end);
      add_known (&rows, end);
      if (covered > 0 || rows.known > known)
        self->header.sources |= UNWIND_SOURCE_CODE;
      self->header.read_size += covered;
    }
  self->header.covered_size += covered;
}

/* The start of the next function after `start`. */
static uint64_t
next_start (const Cfi *cfi, size_t next, uint64_t start)
{
  while (next < cfi->n_functions && cfi->function[next].start <= start)
    next++;
  return next < cfi->n_functions ? cfi->function[next].start : UINT64_MAX;
}

/* --- comparing rules with instructions --- */

static bool
is_contradicted (const Build *self, uint64_t start)
{
  for (size_t i = 0; i < self->n_contradicted; i++)
    if (self->contradicted[i] == start)
      return true;
  return false;
}

/* Adds rows from the instructions of a function whose rules contradict them. */
static void
add_read_function (Build *self, uint64_t start, uint64_t end)
{
  CodeReader *reader = end - start <= self->code_budget
                           ? sysprof_code_reader_new (self->image, start, end)
                           : NULL;

  if (reader == NULL)
    {
      add_row (self, start, RULE_NONE);
      return;
    }
  self->code_budget -= end - start;
  sysprof_code_reader_add_start (reader, start);
  (void) sysprof_code_reader_run (reader, add_row, self);
  sysprof_code_reader_free (reader);
}

/* TRUE once for each such function. */
static bool
keep_contradicted (Build *self, uint64_t start, uint64_t end)
{
  if (self->n_contradicted == MOST_CONTRADICTED || self->header.machine != EM_X86_64 ||
      !sysprof_rule_check_contradicts (&self->check, self->image, start, end))
    return false;
  self->contradicted[self->n_contradicted++] = start;
  return true;
}

/* Adds the functions of one executable section. A function ends at the latest where the next
 * one begins. */
static void
add_text (Build *self, ElfCode text)
{
  uint64_t at = text.start;

  self->check.text_end = text.end;

  for (;;)
    {
      const CfiFunction *eh = peek (&self->eh, &self->next_eh, at);
      const CfiFunction *debug = peek (&self->debug, &self->next_debug, at);
      bool is_debug = debug != NULL && (eh == NULL || debug->start < eh->start);
      const Cfi *cfi = is_debug ? &self->debug : &self->eh;
      const CfiFunction *function = is_debug ? debug : eh;
      uint64_t end, limit;

      if (function == NULL || function->start >= text.end)
        break;

      end = function->end < text.end ? function->end : text.end;
      limit = next_start (cfi, is_debug ? self->next_debug : self->next_eh, function->start);
      if (is_debug && eh != NULL && eh->start < limit)
        limit = eh->start;
      if (limit < end)
        end = limit;

      add_gap (self, at, function->start);
      self->check.n = 0;
      /* The start of a context is never called: its address is put on the stack, and is looked
       * up one byte before. */
      if (function->start > at &&
          sysprof_code_patterns_is_context_start (self->image, cfi, function))
        {
          add_row (self, function->start - 1, RULE_END);
        }
      else if (is_contradicted (self, function->start))
        {
          add_read_function (self, function->start, end);
          self->header.n_contradictions++;
        }
      else if (!sysprof_cfi_run (cfi, function, end, add_row, self))
        {
          self->header.n_broken++;
        }
      else if (self->is_comparing && keep_contradicted (self, function->start, end))
        {
          self->is_again = true;
        }
      self->header.n_functions++;
      self->header.covered_size += end - function->start;
      self->header.sources |=
          (uint16_t) (is_debug ? UNWIND_SOURCE_DEBUG_FRAME : UNWIND_SOURCE_EH_FRAME);
      at = end;
    }

  add_gap (self, at, text.end);
}

static void
add_build_id (UnwindTableHeader *header, ElfImage *image)
{
  uint8_t build_id[ELF_MAX_BUILD_ID];
  size_t size;

  if (sysprof_elf_image_build_id (image, build_id, &size) != ELF_OK ||
      size > UNWIND_MOST_BUILD_ID)
    return;

  header->build_id_size = (uint8_t) size;
  memcpy (header->build_id, build_id, size);
}

/* Adds everything, from the beginning. */
static ElfStatus
add_all (Build *self, const ElfCode *code, size_t n_code)
{
  ElfCode text[MOST_TEXTS];
  size_t n_texts = sysprof_elf_image_text (self->image, text, MOST_TEXTS);

  sysprof_table_builder_free (self->builder);
  self->builder = sysprof_table_builder_new (code, n_code);
  if (self->builder == NULL)
    return ELF_NO_MEMORY;

  self->next_eh = self->next_debug = 0;
  self->n_outside = 0;
  self->code_budget = MOST_CODE_READ;
  self->header = (UnwindTableHeader){
    .machine = sysprof_elf_image_machine (self->image),
    .n_refused = (uint32_t) (self->eh.n_refused + self->debug.n_refused),
  };
  add_build_id (&self->header, self->image);
  for (size_t i = 0; i < n_texts; i++)
    {
      self->header.text_size += text[i].end - text[i].start;
      add_text (self, text[i]);
      /* After a section there may be data, or nothing. */
      sysprof_table_builder_add (self->builder, text[i].end, RULE_NONE);
    }
  return ELF_OK;
}

/* A section that is missing or cannot be read does not affect the others. */
static ElfStatus
open_section (Cfi *cfi, ElfStatus status, ElfFrames *frames, uint16_t machine, bool is_debug)
{
  if (status == ELF_OK)
    status = sysprof_cfi_open (cfi, frames, machine, is_debug);
  return status == ELF_NO_MEMORY || status == ELF_IO_ERROR ? status : ELF_OK;
}

static ElfStatus
build (ElfImage *image, ElfImage *debug_image, BuildSources sources, UnwindTable *table)
{
  uint16_t machine = sysprof_elf_image_machine (image);
  ElfFrames eh_frame = { 0 }, debug_frame = { 0 };
  ElfCode code[UNWIND_MOST_SEGMENTS];
  size_t n_code = sysprof_elf_image_code (image, code, UNWIND_MOST_SEGMENTS);
  Build self = { .image = image, .debug_image = debug_image };
  ElfStatus status;

  if (!sysprof_elf_image_is_native (image) || (machine != EM_X86_64 && machine != EM_AARCH64))
    return ELF_UNSUPPORTED;
  if (n_code == 0)
    return ELF_ABSENT;
  if ((code[n_code - 1].end - code[0].start) >> UNWIND_PAGE_SHIFT >= UNWIND_MOST_PAGES - 1)
    return ELF_TOO_LARGE;

  self.sources = sources;
  self.no_rule = RULE_NONE;
  if (sources == BUILD_CODE)
    goto build;
  status = sysprof_elf_image_read_eh_frame (image, &eh_frame);
  status = open_section (&self.eh, status, &eh_frame, machine, false);
  if (status != ELF_OK)
    goto out;
  status = sysprof_go_table_open (&self.go, image);
  self.go.code_budget = &self.code_budget;
  if (status == ELF_NO_MEMORY)
    goto out;
  /* Go's own table has the ends of stacks and the changes of stacks, which its .debug_frame
   * does not have. */
  if (status == ELF_UNSUPPORTED)
    self.no_rule = RULE_DOUBT;
  else if (status != ELF_OK)
    {
      status = sysprof_elf_image_read_named (debug_image != NULL ? debug_image : image,
                                             ".debug_frame", &debug_frame);
      status = open_section (&self.debug, status, &debug_frame, machine, true);
      if (status != ELF_OK)
        goto out;
    }

build:
  self.is_comparing = sources == BUILD_ALL && machine == EM_X86_64;
  status = add_all (&self, code, n_code);
  self.is_comparing = false;
  if (self.has_bx_frames && machine == EM_X86_64)
    self.eh.wants_bx = self.debug.wants_bx = self.is_again = true;
  if (status == ELF_OK && self.is_again)
    status = add_all (&self, code, n_code);
  if (status == ELF_OK)
    status = sysprof_table_builder_finish (self.builder, self.header, table);

out:
  sysprof_table_builder_free (self.builder);
  sysprof_cfi_clear (&self.eh);
  sysprof_cfi_clear (&self.debug);
  sysprof_go_table_clear (&self.go);
  sysprof_elf_symbols_free (self.symbols);
  free (self.call_targets);
  sysprof_rule_check_clear (&self.check);
  free (self.outside);
  free (eh_frame.bytes);
  free (debug_frame.bytes);
  return status;
}

ElfStatus
sysprof_unwind_table_build (ElfImage *image, ElfImage *debug_image, UnwindTable *table)
{
  return build (image, debug_image, BUILD_ALL, table);
}

ElfStatus
sysprof_unwind_table_build_from (ElfImage *image,
                                 ElfImage *debug_image,
                                 BuildSources sources,
                                 UnwindTable *table)
{
  return build (image, debug_image, sources, table);
}
