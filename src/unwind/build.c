// SPDX-License-Identifier: GPL-3.0-or-later

/* From a file to its table: .eh_frame first, .debug_frame for functions that it does not have, and what is known without
 * either for the code between. */

#include "unwind/build.h"

#include "unwind/called.h"
#include "unwind/cfi.h"
#include "unwind/code-reader.h"
#include "unwind/go.h"
#include "unwind/known-code.h"
#include "unwind/table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXTS 64 /* executable sections */

/* Between functions linkers put up to 15 bytes of padding. They belong to the function before: two rows saved, and a
 * return address right behind a call that never returns is looked up where the call is. */
#define MOST_PADDING 15

/* Code without rules is read up to so many bytes of a file. What has more is a browser, which has frame pointers, or no
 * program. */
#define MOST_CODE_READ (UINT64_C (32) << 20)
/* Symbols are loaded for gaps of so many bytes; in less there are a few functions, which follow each other. Every program has a
 * gap of some 200 bytes, which its compiler brings. */
#define LEAST_SYMBOLS 256
#define MOST_OUTSIDE  8192 /* calls from one to another that are kept */
#define MOST_GAPS     4096 /* of that size that are looked at for calls */

typedef struct
{
  Cfi eh;
  Cfi debug;
  GoTable go;
  size_t next_eh;
  size_t next_debug;
  TableBuilder *builder;
  bool has_bx_frames; /* rows whose CFA is found by RBX */
  UnwindTableHeader header;
  ElfImage *image;
  ElfImage *debug_image; /* may be NULL */
  ElfSymbols *symbols;   /* where they were asked for, and are there */
  bool has_symbols;      /* they were asked for */
  uint64_t *called;      /* [n_called] places without rules that code of the file leads to */
  size_t n_called;
  bool has_called;   /* they were looked for */
  uint64_t *outside; /* [MOST_OUTSIDE] */
  size_t n_outside;
  uint64_t code_budget; /* bytes of code without rules that may be read yet */
  BuildSources sources;
} Build;

#define RBX 3

static void
add_row (void *data, uint64_t address, uint32_t rule)
{
  Build *self = data;

  if (RULE_KIND (rule) == RULE_REG && RULE_REG_NUMBER (rule) == RBX)
    self->has_bx_frames = true;
  sysprof_table_builder_add (self->builder, address, rule);
}

/* The first function at or behind `from`, among those of the section that were not passed yet. */
static const CfiFunction *
peek (const Cfi *cfi, size_t *next, uint64_t from)
{
  while (*next < cfi->n_functions && cfi->function[*next].start < from)
    (*next)++;
  return *next < cfi->n_functions ? &cfi->function[*next] : NULL;
}

/* --- code without rules --- */

/* Rows of what the instructions say, with what is known better over them. */
typedef struct
{
  Build *build;
  const KnownCode *known; /* [n_known] */
  size_t n_known;
  uint64_t end;
  uint32_t rule; /* the last one that was given */
} GapRows;

/* Everything that is known of the addresses before `until`. */
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

  add_known (self, address);
  self->rule = rule;
  if (self->n_known == 0 || self->known->start > address)
    add_row (self->build, address, rule);
}

/* Those that are read with symbols: `gap` [most]. What .debug_frame has does not matter, as there are symbols as well. */
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

/* Asked once in a file, of which few have such code. */
static void
find_called (Build *self)
{
  ElfCode *gap;

  if (self->has_called)
    return;
  self->has_called = true;
  gap = calloc (MOST_GAPS, sizeof *gap);
  if (gap != NULL)
    self->called = sysprof_called_find (self->image, gap, find_gaps (self, gap, MOST_GAPS),
                                        &self->n_called);
  free (gap);
}

/* Parts of functions that are not called, but jumped to, have symbols of this kind. */
static bool
is_part (const char *name)
{
  return strstr (name, ".cold") != NULL;
}

static void
add_starts_among (CodeReader *reader,
                  const uint64_t *place,
                  size_t n,
                  uint64_t start,
                  uint64_t end)
{
  for (size_t i = 0; i < n; i++)
    if (place[i] >= start && place[i] < end)
      sysprof_code_reader_add_start (reader, place[i]);
}

/* What code in one gap calls in another; those before are done. */
static void
keep_outside (Build *self, const CodeReader *reader)
{
  size_t n;
  const uint64_t *place = sysprof_code_reader_get_outside (reader, &n);

  if (self->outside == NULL)
    self->outside = calloc (MOST_OUTSIDE, sizeof *self->outside);
  if (self->outside == NULL)
    return;
  for (size_t i = 0; i < n && self->n_outside < MOST_OUTSIDE; i++)
    self->outside[self->n_outside++] = place[i];
}

