// SPDX-License-Identifier: GPL-3.0-or-later

/* Programs in another PID namespace, as in a container, write the numbers that their process
 * and threads have there. */

#pragma once

#include <sys/types.h>

/* Returns the number that process `pid` has in its own PID namespace. 0: the same number, or
 * unknown. */
pid_t sysprof_ring_find_inner_pid (pid_t pid);

/* Returns the thread of process `pid` that has the number `inner` in its PID namespace; -1 if it
 * has exited. Not for processes with many threads: it reads one file per thread. */
pid_t sysprof_ring_find_thread (pid_t pid, pid_t inner);
