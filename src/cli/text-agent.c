// SPDX-License-Identifier: GPL-3.0-or-later

/* Starts pkttyagent(1) of polkit. See text-agent.h. */

#include "cli/text-agent.h"

#include "util/util.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_MSEC 3000
#define NOTIFY_FD  "3" /* of the agent: it closes this when polkit knows it */

/* PID,START: polkit does not find the agent without the start time, the 22nd field. NULL if
 * /proc cannot be read. */
static char *
describe_process (void)
{
  g_autofree char *stat = NULL;
  g_auto (GStrv) fields = NULL;

  if (!g_file_get_contents ("/proc/self/stat", &stat, NULL, NULL))
    return NULL;
  fields = g_strsplit (strrchr (stat, ')'), " ", 22); /* the first one here is the 2nd */
  return g_strdup_printf ("%d,%s", (int) getpid (), fields[20]);
}

bool
sysprof_cli_asks_service (const CliOptions *options)
{
  return !options->no_sysprofd && !options->no_perf && options->sampler.n_pids == 0 &&
         options->sampler.n_tids == 0;
}

void
sysprof_cli_text_agent_end (GSubprocess **self)
{
  if (*self != NULL)
    g_subprocess_force_exit (*self);
  g_clear_object (self);
}

GSubprocess *
sysprof_cli_text_agent_start (const CliOptions *options)
{
  g_autofree char *program = g_find_program_in_path ("pkttyagent");
  g_autofree char *process = describe_process ();
  g_autoptr (GSubprocessLauncher) launcher = NULL;
  g_autoptr (GSubprocess) agent = NULL;
  autofd terminal = open ("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  int ends[2];
  struct pollfd ready;

  if (!sysprof_cli_asks_service (options) || !sysprof_may_need_service () ||
      g_getenv ("DESKTOP_SESSION") != NULL || program == NULL || process == NULL ||
      terminal < 0 || pipe2 (ends, O_CLOEXEC) != 0)
    return NULL;
  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_subprocess_launcher_take_fd (launcher, ends[1], atoi (NOTIFY_FD));
  agent = g_subprocess_launcher_spawn (launcher, NULL, program, "--notify-fd", NOTIFY_FD,
                                       "--process", process, NULL);
  g_subprocess_launcher_close (launcher);
  ready = (struct pollfd){ .fd = ends[0] };
  if (agent != NULL)
    (void) poll (&ready, 1, START_MSEC); /* an agent that is late asks later */
  (void) close (ends[0]);
  return g_steal_pointer (&agent);
}