static void
add_starts (Build *self, CodeReader *reader, uint64_t start, uint64_t end)
{
  if (end - start < LEAST_SYMBOLS)
    return;
  if (!self->has_symbols)
    {
      self->has_symbols = true;
      /* Without symbols calls alone tell where functions are. */
      if (self->debug_image == NULL ||
          sysprof_elf_symbols_load (self->debug_image, &self->symbols) != ELF_OK)
        (void) sysprof_elf_symbols_load (self->image, &self->symbols);
    }

  for (size_t i = 0; self->symbols != NULL && i < sysprof_elf_symbols_count (self->symbols);
       i++)
    {
      ElfSymbol symbol = sysprof_elf_symbols_get (self->symbols, i);

      if (symbol.start >= start && symbol.start < end && !is_part (symbol.name))
        sysprof_code_reader_add_start (reader, symbol.start);
    }

  find_called (self);
  add_starts_among (reader, self->called, self->n_called, start, end);
  add_starts_among (reader, self->outside, self->n_outside, start, end);
}

/* Returns how many bytes have rules then. */
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
  KnownCode known[MOST_KNOWN_CODE];
  GapRows rows = { .build = self, .known = known, .end = end };
  uint64_t covered;

  if (start == end ||
      (end - start <= MOST_PADDING && sysprof_table_builder_rule (self->builder) != RULE_NONE))
    return;

  sysprof_table_builder_add (self->builder, start, RULE_NONE);
  covered = sysprof_go_table_run (&self->go, start, end, add_row, self);
  if (covered > 0)
    {
      self->header.sources |= UNWIND_SOURCE_GO;
    }
  else
    {
      rows.n_known = sysprof_known_code_find (self->image, start, end, known);
      covered = read_code (self, &rows, start, end);
      add_known (&rows, end);
      if (covered > 0 || rows.known > known)
        self->header.sources |= UNWIND_SOURCE_CODE;
    }
  self->header.covered_size += covered;
}

/* Where the next function begins that begins behind `start`. */
static uint64_t
next_start (const Cfi *cfi, size_t next, uint64_t start)
{
  while (next < cfi->n_functions && cfi->function[next].start <= start)
    next++;
  return next < cfi->n_functions ? cfi->function[next].start : UINT64_MAX;
}

/* The functions of one executable section. One ends where the next of its section begins, whatever it says. */
static void
add_text (Build *self, ElfCode text)
{
  uint64_t at = text.start;

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
      /* Nobody calls where a context begins: its address is on the stack as it is, and looked up a byte before. */
      if (function->start > at &&
          sysprof_known_code_is_context_start (self->image, cfi, function))
        {
          add_row (self, function->start - 1, RULE_END);
        }
      else if (!sysprof_cfi_run (cfi, function, end, add_row, self))
        {
          self->header.n_broken++;
        }
      self->header.n_functions++;
      self->header.covered_size += end - function->start;
      self->header.sources |=
          (uint16_t) (is_debug ? UNWIND_SOURCE_DEBUG_FRAME : UNWIND_SOURCE_EH_FRAME);
      at = end;
    }

  add_gap (self, at, text.end);
}

/* Everything from the beginning; what was added before is forgotten. */
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
  for (size_t i = 0; i < n_texts; i++)
    {
      self->header.text_size += text[i].end - text[i].start;
      add_text (self, text[i]);
      /* Behind a section there may be data, or nothing. */
      sysprof_table_builder_add (self->builder, text[i].end, RULE_NONE);
    }
  return ELF_OK;
}

/* A section that is not there, or cannot be read, leaves the others. */
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
  if (sources == BUILD_CODE)
    goto build;
  status = sysprof_elf_image_read_eh_frame (image, &eh_frame);
  status = open_section (&self.eh, status, &eh_frame, machine, false);
  if (status != ELF_OK)
    goto out;
  status = sysprof_go_table_open (&self.go, image);
  if (status == ELF_NO_MEMORY)
    goto out;
  /* Go's own says where stacks end, which its .debug_frame does not. */
  if (status != ELF_OK)
    {
      status = sysprof_elf_image_read_named (debug_image != NULL ? debug_image : image,
                                             ".debug_frame", &debug_frame);
      status = open_section (&self.debug, status, &debug_frame, machine, true);
      if (status != ELF_OK)
        goto out;
    }

build:
  status = add_all (&self, code, n_code);
  if (status == ELF_OK && self.has_bx_frames && machine == EM_X86_64)
    {
      self.eh.wants_bx = self.debug.wants_bx = true;
      status = add_all (&self, code, n_code);
    }
  if (status == ELF_OK)
    status = sysprof_table_builder_finish (self.builder, self.header, table);

out:
  sysprof_table_builder_free (self.builder);
  sysprof_cfi_clear (&self.eh);
  sysprof_cfi_clear (&self.debug);
  sysprof_go_table_clear (&self.go);
  sysprof_elf_symbols_free (self.symbols);
  free (self.called);
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
