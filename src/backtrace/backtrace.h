// SPDX-License-Identifier: GPL-3.0-or-later

/* backtrace: a program's own stack, for libraries that are loaded into other people's programs. Plain C; the walk itself takes no
 * lock, allocates nothing and calls no library, so that it can be made inside of malloc() and of signal handlers.
 *
 *   objects.c   which files are loaded, and their unwind tables
 *   stack.c     reading the stack, which may be a wrong one
 *   walk.c      the step of the walker in the kernel, over the thread's own stack
 *
 *   sysprof_backtrace_update ();                        once, and whenever sysprof_backtrace_is_outdated() says so
 *   n = sysprof_backtrace (addresses, MOST_ADDRESSES);  innermost first: the caller of the function that called
 *
 * All of it can be called by any thread. On machines whose tables are not known (other than x86-64) no stack has an address. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The addresses of the calling thread's stack, from that to which its caller will return on; 0 before the first update. It ends where
 * the thread begins, or where somebody outside of all files was called from. Async-signal-safe. */
size_t sysprof_backtrace (uint64_t *addresses, size_t most);

/* Makes tables of what is loaded and has none yet: some milliseconds the first time, a fraction of a microsecond where nothing was
 * loaded or unloaded since. Not from signal handlers. FALSE with errno: there is no memory. */
bool sysprof_backtrace_update (void);

/* Whether a walk has come to code that the last update did not know. Async-signal-safe. */
bool sysprof_backtrace_is_outdated (void);
