// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements both ends of the socket between the parent and the child that parses ELF files
 * (elf-messages.h). */

#include "inspect/elf-sandbox.h"

#include "inspect/elf-messages.h"
#include "util/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Timeout for one answer, in ms: about fifty times the duration on an idle machine. */
#define PATIENCE        2000
#define PATIENCE_PER_MB 100
#define MOST_PATIENCE   20000
#define MB              (1 << 20)

#define MOST_OFFSETS (UINT32_C (16) << 20)
#define MOST_TEXT    (UINT64_C (512) << 20) /* bytes */

/* --- the child --- */

/* Returns newly allocated memory, or NULL if the parent has exited. */
static uint64_t *
read_offsets (int socket, const ElfRequest *request)
{
  size_t n = request->n_offsets;
  uint64_t *offsets = malloc ((n + 1) * sizeof *offsets);

  if (offsets != NULL && !sysprof_confined_child_read (socket, offsets, n * sizeof *offsets))
    {
      free (offsets);
      offsets = NULL;
    }
  return offsets;
}

static bool
answer_with_names (ElfWorker *worker, int socket, const uint64_t *offsets, size_t n)
{
  ElfAnswers answers = { 0 };
  ElfReply reply = { .status = sysprof_elf_worker_resolve (worker, offsets, n, &answers) };
  bool is_sent;

  reply.n_answers = (uint32_t) answers.n;
  reply.text_size = answers.text_size;
  is_sent = sysprof_write_all (socket, &reply, sizeof reply) &&
            sysprof_write_all (socket, answers.row, answers.n * sizeof *answers.row) &&
            sysprof_write_all (socket, answers.text, answers.text_size);
  sysprof_elf_answers_clear (&answers);
  return is_sent;
}

static bool
answer_with_lines (ElfWorker *worker, int socket, const uint64_t *offsets, size_t n)
{
  ElfLines lines = { 0 };
  ElfReply reply = { .status = sysprof_elf_worker_resolve_lines (worker, offsets, n, &lines) };
  bool is_sent;

  reply.n_answers = (uint32_t) lines.n;
  reply.n_frames = (uint32_t) lines.n_frames;
  reply.n_splits = (uint32_t) lines.n_splits;
  reply.is_over_limit = lines.is_over_limit;
  reply.text_size = lines.text_size;
  is_sent = sysprof_write_all (socket, &reply, sizeof reply) &&
            sysprof_write_all (socket, lines.row, lines.n * sizeof *lines.row) &&
            sysprof_write_all (socket, lines.frame, lines.n_frames * sizeof *lines.frame) &&
            sysprof_write_all (socket, lines.split, lines.n_splits * sizeof *lines.split) &&
            sysprof_write_all (socket, lines.text, lines.text_size);
  sysprof_elf_lines_clear (&lines);
  return is_sent;
}

static bool
answer_with_code (ElfWorker *worker, int socket, const uint64_t *offsets, size_t n)
{
  ElfInstructions code = { 0 };
  ElfReply reply = { .status = sysprof_elf_worker_disassemble (
                         worker, (const ElfCodeRange *) (const void *) offsets, n / 2, &code) };
  bool is_sent;

  reply.n_answers = (uint32_t) code.n;
  reply.text_size = code.text_size;
  is_sent = sysprof_write_all (socket, &reply, sizeof reply) &&
            sysprof_write_all (socket, code.row, code.n * sizeof *code.row) &&
            sysprof_write_all (socket, code.text, code.text_size);
  sysprof_elf_instructions_clear (&code);
  return is_sent;
}

