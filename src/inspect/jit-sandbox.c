// SPDX-License-Identifier: GPL-3.0-or-later

/* The service that reads jitdumps. The request has the file; its payload is the functions. */

#include "inspect/jit-sandbox.h"

#include "disasm/disasm.h"
#include "inspect/elf-sandbox.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_DUMP      (UINT64_C (4) << 30)  /* bytes; only parts of it are read */
#define MOST_DEBUG     (UINT64_C (16) << 20) /* bytes of line records per function */
#define LEAST_ENTRY    17                    /* bytes of one line record */
#define MOST_FUNCTIONS 0x10000

typedef struct
{
  uint64_t size; /* of the file, because the child may not call fstat() */
} JitRequest;

/* Parts of a reply. */
typedef enum
{
  PART_CODE,  /* ElfInstruction */
  PART_PLACE, /* JitPlace, as many */
  PART_TEXT,
} Part;

void
sysprof_jit_instructions_clear (JitInstructions *self)
{
  sysprof_elf_answers_clear (&self->code);
  free (self->place);
  self->place = NULL;
}

/* --- the child --- */

typedef struct
{
  int fd;
  JitDumpFacts facts;
  JitInstructions into;
  size_t capacity;
} Reader;

static bool
append_text (Reader *self, const char *text, uint32_t *offset)
{
  return sysprof_elf_answers_add_text (&self->into.code, text, offset);
}

static bool
make_room (Reader *self)
{
  JitInstructions *into = &self->into;
  size_t capacity = self->capacity * 2 + 256;
  ElfInstruction *rows;
  JitPlace *places;

  if (into->code.n < self->capacity)
    return true;
  rows = realloc (into->code.instruction, capacity * sizeof *rows);
  if (rows == NULL)
    return false;
  into->code.instruction = rows;
  places = realloc (into->place, capacity * sizeof *places);
  if (places == NULL)
    return false;
  into->place = places;
  self->capacity = capacity;
  return true;
}

/* Returns newly allocated memory, or NULL if not all bytes are available. */
static uint8_t *
read_bytes (int fd, uint64_t at, size_t size)
{
  uint8_t *bytes = malloc (size + 1);
  size_t done = 0;

  while (bytes != NULL && done < size)
    {
      ssize_t n = pread (fd, bytes + done, size - done, (off_t) (at + done));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          free (bytes);
          return NULL;
        }
      done += (size_t) n;
    }
  return bytes;
}

/* --- lines --- */

typedef struct
{
  uint8_t *bytes;
  JitLine *line; /* [n] sorted by address */
  size_t n;
} Lines;

static int
compare_lines (const void *a, const void *b)
{
  const JitLine *left = a, *right = b;

  return (left->address > right->address) - (left->address < right->address);
}

static void
lines_read (Lines *self, const Reader *reader, const JitCodeRange *range)
{
  uint64_t size = range->debug_end - range->debug;
  JitDebugReader entries;
  bool is_sorted = true;
  JitLine *line;
  size_t most;

  *self = (Lines){ 0 };
  if (range->debug == 0 || size > MOST_DEBUG)
    return;
  self->bytes = read_bytes (reader->fd, range->debug, (size_t) size);
  most = (size_t) (range->n_debug < size / LEAST_ENTRY ? range->n_debug : size / LEAST_ENTRY);
  self->line = self->bytes != NULL ? calloc (most + 1, sizeof *self->line) : NULL;
  if (self->line == NULL)
    return;

  sysprof_jit_debug_reader_init (&entries, range, &reader->facts, self->bytes, (size_t) size);
  while (self->n < most &&
         sysprof_jit_debug_reader_next (&entries, line = &self->line[self->n]))
    {
      /* Some writers place lines slightly after the end of the code. */
      if (line->address < range->start || line->address - range->start >= range->size)
        continue;
      is_sorted = is_sorted && (self->n == 0 || compare_lines (line - 1, line) <= 0);
      self->n++;
    }
  if (!is_sorted)
    qsort (self->line, self->n, sizeof *self->line, compare_lines);
}

static void
lines_clear (Lines *self)
{
  free (self->bytes);
  free (self->line);
}

