// SPDX-License-Identifier: GPL-3.0-or-later

/* Which tasks there are, and whose: all through the door to what needs rights. */

#pragma once

#include "record/privilege.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Appends the threads of `pid`, of type pid_t. FALSE with errno when there is no such process. */
bool sysprof_tasks_append_threads (GArray *tasks, Privilege *privilege, pid_t pid);

/* Appends the threads of all processes of user `uid`. */
void sysprof_tasks_append_of_user (GArray *tasks, Privilege *privilege, uid_t uid);

/* The numbers in /proc: all processes, of type int32_t. *(full)* */
GArray *sysprof_tasks_list_processes (Privilege *privilege);

/* The process of thread `tid`; 0 when it has ended. */
int32_t sysprof_tasks_find_process (Privilege *privilege, pid_t tid);

/* Whether a process or thread is there. */
bool sysprof_tasks_is_there (Privilege *privilege, pid_t id);

/* The effective user of a process from its status. FALSE when it has ended. */
bool sysprof_tasks_get_user (int status_fd, uid_t *uid);