static bool
answer_request (ElfWorker *worker, int socket, const ElfRequest *request, int envelope)
{
  int fd = envelope >= 0 ? sysprof_envelope_open (envelope) : -1;
  ElfReply reply = { 0 };
  uint64_t *offsets;
  bool is_sent;

  if (envelope >= 0)
    (void) close (envelope);
  switch (request->call)
    {
    case CALL_OPEN:
    case CALL_OPEN_FOR_LINES:
      reply.status = sysprof_elf_worker_open (worker, fd, request->call == CALL_OPEN_FOR_LINES,
                                              &reply.facts);
      break;
    case CALL_ADD_DEBUG:
      reply.status = sysprof_elf_worker_add_debug (worker, fd, &reply.facts);
      break;
    case CALL_ADD_SUPPLEMENT:
      reply.status = sysprof_elf_worker_add_supplement (worker, fd);
      break;
    case CALL_ADD_PACKAGE:
      reply.status = sysprof_elf_worker_add_package (worker, fd);
      break;
    case CALL_ADD_SPLIT:
      reply.status = sysprof_elf_worker_add_split (worker, fd, request->split);
      break;
    default:
      offsets = read_offsets (socket, request);
      if (offsets == NULL)
        return false;
      worker->takes_addresses = request->are_addresses != 0;
      worker->shift = request->shift;
      is_sent = (request->call == CALL_DISASSEMBLE ? answer_with_code
                 : request->call == CALL_RESOLVE_LINES
                     ? answer_with_lines
                     : answer_with_names) (worker, socket, offsets, request->n_offsets);
      free (offsets);
      return is_sent;
    }

  return sysprof_write_all (socket, &reply, sizeof reply);
}

static void
serve (int socket)
{
  ElfWorker worker = ELF_WORKER_INIT;
  ElfRequest request;
  int fd;

  while (sysprof_confined_child_read_request (socket, &request, sizeof request, &fd) &&
         answer_request (&worker, socket, &request, fd))
    continue;
}

/* --- the parent --- */

void
sysprof_elf_sandbox_clear (ElfSandbox *self)
{
  const ElfSandbox settings = *self;

  sysprof_confined_child_end (self);
  self->is_urgent = settings.is_urgent;
  self->keeps_rights = settings.keeps_rights;
  self->has_stop_fd = settings.has_stop_fd;
  self->stop_fd = settings.stop_fd;
  self->budget = settings.budget;
}

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

