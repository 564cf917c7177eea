// SPDX-License-Identifier: GPL-3.0-or-later

/* GetProcFile and GetProcFd: files that the kernel writes. A path must be literally one of the
 * table. Files below the root or the working directory of a process belong to its user, and are
 * refused: each recorder reads them with the user's own rights. */

#include "rights/rights.h"
#include "sysprofd/sysprofd.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_PATH 128
#define CHUNK     65536 /* bytes of one read */

/* clang-format off */
static const char *const permitted[] = { /* # is a process ID */
  "/proc/#/cgroup", "/proc/#/cmdline", "/proc/#/comm", "/proc/#/maps", "/proc/#/mountinfo",
  "/proc/#/stat", "/proc/#/statm", "/proc/#/status",
  "/proc/cpuinfo", "/proc/diskstats", "/proc/kallsyms", "/proc/loadavg", "/proc/meminfo",
  "/proc/modules", "/proc/mounts", "/proc/stat", "/proc/uptime", "/proc/version",
  "/proc/vmstat",
  "/sys/devices/system/cpu/online", "/sys/devices/system/cpu/possible",
  "/sys/devices/system/cpu/present",
};
/* clang-format on */

static const char *const switch_format[] = {
  "/sys/kernel/debug/tracing/events/sched/sched_switch/format",
  "/sys/kernel/tracing/events/sched/sched_switch/format",
};

static bool
matches (const char *pattern, const char *path)
{
  for (; *pattern != '\0'; pattern++)
    {
      if (*pattern != '#' && *pattern != *path++)
        return false;
      if (*pattern == '#' && !isdigit ((unsigned char) *path))
        return false;
      while (*pattern == '#' && isdigit ((unsigned char) *path))
        path++;
    }
  return *path == '\0';
}

/* Opens a file below `root`. No link is followed, and the file is in the file system of `root`.
 * The unit denies openat2(). */
static int
open_below (const char *root, const char *path)
{
  int fd = open (root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat start, end;

  if (fd < 0 || fstat (fd, &start) != 0)
    return -1;

  while (fd >= 0 && *path != '\0')
    {
      size_t length = strcspn (path, "/");
      bool is_last = path[length] == '\0';
      char name[MOST_PATH];
      int parent = fd;

      (void) snprintf (name, sizeof name, "%.*s", (int) length, path);
      fd = openat (parent, name,
                   O_CLOEXEC | O_NOFOLLOW |
                       (is_last ? O_RDONLY | O_NOCTTY | O_NONBLOCK : O_PATH | O_DIRECTORY));
      (void) close (parent);
      path += length + !is_last;
    }
  if (fd < 0 || (fstat (fd, &end) == 0 && end.st_dev == start.st_dev))
    return fd;

  (void) close (fd);
  return -1;
}

/* The path is a link to the mounts of this process, which may be in a mount namespace of its
 * own. Process 1 has those of the machine. */
static int
open_mounts (void)
{
  int fd = open_below ("/proc", "1/mounts");
  char own[32];

  if (fd >= 0)
    return fd;

  (void) snprintf (own, sizeof own, "%d/mounts", getpid ());
  return open_below ("/proc", own);
}

static int
open_file (const char *path)
{
  for (size_t i = 0; i < sizeof switch_format / sizeof switch_format[0]; i++)
    if (strcmp (path, switch_format[i]) == 0)
      return sysprof_rights_open_switch_format ();
  for (size_t i = 0; i < sizeof permitted / sizeof permitted[0]; i++)
    {
      if (!matches (permitted[i], path))
        continue;
      if (strcmp (path, "/proc/mounts") == 0)
        return open_mounts ();
      if (strncmp (path, "/proc/", 6) == 0)
        return open_below ("/proc", path + 6);
      return open_below ("/sys", path + 5);
    }
  return -1;
}

/* The path is an array of bytes that ends with its only NUL. -1: not permitted, or missing. */
static int
open_requested (Call *call)
{
  BusReader *values = call->values;
  size_t end = sysprof_dbus_read_array (values, 1);
  size_t size = end - values->at;
  const char *path = (const char *) values->bytes + values->at;

  if (values->is_failed || size == 0 || size > MOST_PATH || strnlen (path, size) != size - 1)
    return -1;

  return open_file (path);
}

void
sysprof_run_get_proc_fd (Call *call)
{
  int fd = open_requested (call);

  if (fd >= 0)
    sysprof_reply_set_fd (&call->reply, fd);
  else
    sysprof_reply_fail (&call->reply, "AccessDenied", "Failed to load proc fd");
}

void
sysprof_run_get_proc_file (Call *call)
{
  BusWriter *body = &call->reply.body;
  int fd = open_requested (call);
  size_t array = sysprof_dbus_begin_array (body, 1);
  char *chunk = malloc (CHUNK);
  ssize_t n = -1;

  while (fd >= 0 && chunk != NULL && !body->is_failed && (n = read (fd, chunk, CHUNK)) > 0)
    sysprof_dbus_write_bytes (body, chunk, (size_t) n);
  sysprof_dbus_write_u8 (body, 0);
  sysprof_dbus_end_array (body, array, 1);
  free (chunk);
  if (fd >= 0)
    (void) close (fd);
  if (n < 0)
    sysprof_reply_fail (&call->reply, "AccessDenied", "Failed to load proc file");
}
