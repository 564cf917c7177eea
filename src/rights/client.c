// SPDX-License-Identifier: GPL-3.0-or-later

/* The recorder's side: sends requests to the server and receives descriptors. */

#include "rights/message.h"

#include <errno.h>
#include <unistd.h>

/* Receives a descriptor; -1 with errno. If `value` is not NULL, receives a number instead and
 * returns 0. */
static int
receive_answer (int socket, uint64_t *value)
{
  RightsAnswer answer;
  int fd;

  if (!sysprof_rights_receive (socket, &answer, sizeof answer, &fd))
    return -1;

  if (answer.error == 0 && (fd >= 0) == (value == NULL))
    {
      if (value == NULL)
        return fd;
      *value = answer.value;
      return 0;
    }

  if (fd >= 0)
    (void) close (fd);
  errno = answer.error > 0 ? answer.error : EPROTO;
  return -1;
}

static int
ask (int socket, const RightsRequest *request, int fd, uint64_t *value)
{
  return sysprof_rights_send (socket, request, sizeof *request, fd, 0)
             ? receive_answer (socket, value)
             : -1;
}

int
sysprof_rights_ask_event (int socket,
                          const struct perf_event_attr *attr,
                          pid_t pid,
                          int cpu,
                          int cgroup_fd)
{
  RightsRequest request = { .kind = ASK_EVENT, .pid = cgroup_fd >= 0 ? -1 : pid };

  request.event.cpu = cpu;
  request.event.attr = *attr;
  return ask (socket, &request, cgroup_fd, NULL);
}

int
sysprof_rights_ask_process_file (int socket, pid_t pid, ProcessFile file)
{
  const RightsRequest request = { .kind = ASK_PROCESS_FILE, .pid = pid, .number = file };

  return ask (socket, &request, -1, NULL);
}

int
sysprof_rights_ask_mapped_file (int socket, const ExecutableMapping *mapping)
{
  const RightsRequest request = { .kind = ASK_MAPPED_FILE, .mapping = *mapping };

  return ask (socket, &request, -1, NULL);
}

uint64_t
sysprof_rights_ask_namespace (int socket, pid_t pid, ProcessNamespace which)
{
  const RightsRequest request = { .kind = ASK_NAMESPACE, .pid = pid, .number = which };
  uint64_t inode;

  return ask (socket, &request, -1, &inode) == 0 ? inode : 0;
}

int
sysprof_rights_ask_kallsyms (int socket)
{
  const RightsRequest request = { .kind = ASK_KALLSYMS };

  return ask (socket, &request, -1, NULL);
}

int
sysprof_rights_ask_switch_format (int socket)
{
  const RightsRequest request = { .kind = ASK_SWITCH_FORMAT };

  return ask (socket, &request, -1, NULL);
}

bool
sysprof_rights_ask_walker_maps (int socket, WalkProgram *program)
{
  const RightsRequest request = { .kind = ASK_WALKER_MAPS };

  *program = (WalkProgram) WALK_PROGRAM_INIT;
  program->index_fd = ask (socket, &request, -1, NULL);
  return program->index_fd >= 0;
}

int
sysprof_rights_ask_walker (int socket, uint32_t most_addresses, bool by_lists)
{
  const RightsRequest request = { .kind = ASK_WALKER, .walker = { most_addresses, by_lists } };

  return ask (socket, &request, -1, NULL);
}

int
sysprof_rights_wait_for_walker (int promise)
{
  int fd = receive_answer (promise, NULL);
  int saved = errno;

  (void) close (promise);
  errno = saved;
  return fd;
}

int
sysprof_rights_ask_waits (int socket)
{
  const RightsRequest request = { .kind = ASK_WAITS };

  return ask (socket, &request, -1, NULL);
}

bool
sysprof_rights_wait_for_waits (int promise, WaitsProgram *program)
{
  bool is_whole = true;
  int saved;

  for (unsigned i = 0; i < N_WAITS_FDS; i++)
    {
      program->fd[i] = is_whole ? receive_answer (promise, NULL) : -1;
      is_whole = program->fd[i] >= 0;
    }

  saved = errno;
  (void) close (promise);
  if (!is_whole)
    sysprof_waits_program_clear (program);
  errno = saved;
  return is_whole;
}

int
sysprof_rights_ask_slab (int socket, uint32_t index)
{
  const RightsRequest request = { .kind = ASK_SLAB, .number = index };

  return ask (socket, &request, -1, NULL);
}

bool
sysprof_rights_ask_output (int socket, uint32_t index, int event_fd)
{
  const RightsRequest request = { .kind = ASK_OUTPUT, .number = index };
  uint64_t nothing;

  return ask (socket, &request, event_fd, &nothing) == 0;
}
