// SPDX-License-Identifier: GPL-3.0-or-later

/* The user whose rights a process has: user, group and supplementary groups, as the kernel
 * reports them in /proc/PID/status. Plain C, because children use it, too. */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct
{
  uint32_t uid;
  uint32_t gid;
  int32_t inner_pid; /* the process's number in its own PID namespace */
  uint32_t n_groups;
  uint32_t groups[]; /* [n_groups] */
} ProcessUser;

/* Reads the user of a process. If `root` is not NULL, also opens its root directory with
 * O_PATH: *root is the caller's, -1 if that is not permitted or the process is a zombie. Both
 * belong to the same process and were valid at the same time, even if the number is reused
 * meanwhile.
 *
 * NULL with errno: ESRCH or ENOENT for a process that has ended. EPERM if the real, effective,
 * saved and file-system IDs differ: a set-user-ID program acts for two users, and neither alone
 * decides which files it may read. EOVERFLOW if an ID is not mapped in our own user namespace,
 * because the kernel then reports the number of another user. */
ProcessUser *sysprof_process_user_read (pid_t pid, int *root);

/* The same of a text like /proc/PID/status. NULL with errno. */
ProcessUser *sysprof_process_user_parse (const char *status, size_t size);

ProcessUser *sysprof_process_user_copy (const ProcessUser *self);
/* Whether both have the same rights to files; their `inner_pid` may differ. */
bool sysprof_process_user_equal (const ProcessUser *self, const ProcessUser *other);
void sysprof_process_user_free (ProcessUser *self);