/* `*next` is the index of the next line and advances with the instructions; `*last` is the
 * place of the previous instruction. */
static bool
set_place (Reader *self, const Lines *lines, uint64_t address, size_t *next, JitPlace *last)
{
  size_t begin = *next;

  while (*next < lines->n && lines->line[*next].address <= address)
    ++*next;
  if (*next > begin)
    {
      const JitLine *line = &lines->line[*next - 1];
      bool is_known =
          last->file != 0 && strcmp (self->into.code.text + last->file, line->file) == 0;

      last->line = line->line;
      if (line->file[0] == '\0')
        last->file = 0;
      else if (!is_known && !append_text (self, line->file, &last->file))
        return false;
    }
  self->into.place[self->into.code.n] = *last;
  return true;
}

/* --- code --- */

static bool
append (Reader *self, const DisasmInstruction *instruction, uint32_t range)
{
  ElfInstruction *row;

  row = &self->into.code.instruction[self->into.code.n];
  *row = (ElfInstruction){ .offset = instruction->address,
                           .address = instruction->address,
                           .range = range,
                           .size = instruction->size };
  memcpy (row->bytes, instruction->bytes, instruction->size);
  if (!append_text (self, instruction->text, &row->text))
    return false;
  self->into.code.n++;
  return true;
}

static bool
is_64 (uint16_t machine)
{
  return machine != EM_386 && machine != EM_ARM && machine != EM_PPC && machine != EM_MIPS;
}

static JitCodeStatus
disassemble (Reader *self, const JitCodeRange *range, uint32_t number)
{
  size_t size = (size_t) (range->size < ELF_MAX_CODE ? range->size : ELF_MAX_CODE);
  uint8_t *bytes = read_bytes (self->fd, range->code, size);
  JitCodeStatus status = JIT_CODE_OK;
  DisasmInstruction instruction;
  Disassembler *disassembler;
  JitPlace last = { 0 };
  size_t next = 0;
  Lines lines;

  if (bytes == NULL)
    return JIT_CODE_OK; /* the call shrank the block */
  disassembler = sysprof_disassembler_new (&(DisasmCode){
      .machine = self->facts.machine,
      .is_64 = is_64 (self->facts.machine),
      .is_big_endian = self->facts.is_swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
      .address = range->start,
      .bytes = bytes,
      .size = size,
  });
  lines_read (&lines, self, range);
  if (disassembler == NULL)
    status = JIT_CODE_UNKNOWN_MACHINE;
  while (status == JIT_CODE_OK && self->into.code.n < ELF_MAX_INSTRUCTIONS &&
         sysprof_disassembler_next (disassembler, &instruction))
    if (!make_room (self) || !set_place (self, &lines, instruction.address, &next, &last) ||
        !append (self, &instruction, number))
      status = JIT_CODE_FAILED;

  sysprof_disassembler_free (disassembler);
  lines_clear (&lines);
  free (bytes);
  return status;
}

static JitCodeStatus
read_code (Reader *self, uint64_t file_size, JitCodeRange *ranges, size_t n)
{
  uint64_t size = file_size < MOST_DUMP ? file_size : MOST_DUMP;
  JitCodeStatus status = JIT_CODE_OK;
  uint32_t empty;

  if (self->fd < 0 || !append_text (self, "", &empty))
    return JIT_CODE_FAILED;
  /* If a dump ends within a record, or contains an invalid record, the records before it are
   * used. */
  if (sysprof_jit_find_code (self->fd, size, ranges, n, &self->facts) == JIT_NOT_A_DUMP)
    return JIT_CODE_NOT_A_DUMP;
  for (uint32_t i = 0; i < n && status == JIT_CODE_OK; i++)
    if (ranges[i].code != 0 && ranges[i].size <= UINT64_MAX - ranges[i].start)
      status = disassemble (self, &ranges[i], i);
  return status;
}

