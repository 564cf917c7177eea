// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens files at paths that a capture names. Only the opener child opens them, because opening
 * may block forever. */

#include "locate/open-file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <grp.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Below a root, absolute symbolic links are resolved below it. Anything but a regular file
 * counts as missing. */
static int
open_regular_file (int root, const char *path)
{
  struct stat info;
  int fd = root < 0 ? sysprof_regular_file_open (AT_FDCWD, path, 0, &info)
                    : sysprof_regular_file_open (
                          root, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS, &info);

  if (fd < 0 && errno == ENOTSUP)
    errno = ENOENT;
  return fd;
}

typedef struct
{
  OpenMode mode;
  uint32_t reader;
  char path[PATH_MAX];
} Request;

static bool
is_elf (int fd)
{
  char magic[SELFMAG];

  return pread (fd, magic, sizeof magic, 0) == sizeof magic &&
         memcmp (magic, ELFMAG, sizeof magic) == 0;
}

/* Opens the path with O_PATH only, which has no side effects. */
static int
write_real_path (const char *of, struct stat *info)
{
  autofd fd = open (of, O_PATH | O_CLOEXEC);
  autofd text = memfd_create ("path", MFD_CLOEXEC);
  char link[64], path[PATH_MAX];
  ssize_t length;

  if (fd < 0 || fstat (fd, info) != 0 || !S_ISREG (info->st_mode))
    return -1;
  (void) snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink (link, path, sizeof path);
  if (text < 0 || length < 0 || !sysprof_write_all (text, path, (size_t) length))
    return -1;
  return sysprof_steal_fd (&text);
}

/* Takes ownership of the descriptor. If the file grows meanwhile, the copy ends at its previous
 * size. */
static int
copy_text_of (int taken, struct stat *info)
{
  autofd fd = taken;
  autofd text = memfd_create ("text", MFD_CLOEXEC);
  char bytes[0x4000];
  off_t size = 0;
  ssize_t n = 0;

  if (text < 0 || fstat (fd, info) != 0)
    return -1;
  if (info->st_size > MOST_SOURCE_SIZE)
    {
      errno = EFBIG;
      return -1;
    }
  while (size < info->st_size &&
         (n = read (fd, bytes, (size_t) MIN ((off_t) sizeof bytes, info->st_size - size))) > 0)
    {
      if (!sysprof_write_all (text, bytes, (size_t) n))
        return -1;
      size += n;
    }
  if (n < 0)
    return -1;
  info->st_size = size;
  return sysprof_steal_fd (&text);
}

/* Takes on the file access rights of an account. The kernel drops the capabilities that
 * override file permissions when the file system user ID is no longer 0, and restores them with
 * it. */
static bool
use_rights_of (uint32_t user, uint32_t group)
{
  (void) setfsgid (group);
  (void) setfsuid (user);
  return (uint32_t) setfsuid (UINT32_MAX) == user &&
         (uint32_t) setfsgid (UINT32_MAX) == group &&
         (prctl (PR_GET_SECUREBITS) & SECBIT_NO_SETUID_FIXUP) == 0;
}

static int
open_for_reader (int root, const Request *request)
{
  int fd = -1, error = EPERM;

  if (request->reader == READER_OURSELVES)
    return open_regular_file (root, request->path);

  if (setgroups (0, NULL) == 0 && use_rights_of (request->reader, READER_NOBODY))
    {
      fd = open_regular_file (root, request->path);
      error = errno;
    }
  if (!use_rights_of (geteuid (), getegid ()))
    _exit (1);
  errno = error;
  return fd;
}

/* Runs in the opener, below the root. */
static int
open_asked_file (const ChildRequest *call, struct stat *info)
{
  const Request *request = call->bytes;
  autofd fd = -1;

  if (request->mode == OPEN_REAL_PATH)
    return write_real_path (request->path, info);
  fd = open_for_reader (call->fd, request);
  if (fd >= 0 && request->mode == OPEN_TEXT_COPY)
    return copy_text_of (sysprof_steal_fd (&fd), info);
  if (fd >= 0 && request->mode == OPEN_ELF_FILE && !is_elf (fd))
    {
      errno = ENOEXEC;
      return -1;
    }
  return fd >= 0 && fstat (fd, info) == 0 ? sysprof_steal_fd (&fd) : -1;
}

static const ChildService service = { OPENER_SERVICE, .name = "files below roots",
                                      .request_size = sizeof (Request),
                                      .open = open_asked_file };

int
sysprof_open_file (Opener *opener,
                   OpenMode mode,
                   uint32_t reader,
                   int root,
                   const char *path,
                   struct stat *info)
{
  g_autofree char *directory = g_path_get_dirname (path);
  Request request = { .mode = mode, .reader = reader };

  if (g_strlcpy (request.path, path, sizeof request.path) < sizeof request.path)
    return sysprof_opener_ask (opener, &service,
                               (uint64_t) (root + 1) << 32 | g_str_hash (directory), &request,
                               root, info);
  errno = ENAMETOOLONG;
  return -1;
}

static char *
find_real_file (Opener *opener, const char *path, struct stat *info)
{
  autofd envelope =
      sysprof_open_file (opener, OPEN_REAL_PATH, READER_OURSELVES, -1, path, info);
  autofd text = envelope >= 0 ? sysprof_envelope_open (envelope) : -1;
  char real[PATH_MAX];
  ssize_t length = text >= 0 ? pread (text, real, sizeof real, 0) : -1;

  return length > 0 && real[0] == '/' ? g_strndup (real, (gsize) length) : NULL;
}

char *
sysprof_find_real_path (Opener *opener, const char *path)
{
  struct stat info;

  return find_real_file (opener, path, &info);
}

/* Another user may have prepared the path of a file that is found through symbolic links, or
 * only below the root directory of a process. Paths that such a file names are opened as
 * nobody. */
uint32_t
sysprof_find_reader (Opener *opener, int root, const char *path, const struct stat *info)
{
  g_autofree char *real = NULL;
  struct stat found;

  if (geteuid () != 0)
    return READER_OURSELVES;
  real = root < 0 ? find_real_file (opener, path, &found) : NULL;
  if (real == NULL || strcmp (real, path) != 0 || found.st_dev != info->st_dev ||
      found.st_ino != info->st_ino)
    return READER_NOBODY;
  return found.st_uid != 0 ? found.st_uid : READER_OURSELVES;
}
