// SPDX-License-Identifier: GPL-3.0-or-later

/* backtrace: a program's own stack, for libraries that are loaded into other programs. Plain C.
 * The walk itself takes no lock, allocates no memory and calls no library, so that it can be
 * used in malloc() and in signal handlers.
 *
 *   objects.c   the loaded files, and their unwind tables
 *   stack.c     reads the stack, even at an invalid address
 *   walk.c      the step of the walker in the kernel, over the thread's own stack
 *
 *   sysprof_backtrace_update ();              once, and when sysprof_backtrace_is_outdated()
 *   n = sysprof_backtrace (addresses, MOST);  innermost first: the caller of this function
 *
 * Any thread may call these functions. On machines without unwind tables here (other than
 * x86-64), all stacks are empty. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stores the addresses of the calling thread's stack, beginning with the return address of this
 * function's caller; 0 before the first update. The stack ends at the start of the thread, or
 * at a caller that is in no known file. Async-signal-safe. */
size_t sysprof_backtrace (uint64_t *addresses, size_t most);

/* Builds the tables of loaded files that have none yet. Takes some milliseconds the first time,
 * and a fraction of a microsecond if nothing was loaded or unloaded since. Must not be called
 * in signal handlers. FALSE with errno: out of memory. */
bool sysprof_backtrace_update (void);

/* Whether a walk has found code that the last update did not know. Async-signal-safe. */
bool sysprof_backtrace_is_outdated (void);
