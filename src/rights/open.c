// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens what a recording needs privileges for, with the privileges of the caller. All paths are
 * composed here from numbers and constant names. */

#include "rights/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_PATH 96

/* clang-format off */
static const char *const process_files[] = {
  [PROCESS_CGROUP]    = "cgroup",
  [PROCESS_CMDLINE]   = "cmdline",
  [PROCESS_COMM]      = "comm",
  [PROCESS_MAPS]      = "maps",
  [PROCESS_MOUNTINFO] = "mountinfo",
  [PROCESS_STATUS]    = "status",
};

static const char *const namespaces[] = {
  [PROCESS_NS_CGROUP] = "cgroup",
  [PROCESS_NS_IPC]    = "ipc",
  [PROCESS_NS_MNT]    = "mnt",
  [PROCESS_NS_NET]    = "net",
  [PROCESS_NS_PID]    = "pid",
  [PROCESS_NS_TIME]   = "time",
  [PROCESS_NS_USER]   = "user",
  [PROCESS_NS_UTS]    = "uts",
};
/* clang-format on */

_Static_assert(sizeof process_files / sizeof process_files[0] == N_PROCESS_FILES,
               "a name each");
_Static_assert(sizeof namespaces / sizeof namespaces[0] == N_PROCESS_NS, "a name each");

static unsigned
find_name (const char *const *names, unsigned n, const char *name)
{
  unsigned i = 0;

  while (i < n && strcmp (names[i], name) != 0)
    i++;
  return i;
}

ProcessFile
sysprof_rights_find_process_file (const char *name)
{
  return (ProcessFile) find_name (process_files, N_PROCESS_FILES, name);
}

ProcessNamespace
sysprof_rights_find_namespace (const char *name)
{
  return (ProcessNamespace) find_name (namespaces, N_PROCESS_NS, name);
}

int
sysprof_rights_open_event (struct perf_event_attr *attr,
                           pid_t pid,
                           int cpu,
                           unsigned long flags)
{
  return (int) syscall (SYS_perf_event_open, attr, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);
}

int
sysprof_rights_open_process_file (pid_t pid, ProcessFile file)
{
  char path[MOST_PATH];

  (void) snprintf (path, sizeof path, "/proc/%d/%s", pid, process_files[file]);
  return open (path, O_RDONLY | O_CLOEXEC);
}

/* Whether the kernel's list of mappings contains it. Only the part of each line before the path
 * is parsed. */
static bool
is_mapped (FILE *maps, const ExecutableMapping *mapping)
{
  char *line = NULL;
  size_t size = 0;
  bool is_found = false;

  while (!is_found && getline (&line, &size, maps) > 0)
    {
      ExecutableMapping found = { .pid = mapping->pid };
      char access[5];

      is_found = sscanf (line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %" SCNu64, &found.start,
                         &found.end, access, &found.device_major, &found.device_minor,
                         &found.inode) == 6 &&
                 access[2] == 'x' && found.start == mapping->start &&
                 found.end == mapping->end && found.inode == mapping->inode &&
                 found.device_major == mapping->device_major &&
                 found.device_minor == mapping->device_minor;
    }
  free (line);
  return is_found;
}

static bool
is_mapped_there (const ExecutableMapping *mapping)
{
  int fd = sysprof_rights_open_process_file (mapping->pid, PROCESS_MAPS);
  FILE *maps = fd >= 0 ? fdopen (fd, "re") : NULL;
  bool is_found;

  if (maps == NULL)
    {
      if (fd >= 0)
        (void) close (fd);
      return false;
    }

  is_found = is_mapped (maps, mapping);
  (void) fclose (maps);
  if (!is_found)
    errno = ESTALE;
  return is_found;
}

/* Reopens an O_PATH descriptor for reading. Opening a device directly would already have side
 * effects. */
