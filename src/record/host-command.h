// SPDX-License-Identifier: GPL-3.0-or-later

/* Programs that run outside of the Flatpak sandbox of the recorder. The program
 * sysprof-host-command (src/tools) runs them and behaves as they do. */

#pragma once

#include <glib.h>
#include <stdbool.h>

/* `environment`: NULL-terminated, of the program; NULL = empty. Variables that it shares with
 * this process are those of the sandbox: the host has its own. `cwd`: NULL = ours. `fds`: [int]
 * numbers of the descriptors of the program. *(full)*, NULL-terminated. */
char **sysprof_host_command_dup_argv (const char *const *argv,
                                      const char *const *environment,
                                      const char *cwd,
                                      const GArray *fds);
