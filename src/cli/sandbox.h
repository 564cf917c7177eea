// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

/* Returns a warning for recordings inside a Flatpak sandbox that cannot see the host's files;
 * NULL otherwise. `info` is "/.flatpak-info", a file that Flatpak puts into each sandbox.
 * *(full)* */
char *sysprof_cli_dup_sandbox_warning (const char *info);
