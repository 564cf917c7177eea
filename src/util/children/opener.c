// SPDX-License-Identifier: GPL-3.0-or-later

/* Requests files from a child, and keeps the table of directories that did not answer. */

#include "util/children/opener.h"

#include <errno.h>
#include <string.h>

#define FIRST_WAIT 10000  /* ms until a location is tried again; doubles each time */
#define MOST_WAIT  600000 /* ms */

bool
sysprof_opener_start (Opener *self, const ChildService *service)
{
  self->child.has_stop_fd = self->has_stop_fd;
  self->child.stop_fd = self->stop_fd;
  return self->child.pid != 0 || sysprof_confined_child_start (&self->child, service);
}

/* A free entry for a child that may have to be given up; NULL = there is none. */
static pid_t *
find_room (Opener *self)
{
  for (unsigned i = 0; i < OPENER_MOST_GIVEN_UP; i++)
    if (!sysprof_confined_child_is_left (self->given_up[i]))
      return &self->given_up[i];
  return NULL;
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
                    const ChildService *service,
                    uint64_t location,
                    const void *request,
                    int given,
                    struct stat *info)
{
  const OpenerShunned *shunned = find_shunned (self, location);
  bool is_new = self->child.pid == 0;
  pid_t *room = find_room (self);
  ChildReply reply;
  pid_t pid;
  int envelope;

  self->child.has_stop_fd = self->has_stop_fd;
  self->child.stop_fd = self->stop_fd;
  errno = ECANCELED;
  if (sysprof_confined_child_is_stopped (&self->child))
    return -1;
  errno = ETIMEDOUT;
  if ((shunned != NULL && sysprof_confined_child_deadline (0) < shunned->until_msec) ||
      room == NULL || !sysprof_opener_start (self, service))
    return -1;

  pid = self->child.pid;
  if (!sysprof_child_call (&self->child, service,
                           &(ChildRequest){
                               .bytes = request,
                               .payload = is_new ? self->introduction : NULL,
                               .payload_size = is_new ? self->introduction_size : 0,
                               .fd = given,
                           },
                           &reply))
    {
      errno = ECANCELED;
      if (sysprof_confined_child_is_stopped (&self->child))
        return -1;
      *room = pid;
      shun (self, location);
      errno = ETIMEDOUT;
      return -1;
    }

  memcpy (info, reply.part[0].bytes, sizeof *info);
  envelope = reply.fd;
  reply.fd = -1;
  errno = (int) reply.status;
  sysprof_child_reply_clear (&reply);
  return envelope;
}

void
sysprof_opener_clear (Opener *self)
{
  sysprof_confined_child_end (&self->child); /* the child is idle */
}
