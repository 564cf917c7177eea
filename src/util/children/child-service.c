// SPDX-License-Identifier: GPL-3.0-or-later

/* Both ends of the socket between the parent and a child. */

#include "util/children/child-service.h"

#include "util/children/envelope.h"
#include "util/write-all.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A reply that arrived in time may be read after the deadline, because this process may have
 * been stopped or preempted: at most this many pieces. */
#define MOST_LATE 64

typedef struct
{
  uint64_t payload_size;
} RequestHead;

typedef struct
{
  uint32_t status;
  uint32_t padding;
  uint64_t size[CHILD_MOST_PARTS];
} ReplyHead;

/* --- replies --- */

void *
sysprof_child_reply_take (ChildReply *reply, unsigned part)
{
  void *bytes = reply->part[part].bytes;

  reply->part[part].bytes = NULL;
  return bytes;
}

void
sysprof_child_reply_set (ChildReply *reply, unsigned part, void *bytes, size_t size)
{
  reply->part[part].bytes = bytes;
  reply->part[part].size = size;
}

void
sysprof_child_reply_clear (ChildReply *reply)
{
  if (reply->fd >= 0)
    (void) close (reply->fd); /* an envelope */
  for (unsigned i = 0; i < CHILD_MOST_PARTS; i++)
    free (reply->part[i].bytes);
  *reply = (ChildReply) CHILD_REPLY_INIT;
}

/* --- the child --- */

