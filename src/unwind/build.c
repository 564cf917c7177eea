// SPDX-License-Identifier: GPL-3.0-or-later

/* From a file to its table: .eh_frame first, .debug_frame for functions that it does not have, and what is known without
 * either for the code between. */

#include "unwind/build.h"

#include "unwind/called.h"
#include "unwind/cfi.h"
#include "unwind/code-reader.h"
#include "unwind/go.h"
#include "unwind/handover.h"
#include "unwind/known-code.h"
#include "unwind/table.h"
#include "unwind/x86.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXTS 64 /* executable sections */

/* Of a function, whose first instructions are compared with its rules. */
#define MOST_FIRST             12                     /* rows */
#define MOST_FIRST_INSTRUCTION 4                      /* bytes */
#define PIECE                  (UINT64_C (256) << 10) /* bytes that are read at once */
#define MOST_CONTRADICTED      64
#define MOST_HANDOVERS         8  /* libgcc has four */
#define BEGINNING              16 /* bytes */

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

/* Rows with which a function begins. */
typedef struct
{
  uint64_t address;
  uint32_t rule;
} FirstRow;

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
  bool has_called; /* they were looked for */
  uint64_t contradicted
      [MOST_CONTRADICTED]; /* [n_contradicted] functions whose rules are not what their code does */
  size_t n_contradicted;
  Handover handover[MOST_HANDOVERS]; /* [n_handovers] ascending */
  size_t n_handovers;
  const Handover
      *adding; /* whose rows are to be added yet, in the function that is; NULL = any other */
  HandoverRow last[3]; /* that were added */
  HandoverRow
      exit[3]; /* of the function that is added, where it hands an exception over; else zero */
  bool
      is_comparing; /* rules with code: the first time, unless rules are all that is asked for */
  bool is_again;    /* something was found that is to be added in another way */
  uint8_t *piece;   /* bytes at [piece_start, piece_end), or NULL */
  uint64_t piece_start;
  uint64_t piece_end;
  uint64_t text_end;          /* of the section that is added */
  FirstRow first[MOST_FIRST]; /* [n_first] of the function that is added */
  size_t n_first;
  uint64_t *outside; /* [MOST_OUTSIDE] */
  size_t n_outside;
  uint64_t code_budget; /* bytes of code without rules that may be read yet */
  uint32_t no_rule;     /* RULE_NONE, or RULE_DOUBT */
  BuildSources sources;
} Build;

#define RBX 3

static void add_row (void *data, uint64_t address, uint32_t rule);

static void
add_handover (Build *self)
{
  const Handover *handover = self->adding;

  self->adding = NULL;
  for (unsigned i = 0; handover != NULL && i < HANDOVER_ROWS; i++)
    add_row (self, handover->row[i].address, handover->row[i].rule);
}

