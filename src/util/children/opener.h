// SPDX-License-Identifier: GPL-3.0-or-later

/* A child that opens untrusted files with the privileges of this process. On a network file
 * system without a server, or a FUSE file system whose server never answers, open() blocks
 * forever and cannot even be killed. A child that blocks can be left behind.
 *
 * close() may also wait for a server. So the descriptor never enters this process. Instead, the
 * child returns an envelope: a socket with the descriptor in its queue, for the child that will
 * read the file. A socket can always be closed. Plain C. */

#pragma once

#include "util/children/confined-child.h"

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
  /* [introduction_size], borrowed: sent to each new child before its first request; NULL =
   * none */
  const void *introduction;
  size_t introduction_size;
  pid_t given_up[OPENER_MOST_GIVEN_UP]; /* 0 = free; not reaped yet */
  OpenerShunned shunned[OPENER_MOST_SHUNNED];
} Opener;

#define OPENER_INIT                                                   \
  {                                                                   \
    .child = {.socket = -1, .is_urgent = true, .keeps_rights = true } \
  }

/* In the child: opens the file that `request` describes and fills in `info`. `given` (borrowed)
 * came with the request. -1 with errno, or OPENER_NOTHING: the result is only `info`. */
#define OPENER_NOTHING (-2)
typedef int (*OpenerFunc) (const void *request, int given, struct stat *info);

/* Serves requests; a ConfinedChildServe calls it with memory for one request of `size`
 * bytes. */
void sysprof_opener_serve (int socket, void *request, size_t size, OpenerFunc func);

/* Starts the child if it is not running. Optional: the first request starts it, too. */
bool sysprof_opener_start (Opener *self, ConfinedChildServe serve);

/* Returns an envelope, which is the caller's. -1 with errno: 0 if the result is only `info`;
 * ETIMEDOUT if there was no answer within two seconds, or recently; ECANCELED if the stop_fd is
 * readable. `location` identifies the location of the file: after a timeout, requests for the
 * same location fail at once, for a pause that grows. `given` (borrowed, -1 = none) is sent
 * with the request. */
int sysprof_opener_ask (Opener *self,
                        ConfinedChildServe serve,
                        uint64_t location,
                        const void *request,
                        size_t size,
                        int given,
                        struct stat *info);

void sysprof_opener_clear (Opener *self);

/* --- envelopes --- */

/* Makes an envelope with a duplicate of the borrowed `fd`. -1 with errno. */
int sysprof_envelope_seal (int fd);
/* Returns a duplicate of the descriptor in a borrowed envelope, which keeps its own. -1 =
 * none. */
int sysprof_envelope_open (int envelope);
