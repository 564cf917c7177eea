// SPDX-License-Identifier: GPL-3.0-or-later

/* The service that parses ELF files. A request may have a file; its payload is the offsets. */

#include "inspect/elf-sandbox.h"

#include "util/util.h"

#include <stdlib.h>
#include <string.h>

typedef enum
{
  CALL_OPEN,
  CALL_OPEN_FOR_LINES,
  CALL_ADD_PART,
  CALL_RESOLVE,
} ElfCall;

typedef struct
{
  ElfCall call;
  ElfPart part;
  ElfQuery query; /* its offsets are the payload */
} ElfRequest;

/* ElfStatus is the lower part of the status. */
#define IS_OVER_LIMIT 0x100 /* as in ElfAnswers */

/* Timeout for one answer, in ms: about fifty times the duration on an idle machine. */
#define PATIENCE        2000
#define PATIENCE_PER_MB 100
#define MOST_PATIENCE   20000
#define MB              (1 << 20)

#define MOST_OFFSETS (UINT32_C (16) << 20)
#define MOST_TEXT    (UINT64_C (512) << 20) /* bytes */

/* --- the child --- */

static ElfStatus
resolve (ElfWorker *worker, const ElfQuery *query, ChildReply *reply)
{
  ElfAnswers answers;
  ElfStatus status = sysprof_elf_worker_resolve (worker, query, &answers);

  sysprof_child_reply_set (reply, ELF_REPLY_ROW, answers.rows,
                           answers.n * sysprof_elf_row_size (query->kind));
  sysprof_child_reply_set (reply, ELF_REPLY_FRAME, answers.frame,
                           answers.n_frames * sizeof *answers.frame);
  sysprof_child_reply_set (reply, ELF_REPLY_SPLIT, answers.split,
                           answers.n_splits * sizeof *answers.split);
  sysprof_child_reply_set (reply, ELF_REPLY_TEXT, answers.text, answers.text_size);
  return answers.is_over_limit ? status | IS_OVER_LIMIT : status;
}

/* The query of a request: in the child, too. */
static ElfQuery
get_query (const ChildRequest *call)
{
  ElfQuery query = ((const ElfRequest *) call->bytes)->query;

  query.offsets = call->payload;
  return query;
}

static bool
handle (ChildRequest *call, ChildReply *reply)
{
  static ElfWorker worker = ELF_WORKER_INIT;
  const ElfRequest *request = call->bytes;
  ElfQuery query = get_query (call);
  int fd = sysprof_steal_fd (&call->fd); /* the worker owns it */
  ElfFacts *facts;

  if (request->call == CALL_RESOLVE)
    {
      reply->status = resolve (&worker, &query, reply);
      return true;
    }
  facts = calloc (1, sizeof *facts);
  if (facts == NULL)
    return false;
  reply->status =
      request->call == CALL_ADD_PART
          ? sysprof_elf_worker_add_part (&worker, &request->part, fd, facts)
          : sysprof_elf_worker_open (&worker, fd, request->call == CALL_OPEN_FOR_LINES, facts);
  sysprof_child_reply_set (reply, ELF_REPLY_FACTS, facts, sizeof *facts);
  return true;
}

/* --- the parent --- */

static ElfStatus
get_status (const ChildReply *reply)
{
  return (ElfStatus) (reply->status & ~(uint32_t) IS_OVER_LIMIT);
}

/* Borrows the parts of a reply. */
static ElfAnswers
view_reply (ElfKind kind, const ChildReply *reply)
{
  return (ElfAnswers){ .rows = reply->part[ELF_REPLY_ROW].bytes,
                       .n = reply->part[ELF_REPLY_ROW].size / sysprof_elf_row_size (kind),
                       .frame = reply->part[ELF_REPLY_FRAME].bytes,
                       .n_frames = reply->part[ELF_REPLY_FRAME].size / sizeof (ElfLineFrame),
                       .split = reply->part[ELF_REPLY_SPLIT].bytes,
                       .n_splits = reply->part[ELF_REPLY_SPLIT].size / sizeof (ElfSplit),
                       .text = reply->part[ELF_REPLY_TEXT].bytes,
                       .text_size = reply->part[ELF_REPLY_TEXT].size,
                       .is_over_limit = (reply->status & IS_OVER_LIMIT) != 0 };
}

static bool
is_valid_reply (const ChildRequest *call, const ChildReply *reply)
{
  const ElfRequest *request = call->bytes;
  ElfQuery query = get_query (call);
  ElfAnswers answers = view_reply (query.kind, reply);

  if (get_status (reply) > ELF_IO_ERROR)
    return false;
  if (request->call != CALL_RESOLVE)
    return reply->part[ELF_REPLY_FACTS].size == sizeof (ElfFacts) &&
           sysprof_elf_facts_are_sound (reply->part[ELF_REPLY_FACTS].bytes);
  return get_status (reply) != ELF_OK ||
         ((query.kind != ELF_CODE || answers.n <= ELF_MAX_INSTRUCTIONS) &&
          reply->part[ELF_REPLY_ROW].size == answers.n * sysprof_elf_row_size (query.kind) &&
          reply->part[ELF_REPLY_FRAME].size == answers.n_frames * sizeof *answers.frame &&
          reply->part[ELF_REPLY_SPLIT].size == answers.n_splits * sizeof *answers.split &&
          sysprof_elf_answers_are_sound (&query, &answers));
}

