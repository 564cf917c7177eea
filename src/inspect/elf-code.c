// SPDX-License-Identifier: GPL-3.0-or-later

/* Disassembles functions of the open file. Plain C without GLib, because it runs in a forked
 * child. */

#include "disasm/disasm.h"
#include "inspect/elf-worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CODE 256 /* at most so many ranges of executable segments are considered */
#define MOST_NAME 160 /* bytes of the name of a call's target */

_Static_assert(DISASM_MAX_SIZE <= ELF_MAX_INSTRUCTION, "an instruction fits");

typedef struct
{
  ElfWorker *worker;
  const ElfQuery *query;
  ElfAnswers *into;
  size_t capacity; /* of into->instruction */
  uint64_t start;  /* link-time addresses of the current range */
  uint64_t end;
  const ElfReferences *references; /* its unlinked references */
} Builder;

static void
append_name (const char *name, int64_t distance, char *text, size_t size)
{
  size_t length = strlen (text);
  char *demangled = sysprof_elf_demangle (name);

  if (demangled != NULL)
    name = demangled;
  if (distance == 0)
    (void) snprintf (text + length, size - length, " <%.*s>", MOST_NAME, name);
  else
    (void) snprintf (text + length, size - length, " <%.*s%c0x%" PRIx64 ">", MOST_NAME, name,
                     distance < 0 ? '-' : '+',
                     distance < 0 ? -(uint64_t) distance : (uint64_t) distance);
  free (demangled);
}

/* Appends the name of a jump's or call's target outside of the function, if the target has a
 * name. */
static void
append_target (const Builder *self, uint64_t target, char *text, size_t size)
{
  bool is_known = target != 0;
  ElfSymbol symbol;

  target -= self->query->shift;
  if (is_known && !(target >= self->start && target < self->end) &&
      sysprof_elf_worker_find_symbol (self->worker, target, &symbol))
    append_name (symbol.name, (int64_t) (target - symbol.start), text, size);
}

/* Returns the unlinked reference inside the instruction, or NULL if there is none. */
static const ElfReference *
find_reference (const Builder *self, const DisasmInstruction *instruction)
{
  uint64_t at = instruction->address - self->query->shift;
  size_t low = 0;

  for (size_t high = self->references->n; low < high;)
    {
      size_t middle = low + (high - low) / 2;

      if (self->references->row[middle].at < at)
        low = middle + 1;
      else
        high = middle;
    }
  return low < self->references->n && self->references->row[low].at - at < instruction->size
             ? &self->references->row[low]
             : NULL;
}

/* The target's address is only known after linking, so the name of the target is shown instead
 * of the operand's value. */
static void
append_reference (const Builder *self,
                  const DisasmInstruction *instruction,
                  const ElfReference *reference,
                  char *text,
                  size_t size)
{
  uint64_t end = instruction->address - self->query->shift + instruction->size;
  uint64_t distance = (uint64_t) reference->addend;
  ElfSymbol symbol;

  if (reference->is_from_end)
    distance += end - reference->at;
  if (instruction->target != 0)
    text[strcspn (text, " ")] = '\0';
  if (reference->value != 0 &&
      sysprof_elf_worker_find_symbol (self->worker, reference->value + distance, &symbol))
    append_name (symbol.name, (int64_t) (reference->value + distance - symbol.start), text,
                 size);
  else if (reference->name[0] != '\0')
    append_name (reference->name, (int64_t) distance, text, size);
}

static bool
append_instruction (Builder *self,
                    const DisasmInstruction *instruction,
                    uint64_t offset,
                    uint32_t range)
{
  ElfAnswers *into = self->into;
  const ElfReference *reference = find_reference (self, instruction);
  char text[sizeof instruction->text + MOST_NAME + 32];
  ElfInstruction *row;

  if (into->n == self->capacity)
    {
      size_t capacity = self->capacity * 2 + 256;
      ElfInstruction *larger = realloc (into->instruction, capacity * sizeof *larger);

      if (larger == NULL)
        return false;
      into->instruction = larger;
      self->capacity = capacity;
    }
  (void) snprintf (text, sizeof text, "%s", instruction->text);
  if (reference != NULL)
    append_reference (self, instruction, reference, text, sizeof text);
  else
    append_target (self, instruction->target, text, sizeof text);

  row = &into->instruction[into->n];
  *row = (ElfInstruction){
    .offset = offset, .address = instruction->address, .range = range, .size = instruction->size
  };
  memcpy (row->bytes, instruction->bytes, instruction->size);
  if (!sysprof_elf_answers_add_text (into, text, &row->text))
    return false;
  into->n++;
  return true;
}

/* The end of a function according to its symbol takes precedence over an end that is only the
 * start of the next function. */
static void
cut_at_symbol (const ElfWorker *worker, uint64_t start, uint64_t *end)
{
  ElfSymbol symbol;

  if (worker->symbols != NULL && sysprof_elf_symbols_find (worker->symbols, start, &symbol) &&
      symbol.start == start && symbol.end > start && symbol.end < *end)
    *end = symbol.end;
}

