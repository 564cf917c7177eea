// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

/* What a person must know who records from inside a Flatpak that does not see the machine's files; NULL elsewhere.
 * `info` is "/.flatpak-info", which Flatpak puts into each of its sandboxes. *(full)* */
char *sysprof_cli_dup_sandbox_warning (const char *info);
