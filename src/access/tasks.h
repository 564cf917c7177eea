// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds processes and threads in /proc. All access goes through `Privilege`. */

#pragma once

#include "access/privilege.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Appends the threads of `pid`, as pid_t. FALSE with errno if there is no such process. */
bool sysprof_tasks_append_threads (GArray *tasks, Privilege *privilege, pid_t pid);

/* Appends the threads of all processes of user `uid`. */
void sysprof_tasks_append_of_user (GArray *tasks, Privilege *privilege, uid_t uid);

/* Lists all processes in /proc, as int32_t. *(full)* */
GArray *sysprof_tasks_list_processes (Privilege *privilege);

/* The process of thread `tid`; 0 if it has exited. */
int32_t sysprof_tasks_find_process (Privilege *privilege, pid_t tid);

/* Whether the process or thread exists. */
bool sysprof_tasks_is_there (Privilege *privilege, pid_t id);

/* Reads the effective user of a process from its status file. FALSE if it has exited. */
bool sysprof_tasks_get_user (int status_fd, uid_t *uid);