static int
open_for_reading (int path_fd)
{
  char path[MOST_PATH];

  (void) snprintf (path, sizeof path, "/proc/self/fd/%d", path_fd);
  return open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Does not compare the device with that of the mapping: file systems with several devices
 * (btrfs, overlayfs) report two for one file. */
int
sysprof_rights_open_mapped_file (const ExecutableMapping *mapping)
{
  char path[MOST_PATH];
  struct stat info;
  int path_fd, saved;
  int fd = -1;

  if (!is_mapped_there (mapping))
    return -1;

  (void) snprintf (path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, mapping->pid,
                   mapping->start, mapping->end);
  path_fd = open (path, O_PATH | O_CLOEXEC);
  if (path_fd < 0)
    return -1;

  if (fstat (path_fd, &info) == 0)
    {
      if (S_ISREG (info.st_mode) && info.st_ino == mapping->inode)
        fd = open_for_reading (path_fd);
      else
        errno = ESTALE;
    }

  saved = errno;
  (void) close (path_fd);
  errno = saved;
  return fd;
}

/* Whether the line of /proc/PID/status has this name and number. */
static bool
has_number (const char *line, const char *name, unsigned long number, bool is_list)
{
  char *end;

  if (strncmp (line, name, strlen (name)) != 0)
    return false;
  for (const char *at = line + strlen (name);; at = end)
    {
      unsigned long found = strtoul (at, &end, 10);

      if (end == at || found == number || !is_list)
        return end != at && found == number;
    }
}

bool
sysprof_rights_may_read (pid_t pid, int fd)
{
  int status_fd = sysprof_rights_open_process_file (pid, PROCESS_STATUS);
  FILE *status = status_fd >= 0 ? fdopen (status_fd, "re") : NULL;
  bool is_root = false, is_owner = false, is_member = false;
  struct stat info = { 0 };
  char *line = NULL;
  size_t size = 0;

  while (status != NULL && fstat (fd, &info) == 0 && getline (&line, &size, status) > 0)
    {
      is_root |= has_number (line, "Uid:", 0, false);
      is_owner |= has_number (line, "Uid:", info.st_uid, false);
      is_member |= has_number (line, "Gid:", info.st_gid, false) ||
                   has_number (line, "Groups:", info.st_gid, true);
    }
  free (line);
  if (status != NULL)
    (void) fclose (status);
  else if (status_fd >= 0)
    (void) close (status_fd);
  errno = EACCES;
  return is_root || (info.st_mode & (is_owner ? S_IRUSR : is_member ? S_IRGRP : S_IROTH)) != 0;
}

/* "mnt:[4026531841]" */
uint64_t
sysprof_rights_read_namespace (pid_t pid, ProcessNamespace which)
{
  char path[MOST_PATH];
  char target[64];
  ssize_t size;
  const char *bracket;

  (void) snprintf (path, sizeof path, "/proc/%d/ns/%s", pid, namespaces[which]);
  size = readlink (path, target, sizeof target - 1);
  if (size <= 0)
    return 0;

  target[size] = '\0';
  bracket = strchr (target, '[');
  return bracket != NULL ? strtoull (bracket + 1, NULL, 10) : 0;
}

bool
sysprof_rights_counts_energy (uint32_t type)
{
  static const char *const devices[] = { "power", "power_core" };
  bool is_found = false;

  for (size_t i = 0; !is_found && i < sizeof devices / sizeof devices[0]; i++)
    {
      char path[64], text[16] = "";
      int fd;

      (void) snprintf (path, sizeof path, "/sys/bus/event_source/devices/%s/type", devices[i]);
      fd = open (path, O_RDONLY | O_CLOEXEC);
      if (fd < 0)
        continue;
      is_found = read (fd, text, sizeof text - 1) > 0 && strtoul (text, NULL, 10) == type;
      (void) close (fd);
    }
  return is_found;
}

int
sysprof_rights_open_kallsyms (void)
{
  return open ("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
}

/* The mount is visible only through this descriptor, and does not change the file system of the
 * machine. */
static int
mount_tracefs (void)
{
  int context = fsopen ("tracefs", FSOPEN_CLOEXEC);
  int mounted = -1;
  int saved;

  if (context < 0)
    return -1;
  if (fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
    mounted = fsmount (context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);

  saved = errno;
  (void) close (context);
  errno = saved;
  return mounted;
}

int
sysprof_rights_open_tracefs (void)
{
  static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    {
      int fd = open (places[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
      int reason;

      if (fd < 0)
        continue;
      if (faccessat (fd, "events", F_OK, 0) == 0)
        return fd;

      reason = errno;
      (void) close (fd);
      errno = reason;
      if (reason == EACCES)
        return -1;
    }
  return mount_tracefs ();
}

int
sysprof_rights_open_switch_format (void)
{
  int tracefs = sysprof_rights_open_tracefs ();
  int fd, saved;

  if (tracefs < 0)
    return -1;

  fd = openat (tracefs, "events/sched/sched_switch/format", O_RDONLY | O_CLOEXEC);
  saved = errno;
  (void) close (tracefs);
  errno = saved;
  return fd;
}

uint64_t
sysprof_rights_read_switch_id (int fd)
{
  static const char id_line[] = "\nID: ";
  char text[512]; /* the number is in the second line */
  ssize_t size = pread (fd, text, sizeof text - 1, 0);
  const char *found;

  if (size < 0)
    return 0;

  text[size] = '\0';
  found = strstr (text, id_line);
  return found != NULL ? strtoull (found + strlen (id_line), NULL, 10) : 0;
}
