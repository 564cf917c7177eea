// SPDX-License-Identifier: GPL-3.0-or-later

/* Which tasks there are. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Appends the threads of `pid`, of type pid_t. FALSE with errno when there is no such process. */
bool sysprof_tasks_append_threads (GArray *tasks, pid_t pid);

/* Appends the threads of all processes of user `uid`. */
void sysprof_tasks_append_of_user (GArray *tasks, uid_t uid);

/* The numbers in /proc: all processes, of type int32_t. *(full)* */
GArray *sysprof_tasks_list_processes (void);

/* The effective user of a process from its status. FALSE when it has ended. */
bool sysprof_tasks_get_user (int status_fd, uid_t *uid);
