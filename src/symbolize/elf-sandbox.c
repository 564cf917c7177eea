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

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE     20000 /* ms for one answer */
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
read_all (int fd, void *into, size_t size)
{
  uint8_t *at = into;

  while (size > 0)
    {
      ssize_t n = read (fd, at, size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return false;
      at += n;
      size -= (size_t) n;
    }
  return true;
}

static bool
receive_request (int socket, Request *request, int *fd)
{
  union
  {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control;
  struct iovec part = { request, sizeof *request };
  struct msghdr message = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  struct cmsghdr *header;
  ssize_t n;

  do
    n = recvmsg (socket, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n != (ssize_t) sizeof *request)
    return false;

  *fd = -1;
  header = CMSG_FIRSTHDR (&message);
  if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
    memcpy (fd, CMSG_DATA (header), sizeof *fd);
  return true;
}

static bool
answer_request (ElfWorker *worker, int socket, const Request *request, int fd)
{
  ElfAnswers answers = { 0 };
  uint64_t *offsets = NULL;
  Reply reply = { 0 };
  bool is_sent;

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
          !read_all (socket, offsets, (size_t) request->n_offsets * sizeof *offsets))
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

_Noreturn static void
serve (int socket)
{
  ElfWorker worker = ELF_WORKER_INIT;
  Request request;
  int fd;

  /* Nothing of the parent's but the socket: its other descriptors may be able to sample the whole machine. */
  if (dup2 (socket, 0) < 0 || syscall (SYS_close_range, 1U, ~0U, 0U) != 0)
    _exit (1);
  if (!sysprof_elf_sandbox_confine ())
    _exit (1);

  while (receive_request (0, &request, &fd) && answer_request (&worker, 0, &request, fd))
    continue;
  _exit (0);
}

/* --- the parent --- */

void
sysprof_elf_sandbox_clear (ElfSandbox *self)
{
  if (self->socket >= 0)
    (void) close (self->socket); /* nothing of value is in flight */
  if (self->pid > 0)
    {
      (void) kill (self->pid, SIGKILL); /* it may be gone already */
      while (waitpid (self->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    }

  *self = (ElfSandbox) ELF_SANDBOX_INIT;
}

static bool
start_child (ElfSandbox *self)
{
  int sockets[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return false;

  self->pid = fork ();
  if (self->pid == 0)
    serve (sockets[1]);

  close (sockets[1]);
  self->socket = sockets[0];
  if (self->pid < 0)
    {
      self->pid = 0;
      sysprof_elf_sandbox_clear (self);
      return false;
    }
  return true;
}

static int64_t
now_msec (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool
wait_for_child (const ElfSandbox *self, int64_t deadline)
{
  struct pollfd readable = { .fd = self->socket, .events = POLLIN };

  for (;;)
    {
      int64_t left = deadline - now_msec ();
      int n = left <= 0 ? 0 : poll (&readable, 1, (int) left);

      if (n < 0 && errno == EINTR)
        continue;
      return n > 0;
    }
}

static bool
receive (const ElfSandbox *self, int64_t deadline, void *into, size_t size)
{
  uint8_t *at = into;

  while (size > 0)
    {
      ssize_t n;

      if (!wait_for_child (self, deadline))
        return false;
      n = recv (self->socket, at, size, MSG_DONTWAIT);
      if (n < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
      if (n <= 0)
        return false;
      at += n;
      size -= (size_t) n;
    }
  return true;
}

static bool
send_request (const ElfSandbox *self, const Request *request, int fd, const uint64_t *offsets)
{
  union
  {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control = { 0 };
  struct iovec part = { (void *) request, sizeof *request };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
  const uint8_t *at = (const uint8_t *) offsets;
  size_t left = request->n_offsets * sizeof *offsets;

  if (fd >= 0)
    {
      control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN (sizeof (int)),
                                         .cmsg_level = SOL_SOCKET,
                                         .cmsg_type = SCM_RIGHTS };
      memcpy (CMSG_DATA (&control.header), &fd, sizeof fd);
      message.msg_control = &control;
      message.msg_controllen = sizeof control;
    }
  if (sendmsg (self->socket, &message, MSG_NOSIGNAL) != (ssize_t) sizeof *request)
    return false;

  /* The child reads all of it before it answers, so this ends. */
  while (left > 0)
    {
      ssize_t n = send (self->socket, at, left, MSG_NOSIGNAL);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return false;
      at += n;
      left -= (size_t) n;
    }
  return true;
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
      if (answer->name != 0 &&
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
      receive (self, deadline, answers->row, answers->n * sizeof *answers->row) &&
      receive (self, deadline, answers->text, answers->text_size) && is_sound (answers))
    return true;

  sysprof_elf_answers_clear (answers);
  return false;
}

/* One call. ELF_CORRUPT with the child gone where it did not keep to the rules. */
static ElfStatus
call (ElfSandbox *self,
      const Request *request,
      int fd,
      const uint64_t *offsets,
      ElfFacts *facts,
      ElfAnswers *answers)
{
  int64_t deadline = now_msec () + PATIENCE;
  Reply reply;

  if (!send_request (self, request, fd, offsets) ||
      !receive (self, deadline, &reply, sizeof reply))
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

ElfStatus
sysprof_elf_sandbox_open (ElfSandbox *self, int fd, ElfFacts *facts)
{
  if (self->pid == 0 && !start_child (self))
    return ELF_IO_ERROR;

  return call (self, &(Request){ .call = CALL_OPEN }, fd, NULL, facts, NULL);
}

ElfStatus
sysprof_elf_sandbox_add_debug (ElfSandbox *self, int fd)
{
  if (self->pid == 0)
    return ELF_ABSENT;

  return call (self, &(Request){ .call = CALL_ADD_DEBUG }, fd, NULL, NULL, NULL);
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

  return call (self, &(Request){ .call = CALL_RESOLVE, .n_offsets = (uint32_t) n }, -1, offsets,
               NULL, answers);
}
