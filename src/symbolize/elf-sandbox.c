// SPDX-License-Identifier: GPL-3.0-or-later

/* The parent's and the child's side of the socket between them.
 *
 *   request:  Request (with it, where the call has one, a descriptor), offsets
 *   reply:    Reply, answers, text
 *
 * One request is answered before the next is sent. The child may have been taken over by a file that it parsed:
 * the parent believes sizes only within limits, and offsets only inside the text. */

#include "symbolize/elf-sandbox.h"

#include "util/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For one answer, ms: some fifty times as long as it takes on a machine that has nothing else to do. */
#define PATIENCE        2000
#define PATIENCE_PER_MB 100
#define MOST_PATIENCE   20000
#define MB              (1 << 20)

#define MOST_OFFSETS (UINT32_C (16) << 20)
#define MOST_TEXT    (UINT64_C (512) << 20) /* bytes */

typedef enum
{
  CALL_OPEN = 1,
  CALL_ADD_DEBUG,
  CALL_RESOLVE,
} Call;

typedef struct
{
  uint32_t call;
  uint32_t n_offsets;
} Request;

typedef struct
{
  uint32_t status;
  uint32_t n_answers;
  uint64_t text_size;
  ElfFacts facts;
} Reply;

/* --- the child --- */

static bool
answer_request (ElfWorker *worker, int socket, const Request *request, int envelope)
{
  int fd = envelope >= 0 ? sysprof_envelope_open (envelope) : -1;
  ElfAnswers answers = { 0 };
  uint64_t *offsets = NULL;
  Reply reply = { 0 };
  bool is_sent;

  if (envelope >= 0)
    (void) close (envelope);
  switch (request->call)
    {
    case CALL_OPEN:
      reply.status = sysprof_elf_worker_open (worker, fd, &reply.facts);
      break;
    case CALL_ADD_DEBUG:
      reply.status = sysprof_elf_worker_add_debug (worker, fd);
      break;
    default:
      offsets = malloc ((size_t) (request->n_offsets + 1) * sizeof *offsets);
      if (offsets == NULL ||
          !sysprof_confined_child_read (socket, offsets,
                                        (size_t) request->n_offsets * sizeof *offsets))
        {
          free (offsets);
          return false;
        }
      reply.status = sysprof_elf_worker_resolve (worker, offsets, request->n_offsets, &answers);
      break;
    }

  reply.n_answers = (uint32_t) answers.n;
  reply.text_size = answers.text_size;
  is_sent = sysprof_write_all (socket, &reply, sizeof reply) &&
            sysprof_write_all (socket, answers.row, answers.n * sizeof *answers.row) &&
            sysprof_write_all (socket, answers.text, answers.text_size);

  sysprof_elf_answers_clear (&answers);
  free (offsets);
  return is_sent;
}

static void
serve (int socket)
{
  ElfWorker worker = ELF_WORKER_INIT;
  Request request;
  int fd;

  while (sysprof_confined_child_read_request (socket, &request, sizeof request, &fd) &&
         answer_request (&worker, socket, &request, fd))
    continue;
}

/* --- the parent --- */

void
sysprof_elf_sandbox_clear (ElfSandbox *self)
{
  sysprof_confined_child_end (self);
}

static bool
is_sound (const ElfAnswers *answers)
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
                 const Reply *reply,
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
      is_sound (answers))
    return true;

  sysprof_elf_answers_clear (answers);
  return false;
}

/* One call. ELF_CORRUPT with the child gone where it did not keep to the rules. */
static ElfStatus
call (ElfSandbox *self,
      const Request *request,
      int64_t patience,
      int envelope,
      const uint64_t *offsets,
      ElfFacts *facts,
      ElfAnswers *answers)
{
  int64_t deadline = sysprof_confined_child_deadline (patience);
  Reply reply;

  if (!sysprof_confined_child_send_request (self, request, sizeof *request, envelope) ||
      !sysprof_confined_child_send (self, deadline, offsets,
                                    request->n_offsets * sizeof *offsets) ||
      !sysprof_confined_child_receive (self, deadline, &reply, sizeof reply))
    goto gone;
  if (reply.status > ELF_IO_ERROR || reply.text_size > MOST_TEXT ||
      reply.n_answers !=
          (request->call == CALL_RESOLVE && reply.status == ELF_OK ? request->n_offsets : 0))
    goto gone;
  if (request->call == CALL_RESOLVE && reply.status == ELF_OK &&
      !receive_answers (self, deadline, &reply, answers))
    goto gone;

  if (facts != NULL)
    {
      *facts = reply.facts;
      facts->link[sizeof facts->link - 1] = 0;
      if (facts->build_id_size > ELF_MAX_BUILD_ID || strchr (facts->link, '/') != NULL)
        goto gone;
    }
  return (ElfStatus) reply.status;

gone:
  sysprof_elf_sandbox_clear (self);
  return ELF_CORRUPT;
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
                          ElfFacts *facts)
{
  if (self->pid == 0 && !sysprof_confined_child_start (self, serve))
    return ELF_IO_ERROR;

  return call (self, &(Request){ .call = CALL_OPEN }, patience_for (info), envelope, NULL,
               facts, NULL);
}

ElfStatus
sysprof_elf_sandbox_add_debug (ElfSandbox *self, int envelope, const struct stat *info)
{
  if (self->pid == 0)
    return ELF_ABSENT;

  return call (self, &(Request){ .call = CALL_ADD_DEBUG }, patience_for (info), envelope, NULL,
               NULL, NULL);
}

ElfStatus
sysprof_elf_sandbox_resolve (ElfSandbox *self,
                             const uint64_t *offsets,
                             size_t n,
                             ElfAnswers *answers)
{
  if (self->pid == 0)
    return ELF_CORRUPT;
  if (n > MOST_OFFSETS)
    return ELF_TOO_LARGE;

  return call (self, &(Request){ .call = CALL_RESOLVE, .n_offsets = (uint32_t) n },
               MOST_PATIENCE, -1, offsets, NULL, answers);
}
