// SPDX-License-Identifier: GPL-3.0-or-later

/* Caches the decision for each cgroup ID. It reads the directory tree only when a new ID
 * appears. */

#include "perf/cgroup-filter.h"

#include "util/util.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#define MAX_DEPTH 64 /* nesting of cgroups; far more than real systems have */

struct CgroupFilter
{
  int cgroup_fd;     /* borrowed */
  GHashTable *known; /* id → whether it is wanted; IDs are never reused */
};

CgroupFilter *
sysprof_cgroup_filter_new (int cgroup_fd)
{
  CgroupFilter *self = g_new0 (CgroupFilter, 1);

  self->cgroup_fd = cgroup_fd;
  self->known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return self;
}

void
sysprof_cgroup_filter_free (CgroupFilter *self)
{
  if (self == NULL)
    return;

  g_hash_table_unref (self->known);
  g_free (self);
}

static void
set_wanted (CgroupFilter *self, uint64_t id, bool is_wanted)
{
  g_hash_table_insert (self->known, g_memdup2 (&id, sizeof id), GINT_TO_POINTER (is_wanted));
}

/* Takes ownership of `fd`. A directory that cannot be read is treated as empty. */
static void
learn_below (CgroupFilter *self, int fd, unsigned depth)
{
  DIR *directory = fd >= 0 ? fdopendir (fd) : NULL;
  struct dirent *entry;
  struct stat info;

  if (directory == NULL)
    {
      sysprof_autofd_close (&fd);
      return;
    }

  if (fstat (fd, &info) == 0)
    set_wanted (self, info.st_ino, true);
  while (depth < MAX_DEPTH && (entry = readdir (directory)) != NULL)
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
      learn_below (self,
                   openat (fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                   depth + 1);
  (void) closedir (directory);
}

bool
sysprof_cgroup_filter_accepts (CgroupFilter *self, uint64_t id)
{
  gpointer is_wanted;

  if (!g_hash_table_lookup_extended (self->known, &id, NULL, &is_wanted))
    {
      /* A new ID: the cgroup may have been created since the last scan. */
      set_wanted (self, id, false);
      learn_below (self, openat (self->cgroup_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
      is_wanted = g_hash_table_lookup (self->known, &id);
    }
  return GPOINTER_TO_INT (is_wanted) != 0;
}
