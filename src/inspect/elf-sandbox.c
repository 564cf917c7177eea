// SPDX-License-Identifier: GPL-3.0-or-later

/* The service that parses ELF files. A request may have a file; its payload is the offsets. */

#include "inspect/elf-sandbox.h"

#include "util/util.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef enum
{
  CALL_OPEN,
  CALL_OPEN_FOR_LINES,
  CALL_ADD_DEBUG,
  CALL_ADD_SUPPLEMENT,
  CALL_ADD_PACKAGE,
  CALL_ADD_SPLIT,
  CALL_RESOLVE,
  CALL_RESOLVE_LINES,
  CALL_DISASSEMBLE, /* the offsets are pairs: ElfCodeRange */
} ElfCall;

typedef struct
{
  uint32_t call;
  uint32_t are_addresses; /* instead of offsets */
  uint32_t split;         /* index of the requested file with split units */
  uint32_t padding;
  uint64_t shift; /* for code: added to the link-time addresses of the file */
} ElfRequest;

/* ElfStatus is the lower part of the status. */
#define IS_OVER_LIMIT 0x100 /* as in ElfLines */

/* Timeout for one answer, in ms: about fifty times the duration on an idle machine. */
#define PATIENCE        2000
#define PATIENCE_PER_MB 100
#define MOST_PATIENCE   20000
#define MB              (1 << 20)

#define MOST_OFFSETS (UINT32_C (16) << 20)
#define MOST_TEXT    (UINT64_C (512) << 20) /* bytes */

/* --- the child --- */

static ElfStatus
resolve_symbols (ElfWorker *worker, const uint64_t *offsets, size_t n, ChildReply *reply)
{
  ElfAnswers answers = { 0 };
  ElfStatus status = sysprof_elf_worker_resolve (worker, offsets, n, &answers);

  sysprof_child_reply_set (reply, ELF_REPLY_ROW, answers.row, answers.n * sizeof *answers.row);
  sysprof_child_reply_set (reply, ELF_REPLY_TEXT, answers.text, answers.text_size);
  return status;
}

static uint32_t
resolve_lines (ElfWorker *worker, const uint64_t *offsets, size_t n, ChildReply *reply)
{
  ElfLines lines = { 0 };
  ElfStatus status = sysprof_elf_worker_resolve_lines (worker, offsets, n, &lines);

  sysprof_child_reply_set (reply, ELF_REPLY_ROW, lines.row, lines.n * sizeof *lines.row);
  sysprof_child_reply_set (reply, ELF_REPLY_FRAME, lines.frame,
                           lines.n_frames * sizeof *lines.frame);
  sysprof_child_reply_set (reply, ELF_REPLY_SPLIT, lines.split,
                           lines.n_splits * sizeof *lines.split);
  sysprof_child_reply_set (reply, ELF_REPLY_TEXT, lines.text, lines.text_size);
  return status | (lines.is_over_limit ? IS_OVER_LIMIT : 0);
}

static ElfStatus
disassemble (ElfWorker *worker, const ElfCodeRange *ranges, size_t n, ChildReply *reply)
{
  ElfInstructions code = { 0 };
  ElfStatus status = sysprof_elf_worker_disassemble (worker, ranges, n, &code);

  sysprof_child_reply_set (reply, ELF_REPLY_ROW, code.row, code.n * sizeof *code.row);
  sysprof_child_reply_set (reply, ELF_REPLY_TEXT, code.text, code.text_size);
  return status;
}

