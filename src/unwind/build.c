// SPDX-License-Identifier: GPL-3.0-or-later

/* From a file to its table: .eh_frame first, .debug_frame for functions that it does not have, and what is known without
 * either for the code between. */

#include "unwind/cfi.h"
#include "unwind/go.h"
#include "unwind/known-code.h"
#include "unwind/table.h"

#include <elf.h>
#include <stdlib.h>

#define MOST_TEXTS 64 /* executable sections */

/* Between functions linkers put up to 15 bytes of padding. They belong to the function before: two rows saved, and a
 * return address right behind a call that never returns is looked up where the call is. */
#define MOST_PADDING 15

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

static void
add_gap (Build *self, uint64_t start, uint64_t end)
{
  uint64_t covered;

  if (start == end ||
      (end - start <= MOST_PADDING && sysprof_table_builder_rule (self->builder) != RULE_NONE))
    return;

  sysprof_table_builder_add (self->builder, start, RULE_NONE);
  covered = sysprof_go_table_run (&self->go, start, end, add_row, self);
  if (covered > 0)
    self->header.sources |= UNWIND_SOURCE_GO;
  else if (sysprof_known_code_in_gap (self->image, start, end, add_row, self))
    self->header.sources |= UNWIND_SOURCE_CODE;
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
  self->header = (UnwindTableHeader){
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

ElfStatus
sysprof_unwind_table_build (ElfImage *image, ElfImage *debug_image, UnwindTable *table)
{
  uint16_t machine = sysprof_elf_image_machine (image);
  ElfFrames eh_frame = { 0 }, debug_frame = { 0 };
  ElfCode code[UNWIND_MOST_SEGMENTS];
  size_t n_code = sysprof_elf_image_code (image, code, UNWIND_MOST_SEGMENTS);
  Build self = { 0 };
  ElfStatus status;

  if (!sysprof_elf_image_is_native (image) || (machine != EM_X86_64 && machine != EM_AARCH64))
    return ELF_UNSUPPORTED;
  if (n_code == 0)
    return ELF_ABSENT;
  if ((code[n_code - 1].end - code[0].start) >> UNWIND_PAGE_SHIFT >= UNWIND_MOST_PAGES - 1)
    return ELF_TOO_LARGE;

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

  self.image = image;
  status = add_all (&self, code, n_code);
  if (status == ELF_OK && self.has_bx_frames && machine == EM_X86_64)
    {
      self.eh.wants_bx = self.debug.wants_bx = true;
      status = add_all (&self, code, n_code);
    }
  if (status == ELF_OK)
    {
      self.header.machine = machine;
      status = sysprof_table_builder_finish (self.builder, self.header, table);
    }

out:
  sysprof_table_builder_free (self.builder);
  sysprof_cfi_clear (&self.eh);
  sysprof_cfi_clear (&self.debug);
  sysprof_go_table_clear (&self.go);
  free (eh_frame.bytes);
  free (debug_frame.bytes);
  return status;
}
