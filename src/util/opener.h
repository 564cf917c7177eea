// SPDX-License-Identifier: GPL-3.0-or-later

/* A child with our own rights that opens strangers' files for us. On a dead network file system, or one in user space whose
 * server never answers, opening a file takes for ever, and who waits for that cannot even be killed; a child can be left behind.
 *
 * Closing a file can ask its server, too. So none comes into our hands: what we get is an envelope, a socket in which the
 * file waits for the child that is to read it, and which can always be closed. Plain C. */

#pragma once

#include "util/confined-child.h"

#include <sys/stat.h>

#define OPENER_MOST_GIVEN_UP 8
#define OPENER_MOST_SHUNNED  32

/* Where nothing has answered, as callers number places. */
typedef struct
{
  uint64_t place;
  int64_t until_msec; /* 0 = free */
  int64_t msec;       /* for how long it was shunned */
} OpenerShunned;

/* *Owned* by one thread. */
typedef struct
{
  ConfinedChild child;
  bool has_stop_fd;
  int stop_fd; /* borrowed: once it is readable, nothing is opened any more */
  const void *
      introduction; /* [introduction_size], borrowed: sent to each new child before its first request; NULL = nothing */
  size_t introduction_size;
  pid_t given_up[OPENER_MOST_GIVEN_UP]; /* 0 = free; ours until they end */
  OpenerShunned shunned[OPENER_MOST_SHUNNED];
} Opener;

#define OPENER_INIT                                                   \
  {                                                                   \
    .child = {.socket = -1, .is_urgent = true, .keeps_rights = true } \
  }

/* In the child: opens what `request` asks for and fills in `info`; `given` (borrowed) came along. -1 with errno, or
 * OPENER_NOTHING: nothing is to be had but `info`. */
#define OPENER_NOTHING (-2)
typedef int (*OpenerFunc) (const void *request, int given, struct stat *info);

/* To be called by a ConfinedChildServe, with room for one request of `size` bytes. */
void sysprof_opener_serve (int socket, void *request, size_t size, OpenerFunc func);

/* Starts the child, where there is none: at once where that suits better than with the first request. */
bool sysprof_opener_start (Opener *self, ConfinedChildServe serve);

/* An envelope, which is the caller's, or -1 with errno, where that is 0 if there is nothing but `info`. ETIMEDOUT: no answer has come within
 * two seconds, or a while ago. ECANCELED: the stop_fd is readable. `place` says where the file is: for a growing while nothing there is asked for again. `given` (borrowed, -1 =
 * none) goes with the request. */
int sysprof_opener_ask (Opener *self,
                        ConfinedChildServe serve,
                        uint64_t place,
                        const void *request,
                        size_t size,
                        int given,
                        struct stat *info);

void sysprof_opener_clear (Opener *self);

/* --- envelopes --- */

/* -1 with errno. `fd` is borrowed. */
int sysprof_envelope_seal (int fd);
/* What is in it, which stays there as well; the envelope is borrowed. -1 = nothing. */
int sysprof_envelope_open (int envelope);