/* The worker owns the file of a request. */
static bool
handle (ChildRequest *call, ChildReply *reply)
{
  static ElfWorker worker = ELF_WORKER_INIT;
  const ElfRequest *request = call->bytes;
  const uint64_t *offsets = call->payload;
  size_t n = call->payload_size / sizeof *offsets;
  int fd = sysprof_steal_fd (&call->fd);
  ElfFacts *facts = NULL;

  if (request->call <= CALL_ADD_DEBUG)
    {
      facts = calloc (1, sizeof *facts);
      if (facts == NULL)
        return false;
      sysprof_child_reply_set (reply, ELF_REPLY_FACTS, facts, sizeof *facts);
    }
  worker.takes_addresses = request->are_addresses != 0;
  worker.shift = request->shift;
  switch (request->call)
    {
    case CALL_OPEN:
    case CALL_OPEN_FOR_LINES:
      reply->status =
          sysprof_elf_worker_open (&worker, fd, request->call == CALL_OPEN_FOR_LINES, facts);
      break;
    case CALL_ADD_DEBUG:
      reply->status = sysprof_elf_worker_add_debug (&worker, fd, facts);
      break;
    case CALL_ADD_SUPPLEMENT:
      reply->status = sysprof_elf_worker_add_supplement (&worker, fd);
      break;
    case CALL_ADD_PACKAGE:
      reply->status = sysprof_elf_worker_add_package (&worker, fd);
      break;
    case CALL_ADD_SPLIT:
      reply->status = sysprof_elf_worker_add_split (&worker, fd, request->split);
      break;
    case CALL_RESOLVE:
      reply->status = resolve_symbols (&worker, offsets, n, reply);
      break;
    case CALL_RESOLVE_LINES:
      reply->status = resolve_lines (&worker, offsets, n, reply);
      break;
    default:
      reply->status = disassemble (&worker, call->payload, n / 2, reply);
      break;
    }
  return true;
}

/* --- the parent --- */

bool
sysprof_elf_facts_are_sound (const ElfFacts *facts)
{
  for (size_t i = 0; i < ELF_MAX_TEXT_SECTIONS; i++)
    if (memchr (facts->text_section[i].name, 0, ELF_MAX_SECTION_NAME) == NULL)
      return false;
  return facts->build_id_size <= ELF_MAX_BUILD_ID && facts->alt_id_size <= ELF_MAX_BUILD_ID &&
         facts->n_text_sections <= ELF_MAX_TEXT_SECTIONS &&
         memchr (facts->link, 0, sizeof facts->link) != NULL &&
         strchr (facts->link, '/') == NULL &&
         memchr (facts->alt_link, 0, sizeof facts->alt_link) != NULL;
}

bool
sysprof_elf_answers_are_sound (const ElfAnswers *answers)
{
  if (answers->text_size == 0 || answers->text[answers->text_size - 1] != 0)
    return false;

  for (size_t i = 0; i < answers->n; i++)
    {
      const ElfAnswer *answer = &answers->row[i];

      if (answer->name >= answers->text_size || answer->demangled >= answers->text_size ||
          answer->is_entry > 1)
        return false;
      if ((answer->name != 0 || answer->end != 0) &&
          (answer->link_address < answer->start || answer->link_address >= answer->end))
        return false;
    }
  return true;
}

bool
sysprof_elf_lines_are_sound (const ElfLines *lines)
{
  uint64_t n_frames = 0;

  if (lines->text_size == 0 || lines->text[lines->text_size - 1] != 0)
    return false;

  for (size_t i = 0; i < lines->n_frames; i++)
    {
      const ElfLineFrame *frame = &lines->frame[i];

      if (frame->name >= lines->text_size || frame->demangled >= lines->text_size ||
          frame->file >= lines->text_size || frame->decl_file >= lines->text_size ||
          frame->is_inlined != (frame->name != 0))
        return false;
    }
  for (size_t i = 0; i < lines->n_splits; i++)
    {
      const ElfSplit *split = &lines->split[i];

      if (split->name == 0 || split->name >= lines->text_size ||
          split->directory >= lines->text_size || split->is_other > 1)
        return false;
    }
  for (size_t i = 0; i < lines->n; i++)
    {
      const ElfLineRow *row = &lines->row[i];

      n_frames += row->n;
      if (row->first > lines->n_frames || row->n > lines->n_frames - row->first ||
          row->n > ELF_MAX_INLINES + 1 || n_frames > lines->n_frames)
        return false;
      for (uint32_t j = 0; j < row->n; j++)
        if (lines->frame[row->first + j].is_inlined != (j + 1 < row->n))
          return false;
    }
  return true;
}

