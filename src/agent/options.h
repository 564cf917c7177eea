// SPDX-License-Identifier: GPL-3.0-or-later

/* The command line of sysprof-agent. Its options are those of version 3.46, because development
 * environments write them. */

#pragma once

#include <gio/gio.h>
#include <sysprof.h>

typedef struct
{
  char *capture;      /* path of the capture */
  char *directory;    /* of the command; NULL = that of the agent */
  char **environment; /* KEY=VALUE; NULL = none */
  gboolean clear_environment;
  GArray *forwarded; /* [int] descriptors that the command gets under the same numbers */
  int read_fd;       /* of the D-Bus connection; -1 = none */
  int write_fd;
  char *power_profile; /* NULL = unchanged */
  gboolean no_throttle;
  gboolean decode;
  gboolean gjs;
  gboolean use_trace_fd;
  gboolean version;
  char *help;         /* NULL = not requested */
  char **command;     /* NULL = none */
  gboolean *selected; /* [n] in the order of the table of instruments */
} AgentOptions;

/* FALSE with `error` for a wrong command line. */
gboolean
sysprof_agent_options_parse (AgentOptions *self, int argc, char **argv, GError **error);
void sysprof_agent_options_clear (AgentOptions *self);

/* A profiler with the instruments and the command that were requested. *(full)*; NULL with
 * `error` if a descriptor cannot be passed. */
SysprofProfiler *sysprof_agent_options_create_profiler (const AgentOptions *self,
                                                        GError **error);
