// SPDX-License-Identifier: GPL-3.0-or-later

/* Keeps one child per user and opens files with that user's rights. Must never open such a
 * file in this process. */

#include "util/children/process-files.h"

#include "util/autofd.h"
#include "util/regular-file.h"
#include "util/write-all.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COPY_CHUNK 0x4000

typedef enum
{
  WANTS_FILE,
  WANTS_COPY,
  WANTS_STATUS, /* the status of the file in the envelope */
} Wanted;

typedef struct
{
  uint32_t wanted; /* Wanted */
  uint32_t flags;  /* ProcessFileFlags */
  uint64_t most_copied;
  char path[PATH_MAX];
} Request;

/* --- the child: plain C --- */

static bool
drop_capabilities (void)
{
  struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

  return syscall (SYS_capset, &header, none) == 0;
}

/* Errors that are accepted: the kernel has no keyrings, or the seccomp filter of a container
 * forbids them to all its processes. */
static bool
leave_session_keyring (void)
{
  return syscall (SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS ||
         errno == EPERM;
}

/* An ordinary user cannot change groups. But then each process of that user has the user's own
 * rights, and nothing has to be changed. FALSE with errno. */
static bool
become (const ProcessUser *user)
{
  bool is_own = user->uid == getuid () && user->uid == geteuid ();
  bool is_taken;

  if (prctl (PR_SET_DUMPABLE, 0) != 0 || !leave_session_keyring ())
    return false;
  is_taken = setgroups (user->n_groups, user->groups) == 0 &&
             setresgid (user->gid, user->gid, user->gid) == 0 &&
             setresuid (user->uid, user->uid, user->uid) == 0;
  if (!is_taken && !is_own)
    {
      errno = EPERM; /* also for an ID that our user namespace does not map */
      return false;
    }

  /* A change of user resets the first two. */
  return prctl (PR_SET_DUMPABLE, 0) == 0 && prctl (PR_SET_PDEATHSIG, SIGKILL) == 0 &&
         prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && drop_capabilities ();
}

/* The parent sends the user with the first request. */
static bool
become_user (const ChildRequest *request)
{
  static int error;

  if (request->payload_size > 0)
    error = become (request->payload) ? 0 : errno;
  errno = error;
  return error == 0;
}

static int
copy_file (int fd, uint64_t most)
{
  autofd copy = memfd_create ("file", MFD_CLOEXEC);
  char bytes[COPY_CHUNK];
  ssize_t n = 1;

  if (copy < 0)
    return -1;
  for (; most > 0 && n > 0; most -= (uint64_t) n)
    {
      n = read (fd, bytes, most < sizeof bytes ? (size_t) most : sizeof bytes);
      if (n < 0 || !sysprof_write_all (copy, bytes, (size_t) n))
        return -1;
    }
  return sysprof_steal_fd (&copy);
}

static int
look_at (int envelope, struct stat *info)
{
  autofd fd = sysprof_envelope_open (envelope);

  return fd >= 0 && fstat (fd, info) == 0 ? OPENER_NOTHING : -1;
}

static int
open_file (const ChildRequest *call, struct stat *info)
{
  const Request *request = call->bytes;
  uint64_t resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  autofd own_root = -1, fd = -1;

  if (!become_user (call))
    return -1;
  if (request->wanted == WANTS_STATUS)
    return look_at (call->fd, info);

  if ((request->flags & PROCESS_FILE_FOLLOW_LINKS) == 0)
    resolve |= RESOLVE_NO_SYMLINKS;
  if (call->fd < 0)
    own_root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  fd = sysprof_regular_file_open (call->fd >= 0 ? call->fd : own_root, request->path, resolve,
                                  info);
  if (fd < 0 || request->wanted == WANTS_FILE)
    return sysprof_steal_fd (&fd);
  return copy_file (fd, request->most_copied);
}

static const ChildService service = { OPENER_SERVICE, .name = "files of a process",
                                      .request_size = sizeof (Request), .open = open_file };

/* --- the parent --- */

static void
clear_user (UserOpener *user)
{
  if (user->user == NULL)
    return;
  sysprof_opener_clear (&user->opener);
  sysprof_process_user_free (user->user);
  *user = (UserOpener){ 0 };
}

/* NULL: out of memory. */
static UserOpener *
find_user (ProcessFiles *self, const ProcessUser *user)
{
  UserOpener *found = &self->users[0];

  for (unsigned i = 0; i < PROCESS_FILES_MOST_USERS; i++)
    {
      UserOpener *each = &self->users[i];

      if (each->user != NULL && sysprof_process_user_equal (each->user, user))
        return each;
      if (each->last_use < found->last_use) /* 0 = free */
        found = each;
    }

  clear_user (found);
  found->opener = (Opener) OPENER_INIT;
  found->user = sysprof_process_user_copy (user);
  found->opener.introduction = found->user;
  found->opener.introduction_size = sizeof *user + user->n_groups * sizeof *user->groups;
  return found->user != NULL ? found : NULL;
}

static int
ask (ProcessFiles *self,
     const ProcessUser *user,
     const Request *request,
     int given,
     struct stat *info)
{
  UserOpener *found = find_user (self, user);
  const char *slash = strrchr (request->path, '/');
  uint64_t place =
      5381; /* hash of the directory: a directory that does not answer must not affect others */

  *info = (struct stat){ 0 };
  if (found == NULL)
    return -1;
  for (const char *at = request->path; slash != NULL && at < slash; at++)
    place = place * 33 + (uint8_t) *at;

  found->last_use = ++self->n_uses;
  found->opener.has_stop_fd = self->has_stop_fd;
  found->opener.stop_fd = self->stop_fd;
  return sysprof_opener_ask (&found->opener, &service, place, request, given, info);
}

int
sysprof_process_files_open (ProcessFiles *self,
                            const ProcessUser *user,
                            int root,
                            const char *path,
                            ProcessFileFlags flags,
                            size_t most_copied,
                            struct stat *info)
{
  Request request = { .wanted = most_copied > 0 ? WANTS_COPY : WANTS_FILE,
                      .flags = flags,
                      .most_copied = most_copied };

  if (strlen (path) >= sizeof request.path)
    {
      errno = ENAMETOOLONG;
      return -1;
    }
  strcpy (request.path, path);
  return ask (self, user, &request, root, info);
}

bool
sysprof_process_files_stat (ProcessFiles *self,
                            const ProcessUser *user,
                            int envelope,
                            struct stat *info)
{
  const Request request = { .wanted = WANTS_STATUS };

  return ask (self, user, &request, envelope, info) == -1 && errno == 0;
}
