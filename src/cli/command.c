// SPDX-License-Identifier: GPL-3.0-or-later

/* Looks for the command before the recording, and checks afterwards whether it still runs. */

#include "cli/command.h"

#include "util/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *
advice_on_command (int number)
{
  switch (number)
    {
    case EACCES:
      return "Make it executable with 'chmod +x', and check the permissions of its directories.";
    case EISDIR:
      return "Name a program in it.";
    default:
      return "Check the name; write a command with arguments after --, as separate words.";
    }
}

bool
sysprof_cli_find_command (const CliOptions *options, GError **error)
{
  const char *name = options->command != NULL ? options->command[0] : NULL;
  g_autofree char *path = NULL;
  struct stat info;

  if (name == NULL || sysprof_runs_on_host (name))
    return true;
  if (strchr (name, '/') != NULL)
    {
      if (access (name, X_OK) == 0 && stat (name, &info) == 0)
        {
          if (!S_ISDIR (info.st_mode))
            return true;
          errno = EISDIR;
        }
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED, "Cannot start '%s': %s. %s",
                   name, g_strerror (errno), advice_on_command (errno));
      return false;
    }
  path = g_find_program_in_path (name);
  if (path != NULL)
    return true;
  g_set_error (
      error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
      "Cannot start '%s': there is no such program in PATH. Install it, or give its path.",
      name);
  return false;
}

const char *
sysprof_cli_get_running_command (GSubprocess *subprocess)
{
  const char *identifier = subprocess != NULL ? g_subprocess_get_identifier (subprocess) : NULL;
  siginfo_t info = { 0 };

  /* The command may have ended before GLib noticed. waitid() checks that and leaves the
   * process for GLib. */
  return identifier != NULL &&
                 waitid (P_PID, (id_t) atoi (identifier), &info, WEXITED | WNOHANG | WNOWAIT) ==
                     0 &&
                 info.si_pid == 0
             ? identifier
             : NULL;
}
