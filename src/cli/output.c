// SPDX-License-Identifier: GPL-3.0-or-later

/* The output file of a recording. See output.h. */

#include "cli/output.h"

#include "cli/compress.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Captures name everything that ran, so only the owner and the group may read them. */
#define CAPTURE_MODE 0640
#define CAPTURE_NAME "capture.syscap"

/* Reads errno, on which the remedy depends. */
static void
set_open_error (const OutputFile *self, GError **error)
{
  int number = errno;
  g_autofree char *directory = g_path_get_dirname (self->path);
  g_autofree char *advice = NULL;

  switch (number)
    {
    case ENOENT:
    case ENOTDIR:
      advice = g_strdup_printf ("Is there a directory '%s'?", directory);
      break;
    case EISDIR:
      advice = g_strdup ("Name a file in it.");
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      advice = g_strdup_printf ("Name a file in a directory where you may write, as '%s/%s'.",
                                g_get_tmp_dir (), CAPTURE_NAME);
      break;
    case ENOSPC:
    case EDQUOT:
      advice = g_strdup ("Make room, or name a file on another disk.");
      break;
    default:
      advice = g_strdup ("Name another file.");
    }
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED, "Cannot write to '%s': %s. %s",
               self->path, g_strerror (number), advice);
}

bool
sysprof_cli_check_standard_output (GError **error)
{
  struct stat info;

  if (isatty (STDOUT_FILENO))
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot write to standard output: it is a terminal, and a capture is not text. Add "
          ">FILE, or send it to a program with |.");
      return false;
    }
  /* A capture begins at offset 0, so existing content would be overwritten. */
  if (fstat (STDOUT_FILENO, &info) == 0 && S_ISREG (info.st_mode) && info.st_size > 0)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot write to standard output: its file has %" G_GINT64_FORMAT
          " bytes already, and a capture cannot be added to them. Use >FILE instead of >>FILE.",
          (gint64) info.st_size);
      return false;
    }
  return true;
}

static bool
open_standard_output (OutputFile *self, GError **error)
{
  if (!sysprof_cli_check_standard_output (error))
    return false;
  self->fd = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (self->fd < 0 || dup2 (STDERR_FILENO, STDOUT_FILENO) < 0)
    {
      sysprof_set_error_errno (error, "Cannot write to standard output");
      return false;
    }
  return true;
}

static void
set_truncated_error (const OutputFile *self, GError **error)
{
  g_set_error (
      error, SYSPROF_ERROR, SYSPROF_ERROR_TRUNCATED,
      "Cannot write to '%s': another program truncated it. The data written so far cannot be "
      "read; record again.",
      self->path);
}

static bool
is_same_file (const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* A file system without locks does not refuse. */
static bool
lock_file (const OutputFile *self, int fd, GError **error)
{
  struct stat mine, named;
  const char *name = self->temporary != NULL ? self->temporary : self->path;

  if (flock (fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot write to '%s': another recorder is writing it. Wait until it has ended, "
          "or name another file.",
          self->path);
      return false;
    }
  /* Another recorder may have replaced the file between open() and the lock. */
  if (fstat (fd, &mine) == 0 && stat (name, &named) == 0 && is_same_file (&mine, &named))
    return true;
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
               "Cannot write to '%s': another program has just replaced it. Name another file.",
               self->path);
  return false;
}

/* Only this program writes a file that it created. */
static bool
keep_locked (OutputFile *self, GError **error)
{
  self->file_fd = fcntl (self->fd, F_DUPFD_CLOEXEC, 3);
  if (self->file_fd < 0)
    {
      set_open_error (self, error);
      return false;
    }
  return lock_file (self, self->file_fd, error);
}