static bool
handle (ChildRequest *call, ChildReply *reply)
{
  const JitRequest *request = call->bytes;
  const JitFunction *functions = call->payload;
  size_t n = call->payload_size / sizeof *functions;
  JitCodeRange *ranges = calloc (n + 1, sizeof *ranges);
  Reader reader = { .fd = call->fd };

  for (size_t i = 0; ranges != NULL && i < n; i++)
    ranges[i] = (JitCodeRange){ .start = functions[i].start,
                                .size = functions[i].size,
                                .time = functions[i].time };
  reply->status =
      ranges != NULL ? read_code (&reader, request->size, ranges, n) : JIT_CODE_FAILED;
  free (ranges);
  if (reply->status != JIT_CODE_OK)
    {
      sysprof_jit_instructions_clear (&reader.into);
      return true;
    }
  sysprof_child_reply_set (reply, PART_CODE, reader.into.code.rows,
                           reader.into.code.n * sizeof (ElfInstruction));
  sysprof_child_reply_set (reply, PART_PLACE, reader.into.place,
                           reader.into.code.n * sizeof *reader.into.place);
  sysprof_child_reply_set (reply, PART_TEXT, reader.into.code.text, reader.into.code.text_size);
  return true;
}

/* --- the parent --- */

static bool
is_sound (const JitInstructions *self, const JitFunction *functions, size_t n)
{
  ElfCodeRange *ranges = calloc (n + 1, sizeof *ranges);
  bool is_fine = ranges != NULL;

  for (size_t i = 0; i < n && is_fine; i++)
    ranges[i] = (ElfCodeRange){ functions[i].start, functions[i].start + functions[i].size };
  is_fine =
      is_fine && sysprof_elf_answers_are_sound (
                     &(ElfQuery){ .kind = ELF_CODE, .ranges = ranges, .n = n }, &self->code);
  for (size_t i = 0; i < self->code.n && is_fine; i++)
    is_fine = self->place[i].file < self->code.text_size;
  free (ranges);
  return is_fine;
}

/* Borrows the parts of the reply. */
static JitInstructions
view_reply (const ChildReply *reply)
{
  return (JitInstructions){
    .code = { .rows = reply->part[PART_CODE].bytes,
              .n = reply->part[PART_CODE].size / sizeof (ElfInstruction),
              .text = reply->part[PART_TEXT].bytes,
              .text_size = reply->part[PART_TEXT].size },
    .place = reply->part[PART_PLACE].bytes,
  };
}

static bool
is_valid_reply (const ChildRequest *request, const ChildReply *reply)
{
  JitInstructions found = view_reply (reply);

  return reply->status != JIT_CODE_OK ||
         (reply->part[PART_CODE].size == found.code.n * sizeof (ElfInstruction) &&
          reply->part[PART_PLACE].size == found.code.n * sizeof *found.place &&
          is_sound (&found, request->payload, request->payload_size / sizeof (JitFunction)));
}

static const ChildService service = {
  .name = "JIT code",
  .request_size = sizeof (JitRequest),
  .timeout_msec = 20000,
  .takes_envelopes = true,
  .last_status = JIT_CODE_FAILED,
  .most = { ELF_MAX_INSTRUCTIONS * sizeof (ElfInstruction),
            ELF_MAX_INSTRUCTIONS * sizeof (JitPlace), ELF_MAX_TEXT },
  .handle = handle,
  .is_valid_reply = is_valid_reply,
};

JitCodeStatus
sysprof_jit_sandbox_disassemble (ConfinedChild *child,
                                 int envelope,
                                 uint64_t size,
                                 const JitFunction *functions,
                                 uint32_t n,
                                 JitInstructions *instructions)
{
  const JitRequest request = { .size = size };
  const ChildRequest call = { .bytes = &request,
                              .payload = functions,
                              .payload_size = n * sizeof *functions,
                              .fd = envelope };
  ChildReply reply;
  JitCodeStatus status;

  *instructions = (JitInstructions){ 0 };
  if (n > MOST_FUNCTIONS || !sysprof_child_call (child, &service, &call, &reply))
    return JIT_CODE_FAILED;

  status = (JitCodeStatus) reply.status;
  if (status == JIT_CODE_OK)
    {
      *instructions = view_reply (&reply);
      for (Part part = PART_CODE; part <= PART_TEXT; part++)
        (void) sysprof_child_reply_take (&reply, part); /* it belongs to `instructions` now */
    }
  sysprof_child_reply_clear (&reply);
  return status;
}