bool
sysprof_elf_instructions_are_sound (const ElfInstructions *code,
                                    const ElfCodeRange *ranges,
                                    size_t n_ranges)
{
  if (code->text_size == 0 || code->text[code->text_size - 1] != 0)
    return false;

  for (size_t i = 0; i < code->n; i++)
    {
      const ElfInstruction *row = &code->row[i];
      const ElfInstruction *last = i > 0 && row[-1].range == row->range ? row - 1 : NULL;

      if (row->range >= n_ranges || row->size == 0 || row->size > ELF_MAX_INSTRUCTION ||
          row->text >= code->text_size || row->offset > UINT64_MAX - row->size ||
          (i > 0 && row[-1].range > row->range) ||
          (last != NULL && last->offset + last->size > row->offset) ||
          (ranges[row->range].end != 0 &&
           (row->offset < ranges[row->range].start || row->offset >= ranges[row->range].end)))
        return false;
    }
  return true;
}

/* Borrow the parts of a reply. */
static ElfAnswers
view_answers (const ChildReply *reply)
{
  return (ElfAnswers){ .row = reply->part[ELF_REPLY_ROW].bytes,
                       .n = reply->part[ELF_REPLY_ROW].size / sizeof (ElfAnswer),
                       .text = reply->part[ELF_REPLY_TEXT].bytes,
                       .text_size = reply->part[ELF_REPLY_TEXT].size };
}

static ElfLines
view_lines (const ChildReply *reply)
{
  return (ElfLines){ .row = reply->part[ELF_REPLY_ROW].bytes,
                     .n = reply->part[ELF_REPLY_ROW].size / sizeof (ElfLineRow),
                     .frame = reply->part[ELF_REPLY_FRAME].bytes,
                     .n_frames = reply->part[ELF_REPLY_FRAME].size / sizeof (ElfLineFrame),
                     .split = reply->part[ELF_REPLY_SPLIT].bytes,
                     .n_splits = reply->part[ELF_REPLY_SPLIT].size / sizeof (ElfSplit),
                     .is_over_limit = (reply->status & IS_OVER_LIMIT) != 0,
                     .text = reply->part[ELF_REPLY_TEXT].bytes,
                     .text_size = reply->part[ELF_REPLY_TEXT].size };
}

static ElfInstructions
view_code (const ChildReply *reply)
{
  return (ElfInstructions){ .row = reply->part[ELF_REPLY_ROW].bytes,
                            .n = reply->part[ELF_REPLY_ROW].size / sizeof (ElfInstruction),
                            .text = reply->part[ELF_REPLY_TEXT].bytes,
                            .text_size = reply->part[ELF_REPLY_TEXT].size };
}

/* Whether the parts have the sizes of these arrays. */
static bool
fits (const ChildReply *reply, size_t row, size_t frame, size_t split)
{
  return reply->part[ELF_REPLY_ROW].size == row && reply->part[ELF_REPLY_FRAME].size == frame &&
         reply->part[ELF_REPLY_SPLIT].size == split;
}

static bool
is_valid_reply (const ChildRequest *call, const ChildReply *reply)
{
  const ElfRequest *request = call->bytes;
  size_t n = call->payload_size / sizeof (uint64_t);
  ElfStatus status = (ElfStatus) (reply->status & ~(uint32_t) IS_OVER_LIMIT);
  ElfAnswers answers = view_answers (reply);
  ElfLines lines = view_lines (reply);
  ElfInstructions code = view_code (reply);

  if (status > ELF_IO_ERROR)
    return false;
  if (request->call <= CALL_ADD_DEBUG)
    return reply->part[ELF_REPLY_FACTS].size == sizeof (ElfFacts) && fits (reply, 0, 0, 0) &&
           sysprof_elf_facts_are_sound (reply->part[ELF_REPLY_FACTS].bytes);
  if (request->call < CALL_RESOLVE || status != ELF_OK)
    return fits (reply, 0, 0, 0);
  if (request->call == CALL_RESOLVE)
    return answers.n == n && fits (reply, n * sizeof *answers.row, 0, 0) &&
           sysprof_elf_answers_are_sound (&answers);
  if (request->call == CALL_RESOLVE_LINES)
    return lines.n == n &&
           fits (reply, n * sizeof *lines.row, lines.n_frames * sizeof *lines.frame,
                 lines.n_splits * sizeof *lines.split) &&
           sysprof_elf_lines_are_sound (&lines);
  return fits (reply, code.n * sizeof *code.row, 0, 0) &&
         sysprof_elf_instructions_are_sound (&code, call->payload, n / 2);
}

