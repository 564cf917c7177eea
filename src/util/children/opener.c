// SPDX-License-Identifier: GPL-3.0-or-later

/* The child that opens files, and the table of directories that did not answer. */

#include "util/children/opener.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE   2000   /* ms for one file: about a thousand times the usual duration */
#define FIRST_WAIT 10000  /* ms until a location is tried again; doubles each time */
#define MOST_WAIT  600000 /* ms */

typedef struct
{
  int32_t error; /* errno; 0 = success */
  struct stat info;
} Answer;

/* --- envelopes --- */

int
sysprof_envelope_seal (int fd)
{
  const uint8_t nothing = 0;
  int sockets[2];
  bool is_sent;
  int saved;

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return -1;

  is_sent = sysprof_confined_child_send_answer (sockets[0], &nothing, sizeof nothing, fd);
  saved = errno;
  (void) close (sockets[0]);
  if (is_sent)
    return sockets[1];

  (void) close (sockets[1]);
  errno = saved;
  return -1;
}

int
sysprof_envelope_open (int envelope)
{
  uint8_t nothing;
  int fd = -1;

  return sysprof_confined_child_look_at_request (envelope, &nothing, sizeof nothing, &fd) ? fd
                                                                                          : -1;
}

/* --- the child --- */

void
sysprof_opener_serve (int socket, void *request, size_t size, OpenerFunc func)
{
  int given;

  while (sysprof_confined_child_read_request (socket, request, size, &given))
    {
      Answer answer = { 0 };
      int fd = func (request, given, &answer.info);
      int envelope = fd >= 0 ? sysprof_envelope_seal (fd) : fd;

      if (envelope == -1)
        answer.error = errno;
      /* Closes before the answer, so that a close() that blocks counts for this file. */
      if (fd >= 0)
        (void) close (fd);
      if (given >= 0)
        (void) close (given);
      if (!sysprof_confined_child_send_answer (socket, &answer, sizeof answer, envelope))
        return;
      if (envelope >= 0)
        (void) close (envelope);
    }
}

/* --- the parent --- */

/* Prepares the settings of a new child. */
static void
prepare_child (Opener *self)
{
  self->child.is_urgent = self->child.keeps_rights = true;
  self->child.has_stop_fd = self->has_stop_fd;
  self->child.stop_fd = self->stop_fd;
}

bool
sysprof_opener_start (Opener *self, ConfinedChildServe serve)
{
  prepare_child (self);
  if (self->child.pid != 0)
    return true;
  if (!sysprof_confined_child_start (&self->child, serve))
    return false;
  if (self->introduction == NULL ||
      sysprof_confined_child_send (&self->child, sysprof_confined_child_deadline (PATIENCE),
                                   self->introduction, self->introduction_size))
    return true;

  sysprof_confined_child_end (&self->child);
  errno = ETIMEDOUT;
  return false;
}

/* A free entry for a child that may have to be given up; NULL = there is none. */
static pid_t *
find_room (Opener *self)
{
  pid_t *room = NULL;

  for (unsigned i = 0; i < OPENER_MOST_GIVEN_UP; i++)
    {
      pid_t *pid = &self->given_up[i];

      if (*pid != 0 && waitpid (*pid, NULL, WNOHANG) != 0)
        *pid = 0;
      if (*pid == 0)
        room = pid;
    }
  return room;
}

static OpenerShunned *
find_shunned (Opener *self, uint64_t location)
{
  for (unsigned i = 0; i < OPENER_MOST_SHUNNED; i++)
    if (self->shunned[i].until_msec != 0 && self->shunned[i].location == location)
      return &self->shunned[i];
  return NULL;
}

static void
shun (Opener *self, uint64_t location)
{
  OpenerShunned *shunned = find_shunned (self, location);

  if (shunned == NULL)
    {
      shunned = self->shunned;
      for (unsigned i = 1; i < OPENER_MOST_SHUNNED; i++)
        if (self->shunned[i].until_msec < shunned->until_msec)
          shunned = &self->shunned[i];
      *shunned = (OpenerShunned){ .location = location, .msec = FIRST_WAIT / 2 };
    }

  shunned->msec = shunned->msec * 2 < MOST_WAIT ? shunned->msec * 2 : MOST_WAIT;
  shunned->until_msec = sysprof_confined_child_deadline (shunned->msec);
}

int
sysprof_opener_ask (Opener *self,
                    ConfinedChildServe serve,
                    uint64_t location,
                    const void *request,
                    size_t size,
                    int given,
                    struct stat *info)
{
  const OpenerShunned *shunned = find_shunned (self, location);
  int64_t now = sysprof_confined_child_deadline (0);
  pid_t *room;
  Answer answer;
  int envelope;

  prepare_child (self);
  errno = ECANCELED;
  if (sysprof_confined_child_is_stopped (&self->child))
    return -1;
  errno = ETIMEDOUT;
  if (shunned != NULL && now < shunned->until_msec)
    return -1;
  room = self->child.pid == 0 ? find_room (self) : NULL;
  if (self->child.pid == 0 && room == NULL)
    return -1;
  if (!sysprof_opener_start (self, serve))
    return -1;

  if (!sysprof_confined_child_send_request (&self->child, request, size, given) ||
      !sysprof_confined_child_receive_answer (&self->child, now + PATIENCE, &answer,
                                              sizeof answer, &envelope))
    {
      if (sysprof_confined_child_is_stopped (&self->child))
        {
          sysprof_confined_child_end (&self->child);
          errno = ECANCELED;
          return -1;
        }
      room = find_room (self); /* there was one when the child was started */
      *room = sysprof_confined_child_give_up (&self->child);
      shun (self, location);
      errno = ETIMEDOUT;
      return -1;
    }

  *info = answer.info;
  errno = answer.error;
  return envelope;
}

void
sysprof_opener_clear (Opener *self)
{
  sysprof_confined_child_end (&self->child); /* the child is idle */
  (void) find_room (self);
}
