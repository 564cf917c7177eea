// SPDX-License-Identifier: GPL-3.0-or-later

/* Several ways lead to the file, the cheap ones first. A path can lead elsewhere: into another mount namespace, to what has
 * replaced the file since, to a pipe that would block us. So only a regular file of the same inode is it. What
 * /proc/PID/map_files leads to is the file itself, also where it was deleted; it wants more rights. */

#include "record/live-files.h"

#include "util/util.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/sysmacros.h>

static int
open_regular (const char *path, struct stat *info)
{
  autofd fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

  return fd >= 0 && fstat (fd, info) == 0 && S_ISREG (info->st_mode) ? sysprof_steal_fd (&fd)
                                                                     : -1;
}

static int
open_same (const char *path, const LiveMapping *mapping, struct stat *info)
{
  autofd fd = open_regular (path, info);

  return fd >= 0 && info->st_ino == mapping->inode &&
                 info->st_dev == makedev (mapping->device_major, mapping->device_minor)
             ? sysprof_steal_fd (&fd)
             : -1;
}

int
sysprof_live_file_open (Privilege *privilege, const LiveMapping *mapping, struct stat *info)
{
  g_autofree char *path = NULL;
  autofd fd = -1;

  if (mapping->path[0] == '/')
    {
      fd = open_same (mapping->path, mapping, info);
      if (fd < 0)
        {
          path = g_strdup_printf ("/proc/%d/root%s", mapping->pid, mapping->path);
          fd = open_same (path, mapping, info);
        }
    }
  if (fd < 0)
    {
      const ExecutableMapping executable = {
        .pid = mapping->pid,
        .device_major = mapping->device_major,
        .device_minor = mapping->device_minor,
        .inode = mapping->inode,
        .start = mapping->start,
        .end = mapping->end,
      };

      fd = sysprof_privilege_open_mapped_file (privilege, &executable);
      if (fd >= 0 && (fstat (fd, info) != 0 || !S_ISREG (info->st_mode)))
        return -1;
    }
  return sysprof_steal_fd (&fd);
}