static bool
receive_answers (const ElfSandbox *self,
                 int64_t deadline,
                 const ElfReply *reply,
                 ElfAnswers *answers)
{
  *answers = (ElfAnswers){
    .row = calloc ((size_t) reply->n_answers + 1, sizeof (ElfAnswer)),
    .n = reply->n_answers,
    .text = malloc (reply->text_size + 1),
    .text_size = reply->text_size,
  };
  if (answers->row != NULL && answers->text != NULL &&
      sysprof_confined_child_receive (self, deadline, answers->row,
                                      answers->n * sizeof *answers->row) &&
      sysprof_confined_child_receive (self, deadline, answers->text, answers->text_size) &&
      sysprof_elf_answers_are_sound (answers))
    return true;

  sysprof_elf_answers_clear (answers);
  return false;
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

static bool
receive_lines (const ElfSandbox *self, int64_t deadline, const ElfReply *reply, ElfLines *lines)
{
  *lines = (ElfLines){
    .row = calloc ((size_t) reply->n_answers + 1, sizeof (ElfLineRow)),
    .n = reply->n_answers,
    .frame = calloc ((size_t) reply->n_frames + 1, sizeof (ElfLineFrame)),
    .n_frames = reply->n_frames,
    .split = calloc ((size_t) reply->n_splits + 1, sizeof (ElfSplit)),
    .n_splits = reply->n_splits,
    .is_over_limit = reply->is_over_limit != 0,
    .text = malloc (reply->text_size + 1),
    .text_size = reply->text_size,
  };
  if (lines->row != NULL && lines->frame != NULL && lines->split != NULL &&
      lines->text != NULL &&
      sysprof_confined_child_receive (self, deadline, lines->row,
                                      lines->n * sizeof *lines->row) &&
      sysprof_confined_child_receive (self, deadline, lines->frame,
                                      lines->n_frames * sizeof *lines->frame) &&
      sysprof_confined_child_receive (self, deadline, lines->split,
                                      lines->n_splits * sizeof *lines->split) &&
      sysprof_confined_child_receive (self, deadline, lines->text, lines->text_size) &&
      sysprof_elf_lines_are_sound (lines))
    return true;

  sysprof_elf_lines_clear (lines);
  return false;
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

static bool
receive_code (const ElfSandbox *self,
              int64_t deadline,
              const ElfReply *reply,
              const ElfCodeRange *ranges,
              size_t n_ranges,
              ElfInstructions *code)
{
  *code = (ElfInstructions){
    .row = calloc ((size_t) reply->n_answers + 1, sizeof (ElfInstruction)),
    .n = reply->n_answers,
    .text = malloc (reply->text_size + 1),
    .text_size = reply->text_size,
  };
  if (code->row != NULL && code->text != NULL &&
      sysprof_confined_child_receive (self, deadline, code->row, code->n * sizeof *code->row) &&
      sysprof_confined_child_receive (self, deadline, code->text, code->text_size) &&
      sysprof_elf_instructions_are_sound (code, ranges, n_ranges))
    return true;

  sysprof_elf_instructions_clear (code);
  return false;
}

static bool
has_answers (const ElfRequest *request, const ElfReply *reply)
{
  return request->n_offsets > 0 && reply->status == ELF_OK;
}

static bool
has_as_many (const ElfRequest *request, const ElfReply *reply)
{
  if (request->call == CALL_DISASSEMBLE && has_answers (request, reply))
    return reply->n_answers <= ELF_MAX_INSTRUCTIONS;
  return reply->n_answers == (has_answers (request, reply) ? request->n_offsets : 0);
}

/* Whether the reply is a valid one for the request. */
static bool
fits (const ElfRequest *request, const ElfReply *reply)
{
  return reply->status <= ELF_IO_ERROR && reply->text_size <= MOST_TEXT &&
         has_as_many (request, reply) &&
         ((reply->n_frames == 0 && reply->n_splits == 0) ||
          (request->call == CALL_RESOLVE_LINES && has_answers (request, reply) &&
           reply->n_frames <= ELF_MAX_LINE_FRAMES && reply->n_splits <= ELF_MAX_SPLITS));
}

/* Makes one call, whose answers are of one of three kinds. If the child violates the protocol,
 * ends it and returns ELF_GIVEN_UP. */
static ElfStatus
call_within (ElfSandbox *self,
             const ElfRequest *request,
             int64_t patience,
             int envelope,
             const uint64_t *offsets,
             ElfFacts *facts,
             ElfAnswers *answers,
             ElfLines *lines,
             ElfInstructions *code)
{
  int64_t deadline = sysprof_confined_child_deadline (patience);
  ElfReply reply;

  if (!sysprof_confined_child_send_request (self, request, sizeof *request, envelope) ||
      !sysprof_confined_child_send (self, deadline, offsets,
                                    request->n_offsets * sizeof *offsets) ||
      !sysprof_confined_child_receive (self, deadline, &reply, sizeof reply) ||
      !fits (request, &reply))
    goto gone;
  if (answers != NULL && reply.status == ELF_OK &&
      !receive_answers (self, deadline, &reply, answers))
    goto gone;
  if (lines != NULL && reply.status == ELF_OK && !receive_lines (self, deadline, &reply, lines))
    goto gone;
  if (code != NULL && reply.status == ELF_OK &&
      !receive_code (self, deadline, &reply, (const ElfCodeRange *) (const void *) offsets,
                     request->n_offsets / 2, code))
    goto gone;

  if (facts != NULL)
    {
      *facts = reply.facts;
      if (!sysprof_elf_facts_are_sound (facts))
        goto gone;
    }
  return (ElfStatus) reply.status;

gone:
  sysprof_elf_sandbox_clear (self);
  return ELF_GIVEN_UP;
}

/* Likewise, limited by the budget of untrusted files, and charged to it. Returns ELF_SKIPPED
 * without a call if the budget is used up. */
static ElfStatus
call (ElfSandbox *self,
      const ElfRequest *request,
      int64_t patience,
      int envelope,
      const uint64_t *offsets,
      ElfFacts *facts,
      ElfAnswers *answers,
      ElfLines *lines,
      ElfInstructions *code)
{
  FileBudget *budget = self->budget;
  int64_t left_msec = budget != NULL ? sysprof_file_budget_left_msec (budget) : patience;
  int64_t begin_usec = g_get_monotonic_time ();
  ElfStatus status;

  if (left_msec == 0)
    return ELF_SKIPPED;
  status = call_within (self, request, MIN (patience, left_msec), envelope, offsets, facts,
                        answers, lines, code);
  if (budget != NULL)
    sysprof_file_budget_charge (budget, g_get_monotonic_time () - begin_usec);
  return status;
}

static int64_t
patience_for (const struct stat *info)
{
  return MIN (PATIENCE + info->st_size / MB * PATIENCE_PER_MB, MOST_PATIENCE);
}

ElfStatus
sysprof_elf_sandbox_open (ElfSandbox *self,
                          int envelope,
                          const struct stat *info,
                          bool is_for_lines,
                          ElfFacts *facts)
{
  ElfCall open = is_for_lines ? CALL_OPEN_FOR_LINES : CALL_OPEN;

  if (self->pid == 0 && !sysprof_confined_child_start (self, serve))
    return ELF_IO_ERROR;

  return call (self, &(ElfRequest){ .call = open }, patience_for (info), envelope, NULL, facts,
               NULL, NULL, NULL);
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

  status = call (self, &(ElfRequest){ .call = CALL_ADD_DEBUG }, patience_for (info), envelope,
                 NULL, &told, NULL, NULL, NULL);
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

  return call (self, &(ElfRequest){ .call = CALL_ADD_SUPPLEMENT }, patience_for (info),
               envelope, NULL, NULL, NULL, NULL, NULL);
}

ElfStatus
sysprof_elf_sandbox_add_package (ElfSandbox *self, int envelope, const struct stat *info)
{
  if (self->pid == 0)
    return ELF_ABSENT;

  return call (self, &(ElfRequest){ .call = CALL_ADD_PACKAGE }, patience_for (info), envelope,
               NULL, NULL, NULL, NULL, NULL);
}

ElfStatus
sysprof_elf_sandbox_add_split (ElfSandbox *self,
                               int envelope,
                               const struct stat *info,
                               uint32_t i)
{
  if (self->pid == 0)
    return ELF_ABSENT;

  return call (self, &(ElfRequest){ .call = CALL_ADD_SPLIT, .split = i }, patience_for (info),
               envelope, NULL, NULL, NULL, NULL, NULL);
}

ElfStatus
sysprof_elf_sandbox_resolve (ElfSandbox *self,
                             bool are_addresses,
                             const uint64_t *offsets,
                             size_t n,
                             ElfAnswers *answers)
{
  if (self->pid == 0)
    return ELF_GIVEN_UP;
  if (n > MOST_OFFSETS)
    return ELF_TOO_LARGE;

  return call (self,
               &(ElfRequest){ .call = CALL_RESOLVE,
                              .n_offsets = (uint32_t) n,
                              .are_addresses = are_addresses },
               MOST_PATIENCE, -1, offsets, NULL, answers, NULL, NULL);
}

ElfStatus
sysprof_elf_sandbox_resolve_lines (ElfSandbox *self,
                                   bool are_addresses,
                                   const uint64_t *offsets,
                                   size_t n,
                                   ElfLines *lines)
{
  if (self->pid == 0)
    return ELF_GIVEN_UP;
  if (n > MOST_OFFSETS)
    return ELF_TOO_LARGE;

  return call (self,
               &(ElfRequest){ .call = CALL_RESOLVE_LINES,
                              .n_offsets = (uint32_t) n,
                              .are_addresses = are_addresses },
               MOST_PATIENCE, -1, offsets, NULL, NULL, lines, NULL);
}

ElfStatus
sysprof_elf_sandbox_disassemble (ElfSandbox *self,
                                 const ElfCodeRange *ranges,
                                 size_t n,
                                 ElfInstructions *instructions)
{
  if (self->pid == 0)
    return ELF_GIVEN_UP;
  if (n > MOST_OFFSETS / 2)
    return ELF_TOO_LARGE;

  return call (self, &(ElfRequest){ .call = CALL_DISASSEMBLE, .n_offsets = (uint32_t) n * 2 },
               MOST_PATIENCE, -1, (const uint64_t *) (const void *) ranges, NULL, NULL, NULL,
               instructions);
}

ElfStatus
sysprof_elf_sandbox_disassemble_shifted (ElfSandbox *self,
                                         uint64_t shift,
                                         const ElfCodeRange *ranges,
                                         size_t n,
                                         ElfInstructions *instructions)
{
  if (self->pid == 0)
    return ELF_GIVEN_UP;
  if (n > MOST_OFFSETS / 2)
    return ELF_TOO_LARGE;

  return call (self,
               &(ElfRequest){ .call = CALL_DISASSEMBLE,
                              .n_offsets = (uint32_t) n * 2,
                              .are_addresses = true,
                              .shift = shift },
               MOST_PATIENCE, -1, (const uint64_t *) (const void *) ranges, NULL, NULL, NULL,
               instructions);
}
