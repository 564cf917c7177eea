// SPDX-License-Identifier: GPL-3.0-or-later

/* Files that nobody else sees. */

#pragma once

/* A file without a name where temporary files are (TMPDIR), for reading and writing; gone with its last
 * descriptor. -1 with errno. */
int sysprof_open_temporary (void);
