// SPDX-License-Identifier: GPL-3.0-or-later

/* Messages with a descriptor, and envelopes: sockets with one such message in their queue.
 *
 * close() of a file may wait for a server that never answers. A socket can always be closed, so
 * a process that only passes a file on holds an envelope with it. Plain C. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Makes an envelope with a duplicate of the borrowed `fd`. -1 with errno. */
int sysprof_envelope_seal (int fd);
/* Returns a duplicate of the descriptor in a borrowed envelope, which keeps its own. -1 =
 * none. */
int sysprof_envelope_open (int envelope);

/* Sends `head` and `body` at once, with the borrowed descriptor `fd`; -1 = none. FALSE with
 * errno. `flags` are those of sendmsg(). */
bool sysprof_message_send (int socket,
                           const void *head,
                           size_t head_size,
                           const void *body,
                           size_t body_size,
                           int fd,
                           int flags);

/* Receives exactly `size` bytes, which were sent at once, and the descriptor, which is the
 * caller's; -1 = none. With `fd` = NULL, descriptors are refused. FALSE with errno, which is 0
 * if the message is shorter. */
bool sysprof_message_receive (int socket, void *into, size_t size, int *fd, int flags);