static void
add_row (void *data, uint64_t address, uint32_t rule)
{
  Build *self = data;

  if (self->adding != NULL && address >= self->adding->row[0].address)
    {
      if (address < self->adding->end)
        return;
      add_handover (self);
    }
  if (self->n_first < MOST_FIRST)
    self->first[self->n_first++] = (FirstRow){ address, rule };
  self->last[0] = self->last[1];
  self->last[1] = self->last[2];
  self->last[2] = (HandoverRow){ address, rule };
  if (RULE_KIND (rule) == RULE_RA && sysprof_handover_is_exit (self->last))
    memcpy (self->exit, self->last, sizeof self->exit);
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

  if (rule == RULE_NONE)
    rule = self->build->no_rule;
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

/* The first that begins at or behind `address`. */
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
      /* Without symbols calls alone tell where functions are. */
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
      rows.n_known = sysprof_known_code_find (self->image, start, end, known);
      covered = read_code (self, &rows, start, end);
      add_known (&rows, end);
      if (covered > 0 || rows.known > known)
        self->header.sources |= UNWIND_SOURCE_CODE;
      self->header.read_size += covered;
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

/* --- rules against instructions --- */

static uint32_t
first_rule_at (const Build *self, uint64_t address)
{
  uint32_t rule = RULE_NONE;

  for (size_t i = 0; i < self->n_first && self->first[i].address <= address; i++)
    rule = self->first[i].rule;
  return rule;
}

/* What an instruction adds to the distance from SP to the CFA; FALSE: it is not known, or the function goes on elsewhere. */
static bool
follow_sp (const X86Instruction *instruction, uint64_t *offset)
{
  switch (instruction->kind)
    {
    case X86_PUSH:
      *offset += 8;
      return true;
    case X86_POP:
      *offset -= 8;
      return true;
    case X86_ADD_SP:
      *offset -= (uint64_t) instruction->value;
      return true;
    case X86_OTHER:
    case X86_PADDING:
    case X86_CODE_ADDRESS:
    case X86_BP_FROM_SP:
    case X86_SPOIL_BP:
    case X86_ZERO_BP:
    case X86_STORE_BP:
    case X86_LOAD_BP:
      return true;
    default:
      return false;
    }
}

/* The bytes at [start, start + size), out of a larger piece. NULL: they cannot be read. */
static const uint8_t *
read_beginning (Build *self, uint64_t start, uint64_t size)
{
  if (start < self->piece_start || start + size > self->piece_end)
    {
      free (self->piece);
      self->piece = NULL;
      self->piece_start = start;
      self->piece_end = start + PIECE < self->text_end ? start + PIECE : self->text_end;
      if (sysprof_elf_image_read_code (self->image, start, self->piece_end, &self->piece) !=
          ELF_OK)
        self->piece = NULL;
    }
  return self->piece != NULL ? self->piece + (start - self->piece_start) : NULL;
}

/* Whether rules say something else of SP than what a function does as it begins. Rules in which SP has no part are believed, and
 * those that change with the first instruction: whoever wrote them has thought of it. */
static bool
contradicts (Build *self, uint64_t start, uint64_t end)
{
  uint64_t size = end - start < BEGINNING ? end - start : BEGINNING;
  uint32_t rule = first_rule_at (self, start);
  uint64_t offset = RULE_OFFSET (rule);
  const uint8_t *code;
  X86Instruction instruction;

  if (self->header.machine != EM_X86_64 || RULE_KIND (rule) != RULE_SP ||
      self->n_first == MOST_FIRST ||
      (self->n_first > 1 && self->first[1].address - start <= MOST_FIRST_INSTRUCTION))
    return false;
  code = read_beginning (self, start, size);
  if (code == NULL)
    return false;

  for (size_t at = 0; at < size &&
                      sysprof_x86_decode (code + at, size - at, start + at, &instruction) &&
                      follow_sp (&instruction, &offset);)
    {
      at += instruction.length;
      rule = first_rule_at (self, start + at);
      if (at >= size || RULE_KIND (rule) != RULE_SP)
        return false;
      if (instruction.kind == X86_PADDING)
        offset = RULE_OFFSET (rule); /* before what is jumped to; nobody comes by */
      if (RULE_OFFSET (rule) != offset)
        return true;
    }
  return false;
}

static bool
is_contradicted (const Build *self, uint64_t start)
{
  for (size_t i = 0; i < self->n_contradicted; i++)
    if (self->contradicted[i] == start)
      return true;
  return false;
}

/* What a function does, where its rules say something else. */
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

/* TRUE once for each function. */
static bool
keep_contradicted (Build *self, uint64_t start, uint64_t end)
{
  if (self->n_contradicted == MOST_CONTRADICTED || !contradicts (self, start, end))
    return false;
  self->contradicted[self->n_contradicted++] = start;
  return true;
}

/* TRUE once for each function in which an exception is handed to who catches it. */
static bool
keep_handover (Build *self, uint64_t start, uint64_t end)
{
  if (self->n_handovers == MOST_HANDOVERS || self->header.machine != EM_X86_64 ||
      self->exit[0].rule == 0 ||
      !sysprof_handover_find (self->image, start, end, self->exit,
                              &self->handover[self->n_handovers]))
    return false;
  self->n_handovers++;
  return true;
}

static const Handover *
find_handover (const Build *self, uint64_t start)
{
  for (size_t i = 0; i < self->n_handovers; i++)
    if (self->handover[i].function == start)
      return &self->handover[i];
  return NULL;
}

/* As its call-frame information says, FALSE: as far as that can be read; and as an exception is handed over. */
static bool
add_function (Build *self, const Cfi *cfi, const CfiFunction *function, uint64_t end)
{
  bool is_read;

  self->adding = find_handover (self, function->start);
  memset (self->exit, 0, sizeof self->exit);
  is_read = sysprof_cfi_run (cfi, function, end, add_row, self);
  add_handover (self);
  return is_read;
}

/* The functions of one executable section. One ends where the next of its section begins, whatever it says. */
static void
add_text (Build *self, ElfCode text)
{
  uint64_t at = text.start;

  self->text_end = text.end;

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
      self->n_first = 0;
      /* Nobody calls where a context begins: its address is on the stack as it is, and looked up a byte before. */
      if (function->start > at &&
          sysprof_known_code_is_context_start (self->image, cfi, function))
        {
          add_row (self, function->start - 1, RULE_END);
        }
      else if (is_contradicted (self, function->start))
        {
          add_read_function (self, function->start, end);
          self->header.n_contradictions++;
        }
      else if (!add_function (self, cfi, function, end))
        {
          self->header.n_broken++;
        }
      else if (self->is_comparing && (keep_contradicted (self, function->start, end) ||
                                      keep_handover (self, function->start, end)))
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
  add_build_id (&self->header, self->image);
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
  /* Go's own says where stacks end and where they are changed, which its .debug_frame does not. */
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
  free (self.called);
  free (self.outside);
  free (self.piece);
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