const ChildService sysprof_elf_service = {
  .name = "ELF files",
  .request_size = sizeof (ElfRequest),
  .timeout_msec = MOST_PATIENCE,
  .takes_envelopes = true,
  .last_status = IS_OVER_LIMIT | 0xff,
  .most = { [ELF_REPLY_FACTS] = sizeof (ElfFacts),
            [ELF_REPLY_ROW] = MOST_OFFSETS * sizeof (ElfAnswer),
            [ELF_REPLY_FRAME] = ELF_MAX_LINE_FRAMES * sizeof (ElfLineFrame),
            [ELF_REPLY_SPLIT] = ELF_MAX_SPLITS * sizeof (ElfSplit),
            [ELF_REPLY_TEXT] = MOST_TEXT },
  .handle = handle,
  .is_valid_reply = is_valid_reply,
};

static_assert (MOST_OFFSETS * sizeof (ElfAnswer) >=
                   ELF_MAX_INSTRUCTIONS * sizeof (ElfInstruction),
               "all rows are within the limit");

/* Makes one call, limited by the budget of untrusted files, and charged to it. Returns
 * ELF_SKIPPED without a call if the budget is used up; ELF_GIVEN_UP if there is no reply, and
 * the child was ended. The caller clears the reply. */
static ElfStatus
call (ElfSandbox *self,
      const ElfRequest *request,
      int64_t patience,
      int envelope,
      const uint64_t *offsets,
      size_t n,
      ChildReply *reply)
{
  FileBudget *budget = self->budget;
  int64_t left_msec = budget != NULL ? sysprof_file_budget_left_msec (budget) : patience;
  int64_t begin_usec = g_get_monotonic_time ();
  ChildRequest to_child = { .bytes = request,
                            .payload = offsets,
                            .payload_size = n * sizeof *offsets,
                            .fd = envelope,
                            .deadline_msec =
                                sysprof_confined_child_deadline (MIN (patience, left_msec)) };
  bool is_answered;

  *reply = (ChildReply) CHILD_REPLY_INIT;
  if (left_msec == 0)
    return ELF_SKIPPED;
  is_answered = sysprof_child_call (self, &sysprof_elf_service, &to_child, reply);
  if (budget != NULL)
    sysprof_file_budget_charge (budget, g_get_monotonic_time () - begin_usec);
  return is_answered ? (ElfStatus) (reply->status & ~(uint32_t) IS_OVER_LIMIT) : ELF_GIVEN_UP;
}

static int64_t
patience_for (const struct stat *info)
{
  return MIN (PATIENCE + info->st_size / MB * PATIENCE_PER_MB, MOST_PATIENCE);
}

/* Passes a file to the child. `facts` may be NULL. */
static ElfStatus
pass (ElfSandbox *self,
      const ElfRequest *request,
      int envelope,
      const struct stat *info,
      ElfFacts *facts)
{
  ChildReply reply;
  ElfStatus status = call (self, request, patience_for (info), envelope, NULL, 0, &reply);

  if (facts != NULL && reply.part[ELF_REPLY_FACTS].bytes != NULL)
    memcpy (facts, reply.part[ELF_REPLY_FACTS].bytes, sizeof *facts);
  sysprof_child_reply_clear (&reply);
  return status;
}

ElfStatus
sysprof_elf_sandbox_open (ElfSandbox *self,
                          int envelope,
                          const struct stat *info,
                          bool is_for_lines,
                          ElfFacts *facts)
{
  return pass (self, &(ElfRequest){ .call = is_for_lines ? CALL_OPEN_FOR_LINES : CALL_OPEN },
               envelope, info, facts);
}

ElfStatus
sysprof_elf_sandbox_add_debug (ElfSandbox *self,
                               int envelope,
                               const struct stat *info,
                               ElfFacts *facts)
{
  ElfFacts told;
  ElfStatus status;

  if (self->pid == 0)
    return ELF_ABSENT;

  status = pass (self, &(ElfRequest){ .call = CALL_ADD_DEBUG }, envelope, info, &told);
  if (status != ELF_OK)
    return status;

  facts->alt_id_size = told.alt_id_size;
  memcpy (facts->alt_id, told.alt_id, sizeof facts->alt_id);
  memcpy (facts->alt_link, told.alt_link, sizeof facts->alt_link);
  return ELF_OK;
}

