// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens files that a process names, with the rights of that process's user and no more.
 *
 * A process controls where its paths lead: by links, by bind mounts, by a root directory of its
 * own. Root must not read a file on its behalf that its user may not read, because the content
 * ends up in captures that are passed on. The rule: *content of a file enters a capture only if
 * the user whose process it describes could read that file.* So for each user there is a child
 * that has taken on this user's ID, group and supplementary groups and has no capability. The
 * caller passes the root directory of the process. The child opens below it with openat2(2) and
 * RESOLVE_IN_ROOT, and only regular files that store data (util/regular-file.h).
 *
 * The child does not join the process's user namespace, which could only add rights. The kernel
 * compares the owner of a file with the global ID of the caller, which is the same in every
 * user namespace. It consults the namespace only for capabilities, and setns(2) would grant all
 * of them there, even if the process has none. Without capabilities, the child may open a
 * subset of the files that the process may open. Security modules are the exception: an
 * AppArmor or SELinux profile of the process does not apply to the child.
 *
 * The child is not dumpable, as its memory is a copy of ours. It inherits no descriptors and no
 * session keyring (a keyring can hold tickets for network file systems). Its user may kill it
 * or stop it. It then counts as silent, which costs only the files of this user
 * (util/children/opener.h). */

#pragma once

#include "util/children/opener.h"
#include "util/children/process-user.h"

#define PROCESS_FILES_MOST_USERS 16 /* children at once; the least recently used one ends */

typedef struct
{
  ProcessUser *user; /* NULL = free */
  Opener opener;
  uint64_t last_use;
} UserOpener;

/* *Owned* by one thread, whose end ends the children. */
typedef struct
{
  bool has_stop_fd;
  int stop_fd; /* borrowed: once it is readable, nothing is opened any more */
  uint64_t n_uses;
  UserOpener users[PROCESS_FILES_MOST_USERS];
} ProcessFiles;

typedef enum
{
  PROCESS_FILE_FOLLOW_LINKS =
      1 << 0, /* symbolic links below the root; else they are refused: ELOOP */
} ProcessFileFlags;

/* Opens the file `path` below `root` as `user` and returns an envelope with it
 * (util/children/opener.h). `root` is the borrowed descriptor of a directory, -1 = our own
 * root. With `most_copied` = 0 the envelope has the file itself, and reading it may block. Else
 * it has a copy in memory of at most that many bytes from the start of the file.
 *
 * -1 with errno: ENOTSUP if it is not a regular file of a file system that stores data, EACCES
 * if that user may not read it, EPERM if the child could not become that user, ETIMEDOUT and
 * ECANCELED as of sysprof_opener_ask(). `info` describes the file as far as it was found, also
 * then; its size is that of the file, not of the copy. */
int sysprof_process_files_open (ProcessFiles *self,
                                const ProcessUser *user,
                                int root,
                                const char *path,
                                ProcessFileFlags flags,
                                size_t most_copied,
                                struct stat *info);

/* What is known now of the file in an envelope that sysprof_process_files_open() has returned.
 * FALSE with errno. */
bool sysprof_process_files_stat (ProcessFiles *self,
                                 const ProcessUser *user,
                                 int envelope,
                                 struct stat *info);