static bool
read_all (int socket, void *into, size_t size)
{
  uint8_t *at = into;

  while (size > 0)
    {
      ssize_t n = read (socket, at, size);

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
wait_for_request (int socket, const ChildService *service)
{
  struct pollfd readable = { .fd = socket, .events = POLLIN };
  int n;

  if (service->tick == NULL)
    return true; /* reading waits */
  do
    n = poll (&readable, 1, service->tick ());
  while (n == 0 || (n < 0 && errno == EINTR));
  return n > 0;
}

/* Opens a file and replies with an envelope that contains it. */
static bool
open_file (const ChildService *service, ChildRequest *request, ChildReply *reply)
{
  struct stat *info = calloc (1, sizeof *info);
  int fd;

  if (info == NULL)
    return false;
  fd = service->open (request, info);
  if (fd >= 0)
    reply->fd = sysprof_envelope_seal (fd);
  if (fd == -1 || (fd >= 0 && reply->fd < 0))
    reply->status = (uint32_t) errno;
  sysprof_child_reply_set (reply, 0, info, sizeof *info);
  /* Closes before the reply, so that a close() that blocks counts for this file. */
  if (fd >= 0)
    (void) close (fd);
  if (request->fd >= 0)
    (void) close (request->fd);
  request->fd = -1;
  return true;
}

bool
sysprof_child_send_reply (int socket, const ChildReply *reply)
{
  ReplyHead head = { .status = reply->status };
  bool is_sent;

  for (unsigned i = 0; i < CHILD_MOST_PARTS; i++)
    head.size[i] = reply->part[i].size;
  is_sent = sysprof_message_send (socket, &head, sizeof head, NULL, 0, reply->fd, 0);
  for (unsigned i = 0; i < CHILD_MOST_PARTS && is_sent; i++)
    is_sent = sysprof_write_all (socket, reply->part[i].bytes, reply->part[i].size);
  return is_sent;
}

/* Replaces an envelope by the file in it. */
static int
open_envelope (int envelope)
{
  int fd = envelope >= 0 ? sysprof_envelope_open (envelope) : -1;

  if (envelope >= 0)
    (void) close (envelope);
  return fd;
}

static bool
answer (int socket, const ChildService *service, const RequestHead *head, int fd)
{
  void *payload = malloc (head->payload_size + 1);
  ChildReply reply = CHILD_REPLY_INIT;
  ChildRequest request = { .bytes = head + 1,
                           .payload = payload,
                           .payload_size = (size_t) head->payload_size,
                           .fd = service->takes_envelopes ? open_envelope (fd) : fd };
  bool goes_on = payload != NULL && read_all (socket, payload, request.payload_size);

  if (goes_on && (service->open != NULL ? open_file (service, &request, &reply)
                                        : service->handle (&request, &reply)))
    goes_on = sysprof_child_send_reply (socket, &reply);
  sysprof_child_reply_clear (&reply);
  free (payload);
  /* After the reply, because close() may block if the file system does not answer. */
  if (request.fd >= 0)
    (void) close (request.fd);
  return goes_on;
}

void
sysprof_child_serve (int socket, const ChildService *service)
{
  size_t size = sizeof (RequestHead) + service->request_size;
  RequestHead *head = malloc (size);
  int fd;

  while (head != NULL && wait_for_request (socket, service) &&
         sysprof_message_receive (socket, head, size, &fd, MSG_WAITALL) &&
         answer (socket, service, head, fd))
    continue;
  free (head);
}

/* --- the parent --- */

static bool
wait_for_child (const ConfinedChild *self, short events, int64_t deadline_msec)
{
  struct pollfd fds[] = { { .fd = self->socket, .events = events },
                          { .fd = self->has_stop_fd ? self->stop_fd : -1, .events = POLLIN } };

  for (;;)
    {
      int64_t left = deadline_msec - sysprof_confined_child_deadline (0);
      int n = left <= 0 && events != POLLIN ? 0 : poll (fds, 2, (int) (left > 0 ? left : 0));

      if (n < 0 && errno == EINTR)
        continue;
      return n > 0 && fds[1].revents == 0;
    }
}

bool
sysprof_child_send (ConfinedChild *self, const ChildRequest *request, int64_t deadline_msec)
{
  const RequestHead head = { .payload_size = request->payload_size };
  const uint8_t *at = request->payload;
  size_t left = request->payload_size;

  if (!sysprof_message_send (self->socket, &head, sizeof head, request->bytes,
                             self->service->request_size, request->fd, MSG_DONTWAIT))
    return false;
  while (left > 0)
    {
      ssize_t n;

      errno = ETIMEDOUT;
      if (!wait_for_child (self, POLLOUT, deadline_msec))
        return false;
      n = send (self->socket, at, left, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
      if (n <= 0)
        return false;
      at += n;
      left -= (size_t) n;
    }
  return true;
}

static ChildReplyState
receive_head (ConfinedChild *self, ChildReply *reply)
{
  const ChildService *service = self->service;
  ReplyHead head;

  if (!sysprof_message_receive (self->socket, &head, sizeof head,
                                service->returns_descriptor ? &reply->fd : NULL, MSG_DONTWAIT))
    return errno == EAGAIN ? CHILD_REPLY_PENDING : CHILD_REPLY_INVALID;
  if (head.status > service->last_status ||
      (service->reply_size > 0 && head.size[0] != service->reply_size))
    return CHILD_REPLY_INVALID;

  reply->status = head.status;
  reply->has_head = true;
  for (unsigned i = 0; i < CHILD_MOST_PARTS; i++)
    {
      if (head.size[i] > service->most[i] && (i > 0 || service->reply_size == 0))
        return CHILD_REPLY_INVALID;
      sysprof_child_reply_set (reply, i, malloc (head.size[i] + 1), (size_t) head.size[i]);
      if (reply->part[i].bytes == NULL)
        return CHILD_REPLY_INVALID;
    }
  return CHILD_REPLY_PENDING;
}

/* Sets `part` to the first part that is incomplete, and returns how many of its bytes are
 * there. */
static size_t
find_end (const ChildReply *reply, unsigned *part)
{
  size_t n = reply->n_received;

  for (*part = 0; *part < CHILD_MOST_PARTS && n >= reply->part[*part].size; ++*part)
    n -= reply->part[*part].size;
  return n;
}

ChildReplyState
sysprof_child_receive (ConfinedChild *self, const ChildRequest *request, ChildReply *reply)
{
  const ChildService *service = self->service;
  unsigned part;
  size_t at;

  if (!reply->has_head)
    {
      ChildReplyState state = receive_head (self, reply);

      if (state == CHILD_REPLY_INVALID || !reply->has_head)
        return state;
    }
  else
    {
      ssize_t n;

      at = find_end (reply, &part);
      n = recv (self->socket, (uint8_t *) reply->part[part].bytes + at,
                reply->part[part].size - at, MSG_DONTWAIT);
      if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return CHILD_REPLY_PENDING;
      if (n <= 0)
        return CHILD_REPLY_INVALID;
      reply->n_received += (size_t) n;
    }

  (void) find_end (reply, &part);
  if (part < CHILD_MOST_PARTS)
    return CHILD_REPLY_PENDING;
  return service->is_valid_reply == NULL || service->is_valid_reply (request, reply)
             ? CHILD_REPLY_COMPLETE
             : CHILD_REPLY_INVALID;
}

bool
sysprof_child_wait_for_reply (ConfinedChild *self,
                              const ChildRequest *request,
                              int64_t deadline_msec,
                              ChildReply *reply)
{
  ChildReplyState state = CHILD_REPLY_PENDING;
  unsigned n_late = 0;

  while (state == CHILD_REPLY_PENDING)
    {
      if (!wait_for_child (self, POLLIN, deadline_msec) ||
          (sysprof_confined_child_deadline (0) > deadline_msec && ++n_late > MOST_LATE))
        return false;
      state = sysprof_child_receive (self, request, reply);
    }
  return state == CHILD_REPLY_COMPLETE;
}

bool
sysprof_child_call (ConfinedChild *self,
                    const ChildService *service,
                    const ChildRequest *request,
                    ChildReply *reply)
{
  int64_t deadline = sysprof_confined_child_deadline (service->timeout_msec);

  *reply = (ChildReply) CHILD_REPLY_INIT;
  if (request->deadline_msec != 0 && request->deadline_msec < deadline)
    deadline = request->deadline_msec;
  if (self->pid == 0 && !sysprof_confined_child_start (self, service))
    return false;
  if (sysprof_child_send (self, request, deadline) &&
      sysprof_child_wait_for_reply (self, request, deadline, reply))
    return true;

  sysprof_child_reply_clear (reply);
  /* A call that may block forever cannot even be killed. */
  if (service->keeps_rights && !sysprof_confined_child_is_stopped (self))
    sysprof_confined_child_give_up (self);
  else
    sysprof_confined_child_end (self);
  return false;
}
