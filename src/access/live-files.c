// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens the file of a mapping in a child process. There are several ways to the file, and the
 * cheap ones come first. A path can lead to another file: in another mount namespace, to a file
 * that has replaced the mapped one, or to a pipe that blocks. So only a regular file with the
 * same inode is accepted. /proc/PID/map_files leads to the mapped file even if it was deleted,
 * but requires more privileges. */

#include "access/live-files.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DEBUG_DIRECTORY "/usr/lib/debug/.build-id"

typedef struct
{
  ExecutableMapping mapping;
  bool only_look;
  bool is_debug_file; /* the debug file at `path`, not the file of a mapping */
  bool is_given;      /* the request comes with an envelope that contains the file */
  char path[PATH_MAX];
} Request;

/* --- the child: plain C --- */

static bool
is_same (const ExecutableMapping *mapping, const struct stat *info)
{
  return S_ISREG (info->st_mode) && info->st_ino == mapping->inode &&
         info->st_dev == makedev (mapping->device_major, mapping->device_minor);
}

/* The file is identified before it is opened for reading. A process that maps a file may
 * replace it by a link to a device, which root must not open. */
static int
reach_by_path (const Request *request, const char *path, struct stat *info)
{
  autofd path_fd = open (path, O_PATH | O_CLOEXEC);

  if (path_fd < 0)
    return -1;
  if (fstat (path_fd, info) != 0 || !is_same (&request->mapping, info))
    {
      errno = ESTALE;
      return -1;
    }
  return request->only_look ? OPENER_NOTHING : sysprof_regular_file_reopen (path_fd, info);
}

/* The part of the path below the root directory of the process. /proc/PID/maps shows paths from
 * the root of the mount namespace if the reader has another root. NULL if the path does not
 * start with the root directory. */
static const char *
find_rest (int32_t pid, const char *path)
{
  char link[64], root[PATH_MAX];
  ssize_t size;

  (void) snprintf (link, sizeof link, "/proc/%d/root", pid);
  size = readlink (link, root, sizeof root);
  return size > 1 && strncmp (path, root, (size_t) size) == 0 && path[size] == '/' ? path + size
                                                                                   : NULL;
}

static int
reach_below_root (const Request *request, const char *rest, struct stat *info)
{
  char path[PATH_MAX + 32];

  (void) snprintf (path, sizeof path, "/proc/%d/root%s", request->mapping.pid, rest);
  return reach_by_path (request, path, info);
}

static int
check_regular (int fd, struct stat *info)
{
  if (fd < 0 || (fstat (fd, info) == 0 && S_ISREG (info->st_mode)))
    return fd;

  (void) close (fd);
  errno = ESTALE;
  return -1;
}

static int
reach_file (const ChildRequest *call, struct stat *info)
{
  const Request *request = call->bytes;
  int fd = -1;

  if (request->is_given)
    return check_regular (sysprof_envelope_open (call->fd), info);

  if (request->is_debug_file)
    return sysprof_regular_file_open (AT_FDCWD, request->path, 0, info);

  if (request->path[0] == '/')
    {
      const char *rest;

      fd = reach_by_path (request, request->path, info);
      if (fd == -1)
        fd = reach_below_root (request, request->path, info);
      if (fd == -1 && (rest = find_rest (request->mapping.pid, request->path)) != NULL)
        fd = reach_below_root (request, rest, info);
    }
  return fd != -1 ? fd
                  : check_regular (sysprof_rights_open_mapped_file (&request->mapping), info);
}

static const ChildService service = { OPENER_SERVICE, .name = "mapped files",
                                      .request_size = sizeof (Request), .open = reach_file };

/* --- the parent --- */

/* A key for files that may share an unresponsive server: the directory and its device. */
static uint64_t
place_of (const LiveMapping *mapping)
{
  const char *slash = strrchr (mapping->path, '/');
  g_autofree char *directory =
      g_strndup (mapping->path, slash != NULL ? (gsize) (slash - mapping->path) : 0);

  return (uint64_t) mapping->device_major << 52 ^ (uint64_t) mapping->device_minor << 32 ^
         g_str_hash (directory);
}

static int
ask (LiveFiles *self, const LiveMapping *mapping, bool only_look, struct stat *info)
{
  Request request = {
    .mapping = {
      .pid = mapping->pid,
      .device_major = mapping->device_major,
      .device_minor = mapping->device_minor,
      .inode = mapping->inode,
      .start = mapping->start,
      .end = mapping->end,
    },
    .only_look = only_look,
  };
  uint64_t place = place_of (mapping);
  autofd given = -1;
  int envelope;

  if (g_strlcpy (request.path, mapping->path, sizeof request.path) >= sizeof request.path)
    request.path[0] = '\0';
  envelope = sysprof_opener_ask (&self->opener, &service, place, &request, -1, info);
  if (envelope >= 0 || (errno != EACCES && errno != EPERM))
    return envelope;

  given = sysprof_privilege_open_mapped_file (self->privilege, &request.mapping);
  if (given < 0)
    return -1;
  request.is_given = true;
  return sysprof_opener_ask (&self->opener, &service, place, &request, given, info);
}

void
sysprof_live_files_init (LiveFiles *self, Privilege *privilege)
{
  *self = (LiveFiles){ .privilege = privilege, .opener = OPENER_INIT };
  /* if that fails, the first request starts it */
  (void) sysprof_opener_start (&self->opener, &service);
}

void
sysprof_live_files_clear (LiveFiles *self)
{
  sysprof_opener_clear (&self->opener);
}

/* A copy of this process's vDSO, which is the same in all processes. */
static int
open_vdso (void)
{
  uintptr_t start = getauxval (AT_SYSINFO_EHDR);
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  autofd fd = memfd_create ("vdso", MFD_CLOEXEC);

  if (start == 0 || fd < 0)
    return -1;

  /* The vDSO is a few pages long, and only its mapping has the exact size. write() fails at the
   * end of the mapping. */
  for (size_t i = 0; i < 16; i++)
    if (write (fd, (const void *) (start + i * page), page) <= 0)
      break;
  return sysprof_steal_fd (&fd);
}

int
sysprof_live_files_open (LiveFiles *self, const LiveMapping *mapping, struct stat *info)
{
  autofd vdso = mapping->inode == 0 ? open_vdso () : -1;

  return mapping->inode != 0 ? ask (self, mapping, false, info)
                             : sysprof_live_files_wrap (vdso, info);
}

int
sysprof_live_files_open_debug (LiveFiles *self, const uint8_t *build_id, size_t size)
{
  Request request = { .is_debug_file = true };
  g_autoptr (GString) path = g_string_new (DEBUG_DIRECTORY "/");
  struct stat info;

  for (size_t i = 0; i < size; i++)
    g_string_append_printf (path, i == 0 ? "%02x/" : "%02x", build_id[i]);
  g_string_append (path, ".debug");
  if (size < 2 ||
      g_strlcpy (request.path, path->str, sizeof request.path) >= sizeof request.path)
    return -1;
  return sysprof_opener_ask (&self->opener, &service, g_str_hash (DEBUG_DIRECTORY), &request,
                             -1, &info);
}

bool
sysprof_live_files_look (LiveFiles *self, const LiveMapping *mapping, struct stat *info)
{
  autofd envelope = ask (self, mapping, true, info);

  return envelope >= 0 || errno == 0;
}

int
sysprof_live_files_wrap (int fd, struct stat *info)
{
  return fd >= 0 && fstat (fd, info) == 0 ? sysprof_envelope_seal (fd) : -1;
}