static bool
lock_old_file (OutputFile *self, GError **error)
{
  self->old_fd = open (self->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (self->old_fd < 0)
    {
      set_open_error (self, error);
      return false;
    }
  return lock_file (self, self->old_fd, error);
}

static bool
open_temporary (OutputFile *self, GError **error)
{
  g_autofree char *directory = g_path_get_dirname (self->path);
  g_autofree char *name = g_path_get_basename (self->path);

  self->temporary = g_strdup_printf ("%s/.%s.XXXXXX", directory, name);
  self->fd = sysprof_temporary_file_create (self->temporary, O_RDWR | O_CLOEXEC, CAPTURE_MODE);
  if (self->fd < 0)
    {
      set_open_error (self, error);
      g_clear_pointer (&self->temporary, g_free);
      return false;
    }
  self->is_created = true;
  return keep_locked (self, error);
}

static bool
open_existing (OutputFile *self, OutputOldFile old, GError **error)
{
  struct stat info;

  if (stat (self->path, &info) == 0 && S_ISREG (info.st_mode))
    {
      if (old == OUTPUT_REFUSE_OLD)
        {
          g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                       (info.st_mode & S_IXUSR) != 0
                           ? "'%s' exists and is a program. To profile it, put -- before it."
                           : "'%s' exists. Use --force to overwrite it, or name another file.",
                       self->path);
          return false;
        }
      /* Refuses a file that is not writable, even if the directory would allow replacing it. */
      if (access (self->path, W_OK) < 0)
        {
          set_open_error (self, error);
          return false;
        }
      if (!lock_old_file (self, error) || !open_temporary (self, error))
        return false;
      self->keeps_old = old == OUTPUT_RENAME_OLD;
      if (self->keeps_old)
        return true;
      /* Keeps the owner and mode of the replaced file, as overwriting would. If the kernel
       * refuses, the file belongs to this user. */
      (void) !fchown (self->fd, info.st_uid, info.st_gid);
      (void) fchmod (self->fd, info.st_mode & 0777);
      return true;
    }

  self->fd = open (self->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (self->fd < 0)
    {
      set_open_error (self, error);
      return false;
    }
  if (!isatty (self->fd))
    return true;
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
               "Cannot write to '%s': it is a terminal, and this is not text. Name a file.",
               self->path);
  return false;
}

static bool
open_file (OutputFile *self, OutputOldFile old, OutputWhen when, GError **error)
{
  struct stat info;
  char *real = NULL;

  /* Replaces the target of a symbolic link, not the link. The kernel is asked first, because it
   * refuses links of other users in directories that everybody can write. */
  if (lstat (self->path, &info) == 0 && S_ISLNK (info.st_mode))
    {
      if (stat (self->path, &info) < 0 && errno != ENOENT)
        {
          set_open_error (self, error);
          return false;
        }
      real = realpath (self->path, NULL);
    }
  if (real != NULL)
    {
      g_free (self->path);
      self->path = g_strdup (real);
      free (real);
    }
  if (stat (self->path, &info) == 0)
    return open_existing (self, old, error);
  if (when == OUTPUT_WHEN_DONE)
    return open_temporary (self, error);

  self->fd = open (self->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, CAPTURE_MODE);
  if (self->fd < 0 && errno == EEXIST)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "Cannot write to '%s': it is a symbolic link to nothing. Remove it, or name "
                   "another file.",
                   self->path);
      return false;
    }
  if (self->fd < 0)
    {
      set_open_error (self, error);
      return false;
    }
  if (!keep_locked (self, error))
    return false; /* it belongs to the other recorder now */
  sysprof_temporary_file_add (self->path);
  self->is_created = true;
  return true;
}

bool
sysprof_cli_output_open (OutputFile *self,
                         const char *path,
                         OutputOldFile old,
                         OutputWhen when,
                         GError **error)
{
  const Codec *codec;

  *self = (OutputFile) OUTPUT_INIT;
  if (g_str_equal (path, "-"))
    return open_standard_output (self, error);

  self->path = g_strdup (path);
  if (!open_file (self, old, when, error))
    return false;
  codec = sysprof_cli_codec_for_name (path);
  if (codec == NULL)
    return true;
  self->compressor =
      sysprof_cli_compressor_new (codec, sysprof_steal_fd (&self->fd), &self->fd, error);
  return self->compressor != NULL;
}

