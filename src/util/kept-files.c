// SPDX-License-Identifier: GPL-3.0-or-later

#include "util/kept-files.h"

#include "util/autofd.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

struct KeptFiles
{
  GArray *files; /* of KeptFile, as they came */
  unsigned most;
  unsigned n_let_go;
};

static void
clear_file (void *data)
{
  KeptFile *file = data;

  sysprof_autofd_close (&file->envelope);
  g_free (file->path);
}

KeptFiles *
sysprof_kept_files_new (unsigned most)
{
  KeptFiles *self = g_new0 (KeptFiles, 1);
  struct rlimit limit;

  self->most = most;
  if (getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < most)
    self->most = (unsigned) (limit.rlim_cur / 2);
  self->files = g_array_new (FALSE, FALSE, sizeof (KeptFile));
  g_array_set_clear_func (self->files, clear_file);
  return self;
}

void
sysprof_kept_files_free (KeptFiles *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->files);
  g_free (self);
}

static const KeptFile *
nth_file (const KeptFiles *self, guint i)
{
  return &g_array_index (self->files, KeptFile, i);
}

static int
compare_times (const struct timespec *left, const struct timespec *right)
{
  if (left->tv_sec != right->tv_sec)
    return left->tv_sec < right->tv_sec ? -1 : 1;
  return left->tv_nsec < right->tv_nsec ? -1 : left->tv_nsec > right->tv_nsec;
}

/* The number of an inode is given again, but not with this time. */
static bool
is_same (const KeptFile *left, const KeptFile *right)
{
  return left->inode == right->inode && left->device_major == right->device_major &&
         left->device_minor == right->device_minor &&
         compare_times (&left->info.st_ctim, &right->info.st_ctim) == 0;
}

static guint
find_oldest (const KeptFiles *self)
{
  guint oldest = 0;

  for (guint i = 1; i < self->files->len; i++)
    if (compare_times (&nth_file (self, i)->info.st_ctim,
                       &nth_file (self, oldest)->info.st_ctim) < 0)
      oldest = i;
  return oldest;
}

void
sysprof_kept_files_add (KeptFiles *self, const KeptFile *file)
{
  KeptFile kept = *file;

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

const KeptFile *
sysprof_kept_files_find (const KeptFiles *self, uint64_t inode, const char *path, unsigned n)
{
  for (guint i = self->files->len; i > 0; i--)
    {
      const KeptFile *file = nth_file (self, i - 1);

      if ((inode != 0 ? file->inode == inode : strcmp (file->path, path) == 0) && n-- == 0)
        return file;
    }
  return NULL;
}

unsigned
sysprof_kept_files_get_n (const KeptFiles *self)
{
  return self->files->len;
}

unsigned
sysprof_kept_files_get_n_let_go (const KeptFiles *self)
{
  return self->n_let_go;
}
