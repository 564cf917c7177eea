// SPDX-License-Identifier: GPL-3.0-or-later

/* Files that shall not be left behind when a signal ends the program: those with a name for the time until they are whole.
 *
 *   sysprof_unfinished_watch_signals ();
 *   …
 *   sysprof_unfinished_add (temporary);
 *   … write, rename () …
 *   sysprof_unfinished_forget (temporary);
 *
 * The list is the process's, as its signals are; it is for programs, not for libraries. On the main thread. */

#pragma once

/* From now on ^C and its like (SIGHUP, SIGINT, SIGQUIT, SIGTERM) end the program, and remove what is unfinished before: in the
 * place of whatever handled them, but not where they are ignored. */
void sysprof_unfinished_watch_signals (void);

/* `path` is copied. One that is too long, or comes after MOST_UNFINISHED others, is not removed: it is a courtesy. */
void sysprof_unfinished_add (const char *path);

/* It is whole, or gone. NULL and unknown names are nothing to do. */
void sysprof_unfinished_forget (const char *path);

/* For who leaves at once, by _exit() say. Safe in a signal handler. */
void sysprof_unfinished_remove (void);
