// SPDX-License-Identifier: BSD-2-Clause

/* The socket on which a recorder hands out rings. */

#pragma once

#include <stdbool.h>

/* The descriptor that the environment names, if it is what a recorder would have put there;
 * else -1. */
int sysprof_control_find (void);

typedef enum
{
  CONTROL_RING,    /* here it is */
  CONTROL_REFUSED, /* no ring for this thread */
  CONTROL_GONE,    /* the recorder does not answer any more */
} ControlReply;

/* Asks for a ring; any number of threads may at once. On CONTROL_RING `*ring_fd` is the
 * caller's. Waits for the answer, a second at most. */
ControlReply sysprof_control_request_ring (int control_fd, int *ring_fd);

/* Whether the recorder closed its end. */
bool sysprof_control_is_closed (int control_fd);
