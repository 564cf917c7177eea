// SPDX-License-Identifier: GPL-3.0-or-later

/* A child that opens untrusted files with the privileges of this process. On a network file
 * system without a server, or a FUSE file system whose server never answers, open() blocks
 * forever and cannot even be killed. A child that blocks can be left behind.
 *
 * close() may also wait for a server. So the descriptor never enters this process. Instead, the
 * child returns an envelope (util/children/envelope.h), for the child that will read the file.
 * Plain C. */

#pragma once

#include "util/children/child-service.h"
#include "util/children/envelope.h"

#include <sys/stat.h>

#define OPENER_MOST_GIVEN_UP 8
#define OPENER_MOST_SHUNNED  32

/* A location that has not answered. The callers define the numbers. */
typedef struct
{
  uint64_t location;
  int64_t until_msec; /* 0 = free */
  int64_t msec;       /* duration of the last pause */
} OpenerShunned;

/* *Owned* by one thread. */
typedef struct
{
  ConfinedChild child;
  bool has_stop_fd;
  int stop_fd; /* borrowed: once it is readable, no more files are opened */
  /* [introduction_size], borrowed: payload of the first request to each new child; NULL =
   * none */
  const void *introduction;
  size_t introduction_size;
  pid_t given_up[OPENER_MOST_GIVEN_UP]; /* 0 = free; not reaped yet */
  OpenerShunned shunned[OPENER_MOST_SHUNNED];
} Opener;

#define OPENER_INIT              \
  {                              \
    .child = CONFINED_CHILD_INIT \
  }

/* All services of openers have these settings in common. The reply is the fstat() result, and the
 * envelope; its status is errno, 0 = success. One file may take about a thousand times the
 * usual duration. */
#define OPENER_SERVICE                                                                       \
  .timeout_msec = 2000, .keeps_rights = true, .is_urgent = true, .returns_descriptor = true, \
  .last_status = INT32_MAX, .reply_size = sizeof (struct stat)

/* ChildService.open returns a descriptor and fills in `info`; -1 with errno, or OPENER_NOTHING:
 * the result is only `info`. */
#define OPENER_NOTHING (-2)

/* Starts the child if it is not running. Optional: the first request starts it, too. An opener
 * with an introduction must not use it. */
bool sysprof_opener_start (Opener *self, const ChildService *service);

/* Returns an envelope, which is the caller's. -1 with errno: 0 if the result is only `info`;
 * ETIMEDOUT if there was no answer within two seconds, or recently; ECANCELED if the stop_fd is
 * readable. `location` identifies the location of the file: after a timeout, requests for the
 * same location fail at once, for a pause that grows. `given` (borrowed, -1 = none) is sent
 * with the request. */
int sysprof_opener_ask (Opener *self,
                        const ChildService *service,
                        uint64_t location,
                        const void *request,
                        int given,
                        struct stat *info);

void sysprof_opener_clear (Opener *self);
