// SPDX-License-Identifier: GPL-3.0-or-later

/* The messages between a recorder without privileges and the server that has them: packets of
 * one size in each direction. */

#pragma once

#include "rights/rights.h"

typedef enum
{
  ASK_EVENT,
  ASK_PROCESS_FILE,
  ASK_MAPPED_FILE,
  ASK_NAMESPACE,
  ASK_KALLSYMS,
  ASK_SWITCH_FORMAT,
  ASK_WALKER_MAPS,
  ASK_WALKER,
  ASK_SLAB,
  ASK_OUTPUT,
  ASK_WAITS,
  N_REQUESTS
} RightsRequestKind;

typedef struct
{
  uint32_t kind; /* RightsRequestKind */
  int32_t pid;
  union
  {
    struct
    {
      int32_t cpu;
      struct perf_event_attr attr;
    } event;
    ExecutableMapping mapping;
    struct
    {
      uint32_t most_addresses;
      uint32_t by_lists;
    } walker;
    uint32_t number; /* which file, namespace, slab or CPU */
  };
} RightsRequest;

typedef struct
{
  int32_t error;   /* errno; 0 = success */
  uint32_t unused; /* 0 */
  uint64_t value;
} RightsAnswer;

/* Sends a message with the borrowed descriptor `fd`, -1 = none. FALSE with errno. */
bool sysprof_rights_send (int socket, const void *message, size_t size, int fd, int flags);
/* Receives a message and its descriptor, which is the caller's; -1 = none. FALSE with errno:
 * EPIPE if the other end is closed, EBADMSG if this is not a message of `size` bytes with at
 * most one descriptor. */
bool sysprof_rights_receive (int socket, void *message, size_t size, int *fd);

/* Returns 0, or the errno with which the request for an event is refused. `switch_id`: the
 * tracepoint whose raw part is permitted, 0 = none; `is_energy`: the type is that of a device
 * that counts energy. */
int sysprof_rights_check_event (const RightsRequest *request,
                                bool has_cgroup,
                                uint64_t switch_id,
                                bool is_energy);