const ChildService sysprof_elf_service = {
  .name = "ELF files",
  .request_size = sizeof (ElfRequest),
  .timeout_msec = MOST_PATIENCE,
  .takes_envelopes = true,
  .last_status = IS_OVER_LIMIT | ELF_IO_ERROR,
  .most = { [ELF_REPLY_FACTS] = sizeof (ElfFacts),
            [ELF_REPLY_ROW] = MOST_OFFSETS * sizeof (ElfAnswer),
            [ELF_REPLY_FRAME] = ELF_MAX_LINE_FRAMES * sizeof (ElfLineFrame),
            [ELF_REPLY_SPLIT] = ELF_MAX_SPLITS * sizeof (ElfSplit),
            [ELF_REPLY_TEXT] = MOST_TEXT },
  .handle = handle,
  .is_valid_reply = is_valid_reply,
};

/* Makes one call, limited by the budget of untrusted files, and charged to it. Returns
 * ELF_SKIPPED without a call if the budget is used up; ELF_GIVEN_UP if there is no reply, and
 * the child was ended. The caller clears the reply. */
static ElfStatus
call (ElfSandbox *self,
      const ElfRequest *request,
      int64_t patience,
      int envelope,
      ChildReply *reply)
{
  const ElfQuery *query = &request->query;
  FileBudget *budget = self->budget;
  int64_t left_msec = budget != NULL ? sysprof_file_budget_left_msec (budget) : patience;
  int64_t begin_usec = g_get_monotonic_time ();
  ChildRequest to_child = {
    .bytes = request,
    .payload = query->offsets,
    .payload_size =
        query->n * (query->kind == ELF_CODE ? sizeof *query->ranges : sizeof *query->offsets),
    .fd = envelope,
    .deadline_msec = sysprof_confined_child_deadline (MIN (patience, left_msec)),
  };
  bool is_answered;

  *reply = (ChildReply) CHILD_REPLY_INIT;
  if (left_msec == 0)
    return ELF_SKIPPED;
  is_answered = sysprof_child_call (self, &sysprof_elf_service, &to_child, reply);
  if (budget != NULL)
    sysprof_file_budget_charge (budget, g_get_monotonic_time () - begin_usec);
  return is_answered ? get_status (reply) : ELF_GIVEN_UP;
}

/* Passes a file to the child. */
static ElfStatus
pass (ElfSandbox *self,
      const ElfRequest *request,
      int envelope,
      const struct stat *info,
      ElfFacts *facts)
{
  int64_t patience = MIN (PATIENCE + info->st_size / MB * PATIENCE_PER_MB, MOST_PATIENCE);
  ChildReply reply;
  ElfStatus status = call (self, request, patience, envelope, &reply);

  if (reply.part[ELF_REPLY_FACTS].bytes != NULL)
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
sysprof_elf_sandbox_add_part (ElfSandbox *self,
                              const ElfPart *part,
                              int envelope,
                              const struct stat *info,
                              ElfFacts *facts)
{
  const ElfRequest request = { .call = CALL_ADD_PART, .part = *part };
  ElfFacts told;
  ElfStatus status = self->pid != 0 ? pass (self, &request, envelope, info, &told) : ELF_ABSENT;

  if (status == ELF_OK && part->kind == ELF_PART_DEBUG)
    {
      facts->alt_id_size = told.alt_id_size;
      memcpy (facts->alt_id, told.alt_id, sizeof facts->alt_id);
      memcpy (facts->alt_link, told.alt_link, sizeof facts->alt_link);
    }
  return status;
}

ElfStatus
sysprof_elf_sandbox_resolve (ElfSandbox *self, const ElfQuery *query, ElfAnswers *answers)
{
  const ElfRequest request = { .call = CALL_RESOLVE, .query = *query };
  ChildReply reply;
  ElfStatus status;

  if (self->pid == 0)
    return ELF_GIVEN_UP;
  if (query->n > (query->kind == ELF_CODE ? MOST_OFFSETS / 2 : MOST_OFFSETS))
    return ELF_TOO_LARGE;

  status = call (self, &request, MOST_PATIENCE, -1, &reply);
  if (status == ELF_OK)
    {
      *answers = view_reply (query->kind, &reply);
      for (ElfReplyPart part = ELF_REPLY_ROW; part <= ELF_REPLY_TEXT; part++)
        (void) sysprof_child_reply_take (&reply, part); /* it belongs to `answers` now */
    }
  sysprof_child_reply_clear (&reply);
  return status;
}
