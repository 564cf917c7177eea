// SPDX-License-Identifier: GPL-3.0-or-later

/* Temporary files: with a name that is removed if a signal ends the program, or without a name.
 *
 *   sysprof_temporary_files_remove_on_signals ();
 *   …
 *   fd = sysprof_temporary_file_create (temporary, O_WRONLY | O_CLOEXEC, 0600);
 *   … write, rename () …
 *   sysprof_temporary_file_forget (temporary);
 *
 * The list of named files is global, because signal handlers are: programs use it, libraries
 * must not. All functions but the last two are for the main thread. */

#pragma once

#include <sys/types.h>

/* From now on SIGHUP, SIGINT, SIGQUIT and SIGTERM first remove the listed files and then end
 * the program. Replaces the handler of each signal that is not ignored. */
void sysprof_temporary_files_remove_on_signals (void);

/* Adds a copy of `path` to the list. Does nothing if the path is too long or the list is full:
 * then a signal leaves the file behind. */
void sysprof_temporary_file_add (const char *path);

/* Creates a file as mkstemp() does, with flags and permissions: replaces the XXXXXX at the end
 * of `path`. Adds the file to the list before it exists, so that a signal at any time removes
 * it. -1 with errno. */
int sysprof_temporary_file_create (char *path, int flags, mode_t permissions);

/* Takes the file off the list: it is complete, or removed. Ignores NULL and unknown paths. */
void sysprof_temporary_file_forget (const char *path);

/* Removes the listed files, for callers of _exit(). Safe in a signal handler. */
void sysprof_temporary_files_remove (void);

/* Opens a file without a name in the directory for temporary files (TMPDIR), for reading and
 * writing. It vanishes when its last descriptor is closed. -1 with errno. Any thread. */
int sysprof_temporary_file_open_unnamed (void);
