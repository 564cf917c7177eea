// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the root directories of recorded processes, and the paths of files of processes that
 * have exited. */

#include "locate/file-locator.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_KNOWN_ROOTS 256 /* limit, because each one is a descriptor */
#define MOST_TRANSLATING 16  /* processes per file whose view of files is considered */

/* Values of FileLocator.root_of_process. */
enum
{
  ROOT_UNKNOWN,
  ROOT_OURS,
  FIRST_ROOT,
};

/* --- roots --- */

static bool
is_same_namespace (int32_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/ns/mnt", pid);
  struct stat own, other;

  return stat ("/proc/self/ns/mnt", &own) == 0 && stat (path, &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static bool
is_same_directory (int fd, const char *path)
{
  struct stat own, other;

  return stat (path, &own) == 0 && fstat (fd, &other) == 0 && own.st_dev == other.st_dev &&
         own.st_ino == other.st_ino;
}

typedef struct
{
  int fd;
  dev_t device;
  ino_t inode;
  char *path; /* NULL = "/", or unknown */
} KnownRoot;

static char *
read_path_of (int fd)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *path = g_file_read_link (link, NULL);

  return path != NULL && path[0] == '/' && path[1] != 0 ? g_steal_pointer (&path) : NULL;
}

static void
add_root (GArray *roots, int fd, const struct stat *info)
{
  KnownRoot root = { fd, info->st_dev, info->st_ino, read_path_of (fd) };

  g_array_append_val (roots, root);
}

static uint16_t
find_root_of_process (FileLocator *self, int32_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/root", pid);
  autofd fd = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat info;

  if (fd < 0 || (is_same_namespace (pid) && is_same_directory (fd, "/")) ||
      fstat (fd, &info) != 0)
    return ROOT_OURS;

  for (guint i = 0; i < self->roots->len; i++)
    {
      const KnownRoot *known = &g_array_index (self->roots, KnownRoot, i);

      if (known->device == info.st_dev && known->inode == info.st_ino)
        return (uint16_t) (FIRST_ROOT + i);
    }

  if (self->roots->len == MOST_KNOWN_ROOTS)
    return ROOT_OURS;
  add_root (self->roots, sysprof_steal_fd (&fd), &info);
  return (uint16_t) (FIRST_ROOT + self->roots->len - 1);
}

void
sysprof_file_locator_init (FileLocator *self, const LocateOptions *options)
{
  *self = (FileLocator){ .options = *options, .opener = OPENER_INIT };
  sysprof_stop_event_init (&self->stop, options->cancellable);
  self->opener.stop_fd = self->stop.fd;
  self->opener.has_stop_fd = self->stop.fd >= 0;
  self->root_of_process = g_new0 (uint16_t, options->store->processes.n + 1);
  self->roots = g_array_new (FALSE, FALSE, sizeof (KnownRoot));
  if (options->sysroot != NULL)
    {
      autofd fd = open (options->sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC);
      struct stat info;

      if (fd >= 0 && fstat (fd, &info) == 0)
        add_root (self->roots, sysprof_steal_fd (&fd), &info);
    }
  else
    self->mounts = sysprof_capture_mounts_new (&self->options, self->stop.fd);
}

void
sysprof_file_locator_clear (FileLocator *self)
{
  for (guint i = 0; i < self->roots->len; i++)
    {
      (void) close (g_array_index (self->roots, KnownRoot, i).fd); /* nothing was written */
      g_free (g_array_index (self->roots, KnownRoot, i).path);
    }
  g_array_unref (self->roots);
  g_free (self->root_of_process);
  g_clear_pointer (&self->mounts, sysprof_capture_mounts_free);
  g_strfreev (self->flatpak_dirs);
  sysprof_opener_clear (&self->opener);
  sysprof_stop_event_clear (&self->stop);
}

static bool
has_root (const FileRoots *self, int fd)
{
  for (unsigned i = 0; i < self->n; i++)
    if (self->fd[i] == fd)
      return true;
  return false;
}

void
sysprof_file_roots_find (FileRoots *self, FileLocator *locator, const FileBatch *batch)
{
  const Store *store = locator->options.store;

  *self = (FileRoots){ 0 };
  if (locator->options.sysroot != NULL)
    {
      if (locator->roots->len > 0)
        self->fd[self->n++] = g_array_index (locator->roots, KnownRoot, 0).fd;
      return;
    }

  for (uint32_t i = 0;
       i < batch->n_items && locator->options.is_this_boot && self->n < MOST_ROOTS - 1; i++)
    {
      ProcessId process = store->addresses.process[batch->items[i].address];
      uint16_t *root = &locator->root_of_process[process];
      const KnownRoot *known;

      if (*root == ROOT_UNKNOWN)
        *root = store->processes.row[process].has_exit
                    ? ROOT_OURS
                    : find_root_of_process (locator, store->processes.row[process].pid);
      if (*root == ROOT_OURS)
        continue;

      known = &g_array_index (locator->roots, KnownRoot, *root - FIRST_ROOT);
      if (!has_root (self, known->fd))
        {
          self->path[self->n] = known->path;
          self->fd[self->n++] = known->fd;
        }
    }
  self->fd[self->n++] = -1;
}

const char *
sysprof_file_roots_find_rest (const FileRoots *self, unsigned n, const char *path)
{
  const char *rest = self->path[n] != NULL && g_str_has_prefix (path, self->path[n])
                         ? path + strlen (self->path[n])
                         : NULL;

  return rest != NULL && rest[0] == '/' ? rest : NULL;
}

/* --- translated paths --- */

static void
take_new_paths (GPtrArray *paths, GPtrArray *more)
{
  for (guint i = 0; i < more->len; i++)
    if (!g_ptr_array_find_with_equal_func (paths, more->pdata[i], g_str_equal, NULL))
      g_ptr_array_add (paths, g_strdup (more->pdata[i]));
}

GPtrArray *
sysprof_list_translations (FileLocator *self,
                           const FileBatch *batch,
                           const char *path,
                           bool *is_ours)
{
  const Store *store = self->options.store;
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  bool is_identified = sysprof_file_batch_is_identified (batch), is_known = false;
  ProcessId asked[MOST_TRANSLATING];
  unsigned n = 0;

  for (uint32_t i = 0; i < batch->n_items && n < MOST_TRANSLATING; i++)
    {
      ProcessId process = store->addresses.process[batch->items[i].address];
      g_autoptr (GPtrArray) more = NULL;
      bool is_asked = false, is_known_here;

      for (unsigned j = 0; j < n && !is_asked; j++)
        is_asked = asked[j] == process;
      if (is_asked)
        continue;

      asked[n++] = process;
      more = sysprof_capture_mounts_translate (self->mounts, process, path, is_identified,
                                               &is_known_here);
      is_known |= is_known_here;
      take_new_paths (paths, more);
    }

  /* If the capture records nothing about the processes, they are assumed to see this machine's
   * files. Otherwise the file found must be comparable with the recorded one. */
  *is_ours = (paths->len == 0 && (is_identified || !is_known)) ||
             g_ptr_array_find_with_equal_func (paths, path, g_str_equal, NULL);
  return paths;
}
