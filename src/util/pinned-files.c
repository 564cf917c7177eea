// SPDX-License-Identifier: GPL-3.0-or-later

/* Keeps descriptors of mapped files, up to a limit. */

#include "util/pinned-files.h"

#include "util/autofd.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

struct PinnedFiles
{
  GArray *files; /* of PinnedFile, in order of arrival */
  unsigned most;
  unsigned n_let_go;
};

static void
clear_file (void *data)
{
  PinnedFile *file = data;

  sysprof_autofd_close (&file->envelope);
  g_free (file->path);
}

PinnedFiles *
sysprof_pinned_files_new (unsigned most)
{
  PinnedFiles *self = g_new0 (PinnedFiles, 1);
  struct rlimit limit;

  self->most = most;
  if (getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < most)
    self->most = (unsigned) (limit.rlim_cur / 2);
  self->files = g_array_new (FALSE, FALSE, sizeof (PinnedFile));
  g_array_set_clear_func (self->files, clear_file);
  return self;
}

void
sysprof_pinned_files_free (PinnedFiles *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->files);
  g_free (self);
}

static const PinnedFile *
nth_file (const PinnedFiles *self, guint i)
{
  return &g_array_index (self->files, PinnedFile, i);
}

static int
compare_times (const struct timespec *left, const struct timespec *right)
{
  if (left->tv_sec != right->tv_sec)
    return left->tv_sec < right->tv_sec ? -1 : 1;
  return left->tv_nsec < right->tv_nsec ? -1 : left->tv_nsec > right->tv_nsec;
}

/* An inode number may be reused, but not with the same change time. */
static bool
is_same (const PinnedFile *left, const PinnedFile *right)
{
  return left->inode == right->inode && left->device_major == right->device_major &&
         left->device_minor == right->device_minor &&
         compare_times (&left->info.st_ctim, &right->info.st_ctim) == 0;
}

static guint
find_oldest (const PinnedFiles *self)
{
  guint oldest = 0;

  for (guint i = 1; i < self->files->len; i++)
    if (compare_times (&nth_file (self, i)->info.st_ctim,
                       &nth_file (self, oldest)->info.st_ctim) < 0)
      oldest = i;
  return oldest;
}

void
sysprof_pinned_files_add (PinnedFiles *self, const PinnedFile *file)
{
  PinnedFile kept = *file;

  for (guint i = 0; i < self->files->len; i++)
    if (is_same (nth_file (self, i), file))
      return;

  if (self->files->len == self->most)
    {
      guint oldest = self->most > 0 ? find_oldest (self) : 0;

      self->n_let_go++;
      if (self->most == 0 ||
          compare_times (&file->info.st_ctim, &nth_file (self, oldest)->info.st_ctim) < 0)
        return;
      g_array_remove_index (self->files, oldest);
    }

  kept.envelope = fcntl (file->envelope, F_DUPFD_CLOEXEC, 0);
  if (kept.envelope < 0)
    {
      self->n_let_go++;
      return;
    }
  kept.path = g_strdup (file->path);
  g_array_append_val (self->files, kept);
}

const PinnedFile *
sysprof_pinned_files_find (const PinnedFiles *self,
                           uint64_t inode,
                           const char *path,
                           unsigned n)
{
  for (guint i = self->files->len; i > 0; i--)
    {
      const PinnedFile *file = nth_file (self, i - 1);

      if ((inode != 0 ? file->inode == inode : strcmp (file->path, path) == 0) && n-- == 0)
        return file;
    }
  return NULL;
}

unsigned
sysprof_pinned_files_get_n_released (const PinnedFiles *self)
{
  return self->n_let_go;
}