/* A recorder that is killed between the two calls leaves the old file under its new name. */
static bool
rename_files (OutputFile *self)
{
  g_autofree char *old = g_strconcat (self->path, ".old", NULL);

  if (self->temporary == NULL)
    return true;
  if (self->keeps_old && rename (self->path, old) != 0 && errno != ENOENT)
    return false;
  return rename (self->temporary, self->path) == 0;
}

bool
sysprof_cli_output_commit (OutputFile *self, GError **error)
{
  bool is_done = rename_files (self);

  /* Keeps the temporary name if renaming fails, because it is the only copy. */
  sysprof_temporary_file_forget (self->temporary != NULL ? self->temporary : self->path);
  self->is_created = false;
  if (!is_done)
    sysprof_set_error_errno (error, "Cannot rename the new file to '%s'; it stays in '%s'",
                             self->path, self->temporary);
  else
    g_clear_pointer (&self->temporary, g_free);
  sysprof_autofd_close (&self->old_fd);
  return is_done;
}

bool
sysprof_cli_output_is_removed (const OutputFile *self)
{
  struct stat info;

  return self->file_fd >= 0 && fstat (self->file_fd, &info) == 0 && info.st_nlink == 0;
}

/* Returns whether the file still has its name and all bytes that were written to it. */
static bool
check_file (const OutputFile *self, GError **error)
{
  const char *name = self->temporary != NULL ? self->temporary : self->path;
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", self->file_fd);
  g_autofree char *other = NULL;
  struct stat mine, named;
  bool has_name;

  if (self->file_fd < 0 || fstat (self->file_fd, &mine) < 0)
    return true;
  has_name = stat (name, &named) == 0;
  if (has_name && is_same_file (&mine, &named) &&
      lseek (self->file_fd, 0, SEEK_CUR) <= mine.st_size)
    return true;
  if (has_name && is_same_file (&mine, &named))
    {
      set_truncated_error (self, error);
      return false;
    }
  if (mine.st_nlink > 0)
    other = g_file_read_link (link, NULL);
  if (other != NULL)
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                 "'%s' was renamed during the recording. The recording is in '%s'.", name,
                 other);
  else
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                 "'%s' was %s during the recording. The recording is lost; record again.", name,
                 has_name ? "replaced by another file" : "removed");
  return false;
}

bool
sysprof_cli_output_close (OutputFile *self, GError **error)
{
  int saved;

  if (self->fd >= 0 && close (sysprof_steal_fd (&self->fd)) < 0)
    {
      sysprof_set_error_errno (error, "Cannot write to '%s'", self->path);
      return false;
    }
  saved = self->compressor != NULL
              ? sysprof_cli_compressor_finish (g_steal_pointer (&self->compressor))
              : 0;
  if (saved == 0)
    return check_file (self, error);
  errno = saved;
  if (saved == ESTALE)
    set_truncated_error (self, error);
  else
    sysprof_set_error_errno (error, "Cannot write to '%s'", self->path);
  return false;
}

void
sysprof_cli_output_clear (OutputFile *self)
{
  if (self->fd >= 0)
    (void) close (self->fd); /* closing an output before commit discards it */
  if (self->compressor != NULL)
    (void) sysprof_cli_compressor_finish (self->compressor); /* same */
  if (self->is_created)
    {
      const char *created = self->temporary != NULL ? self->temporary : self->path;

      (void) unlink (created); /* removed already, as intended */
      sysprof_temporary_file_forget (created);
    }
  if (self->file_fd >= 0)
    (void) flock (self->file_fd, LOCK_UN); /* children may have inherited the descriptor */
  sysprof_autofd_close (&self->file_fd);
  sysprof_autofd_close (&self->old_fd);
  g_free (self->path);
  g_free (self->temporary);
  *self = (OutputFile) OUTPUT_INIT;
}

static void
on_refused_write (int signal_number)
{
}

/* A handler, because a command inherits ignored signals. */
void
sysprof_cli_fail_refused_writes (void)
{
  struct sigaction refused_write = { .sa_handler = on_refused_write, .sa_flags = SA_RESTART };

  (void) sigaction (SIGPIPE, &refused_write, NULL); /* fails only for invalid signal numbers */
  (void) sigaction (SIGXFSZ, &refused_write, NULL); /* same */
}