ElfStatus
sysprof_elf_sandbox_add_supplement (ElfSandbox *self, int envelope, const struct stat *info)
{
  if (self->pid == 0)
    return ELF_ABSENT;

  return pass (self, &(ElfRequest){ .call = CALL_ADD_SUPPLEMENT }, envelope, info, NULL);
}

ElfStatus
sysprof_elf_sandbox_add_package (ElfSandbox *self, int envelope, const struct stat *info)
{
  if (self->pid == 0)
    return ELF_ABSENT;

  return pass (self, &(ElfRequest){ .call = CALL_ADD_PACKAGE }, envelope, info, NULL);
}

ElfStatus
sysprof_elf_sandbox_add_split (ElfSandbox *self,
                               int envelope,
                               const struct stat *info,
                               uint32_t i)
{
  if (self->pid == 0)
    return ELF_ABSENT;

  return pass (self, &(ElfRequest){ .call = CALL_ADD_SPLIT, .split = i }, envelope, info, NULL);
}

/* Requests answers. The caller takes the parts of the reply, and clears it. */
static ElfStatus
request_answers (ElfSandbox *self,
                 const ElfRequest *request,
                 const uint64_t *offsets,
                 size_t n,
                 ChildReply *reply)
{
  *reply = (ChildReply) CHILD_REPLY_INIT;
  if (self->pid == 0)
    return ELF_GIVEN_UP;
  if (n > MOST_OFFSETS)
    return ELF_TOO_LARGE;

  return call (self, request, MOST_PATIENCE, -1, offsets, n, reply);
}

/* The parts belong to the answers now. */
static void
forget_parts (ChildReply *reply)
{
  for (ElfReplyPart part = ELF_REPLY_ROW; part <= ELF_REPLY_TEXT; part++)
    (void) sysprof_child_reply_take (reply, part);
}

ElfStatus
sysprof_elf_sandbox_resolve (ElfSandbox *self,
                             bool are_addresses,
                             const uint64_t *offsets,
                             size_t n,
                             ElfAnswers *answers)
{
  const ElfRequest request = { .call = CALL_RESOLVE, .are_addresses = are_addresses };
  ChildReply reply;
  ElfStatus status = request_answers (self, &request, offsets, n, &reply);

  if (status == ELF_OK)
    {
      *answers = view_answers (&reply);
      forget_parts (&reply);
    }
  sysprof_child_reply_clear (&reply);
  return status;
}

ElfStatus
sysprof_elf_sandbox_resolve_lines (ElfSandbox *self,
                                   bool are_addresses,
                                   const uint64_t *offsets,
                                   size_t n,
                                   ElfLines *lines)
{
  const ElfRequest request = { .call = CALL_RESOLVE_LINES, .are_addresses = are_addresses };
  ChildReply reply;
  ElfStatus status = request_answers (self, &request, offsets, n, &reply);

  if (status == ELF_OK)
    {
      *lines = view_lines (&reply);
      forget_parts (&reply);
    }
  sysprof_child_reply_clear (&reply);
  return status;
}

static ElfStatus
request_code (ElfSandbox *self,
              const ElfRequest *request,
              const ElfCodeRange *ranges,
              size_t n,
              ElfInstructions *instructions)
{
  ChildReply reply;
  ElfStatus status =
      request_answers (self, request, (const uint64_t *) (const void *) ranges, n * 2, &reply);

  if (status == ELF_OK)
    {
      *instructions = view_code (&reply);
      forget_parts (&reply);
    }
  sysprof_child_reply_clear (&reply);
  return status;
}

ElfStatus
sysprof_elf_sandbox_disassemble (ElfSandbox *self,
                                 const ElfCodeRange *ranges,
                                 size_t n,
                                 ElfInstructions *instructions)
{
  return request_code (self, &(ElfRequest){ .call = CALL_DISASSEMBLE }, ranges, n,
                       instructions);
}

ElfStatus
sysprof_elf_sandbox_disassemble_shifted (ElfSandbox *self,
                                         uint64_t shift,
                                         const ElfCodeRange *ranges,
                                         size_t n,
                                         ElfInstructions *instructions)
{
  return request_code (
      self, &(ElfRequest){ .call = CALL_DISASSEMBLE, .are_addresses = true, .shift = shift },
      ranges, n, instructions);
}
