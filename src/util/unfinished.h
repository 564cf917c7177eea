// SPDX-License-Identifier: GPL-3.0-or-later

/* Files that shall not be left behind when a signal ends the program: those with a name for the time until they are whole.
 *
 *   sysprof_unfinished_watch_signals ();
 *   …
 *   fd = sysprof_unfinished_create (temporary, O_WRONLY | O_CLOEXEC, 0600);
 *   … write, rename () …
 *   sysprof_unfinished_forget (temporary);
 *
 * The list is the process's, as its signals are; it is for programs, not for libraries. On the main thread. */

#pragma once

#include <sys/types.h>

/* From now on ^C and its like (SIGHUP, SIGINT, SIGQUIT, SIGTERM) end the program, and remove what is unfinished before: in the
 * place of whatever handled them, but not where they are ignored. */
void sysprof_unfinished_watch_signals (void);

/* `path` is copied. One that is too long, or comes after MOST_UNFINISHED others, is not removed: it is a courtesy. */
void sysprof_unfinished_add (const char *path);

/* As mkstemp(), with flags and permissions: `path`, which ends in XXXXXX, gets the name of a new file, and that is added before
 * the file is there, so that no signal comes between. -1 with errno where there can be none. */
int sysprof_unfinished_create (char *path, int flags, mode_t permissions);

/* It is whole, or gone. NULL and unknown names are nothing to do. */
void sysprof_unfinished_forget (const char *path);

/* For who leaves at once, by _exit() say. Safe in a signal handler. */
void sysprof_unfinished_remove (void);