/* Likewise, for a range that is given as link-time addresses plus `shift`. */
static bool
find_shifted_code (const ElfWorker *worker,
                   const ElfQuery *query,
                   const ElfCodeRange *range,
                   const ElfCode *code,
                   size_t n_code,
                   uint64_t *start,
                   uint64_t *end)
{
  uint64_t size = range->end - range->start;

  *start = range->start - query->shift;
  for (size_t i = 0; i < n_code; i++)
    if (range->end > range->start && *start >= code[i].start && *start < code[i].end)
      {
        *end = code[i].end - *start < size ? code[i].end : *start + size;
        cut_at_symbol (worker, *start, end);
        return true;
      }
  return false;
}

/* Translates a range to link-time addresses, and limits it to one executable segment. */
static bool
find_code (const ElfWorker *worker,
           const ElfQuery *query,
           const ElfCodeRange *range,
           const ElfCode *code,
           size_t n_code,
           uint64_t *start,
           uint64_t *end)
{
  for (size_t i = 0; i < n_code; i++)
    {
      uint64_t size = code[i].end - code[i].start;

      if (range->start < code[i].offset || range->start - code[i].offset >= size)
        continue;
      *start = code[i].start + (range->start - code[i].offset);
      *end = code[i].end;
      if (range->end == 0)
        {
          uint64_t within = *start;

          return sysprof_elf_image_function_bounds (worker->image, within, start, end) ==
                     ELF_OK &&
                 *start >= code[i].start && *start <= within && *end > within &&
                 *end <= code[i].end;
        }
      if (range->end - range->start < *end - *start)
        *end = *start + (range->end - range->start);
      return range->end > range->start;
    }
  return false;
}

static ElfStatus
disassemble (Builder *self, uint64_t offset, uint32_t range)
{
  ElfImage *image = self->worker->image;
  ElfReferences references;
  DisasmInstruction instruction;
  Disassembler *disassembler;
  ElfStatus status;
  uint8_t *bytes;

  status = sysprof_elf_image_read_code (image, self->start, self->end, &bytes);
  if (status != ELF_OK)
    return status;
  status = sysprof_elf_image_link_code (image, self->start, bytes, self->end - self->start,
                                        &references);
  if (status != ELF_OK)
    {
      free (bytes);
      return status;
    }

  self->references = &references;
  disassembler = sysprof_disassembler_new (&(DisasmCode){
      .machine = sysprof_elf_image_machine (image),
      .is_64 = sysprof_elf_image_is_64 (image),
      .is_big_endian =
          sysprof_elf_image_is_swapped (image) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
      .address = self->start + self->query->shift,
      .bytes = bytes,
      .size = (size_t) (self->end - self->start),
  });
  if (disassembler == NULL)
    status = ELF_UNSUPPORTED;
  while (status == ELF_OK && self->into->n < ELF_MAX_INSTRUCTIONS &&
         sysprof_disassembler_next (disassembler, &instruction))
    if (!append_instruction (self, &instruction,
                             offset + (instruction.address - self->query->shift - self->start),
                             range))
      status = ELF_NO_MEMORY;

  sysprof_disassembler_free (disassembler);
  sysprof_elf_references_clear (&references);
  free (bytes);
  return status;
}

ElfStatus
sysprof_elf_worker_disassemble (ElfWorker *self,
                                const ElfQuery *query,
                                ElfAnswers *instructions)
{
  Builder builder = { .worker = self, .query = query, .into = instructions };
  ElfCode code[MOST_CODE];
  ElfStatus status = ELF_OK;
  size_t n_code;
  uint32_t empty;

  if (self->image == NULL)
    return ELF_ABSENT;
  if (!sysprof_elf_answers_add_text (instructions, "", &empty))
    return ELF_NO_MEMORY;

  /* A file that was opened for its lines has no symbols loaded yet. */
  if (self->stubs == NULL)
    (void) sysprof_elf_worker_load_symbols (self);
  if (self->debug_image != NULL && self->debug_symbols == NULL)
    (void) sysprof_elf_symbols_load (self->debug_image, &self->debug_symbols);

  n_code = sysprof_elf_image_code (self->image, code, MOST_CODE);
  for (size_t i = 0; i < query->n && status == ELF_OK; i++)
    {
      uint64_t start;

      if (!(query->are_addresses ? find_shifted_code : find_code) (
              self, query, &query->ranges[i], code, n_code, &start, &builder.end))
        continue;
      builder.start = start;
      if (builder.end - start > ELF_MAX_CODE)
        builder.end = start + ELF_MAX_CODE;
      for (size_t j = 0; j < n_code; j++)
        if (start >= code[j].start && start < code[j].end)
          {
            status =
                disassemble (&builder,
                             query->are_addresses ? start + query->shift
                                                  : code[j].offset + (start - code[j].start),
                             (uint32_t) i);
            break;
          }
    }
  return status;
}
