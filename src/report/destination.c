// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes a report to standard output, a pager, or a file. A file must appear complete or not
 * at all. */

#include "report/destination.h"

#include "util/util.h"

#include <fcntl.h>
#include <gio/gunixoutputstream.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PERMISSIONS 0666 /* before the umask */

static bool
open_in_place (Destination *self, const char *path, GError **error)
{
  int fd = open (path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

  if (fd < 0)
    {
      sysprof_set_error_errno (error, "Cannot write to '%s'", path);
      return false;
    }
  self->stream = g_unix_output_stream_new (fd, TRUE);
  return true;
}

static bool
open_beside (Destination *self, const char *path, mode_t permissions, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *name = g_path_get_basename (path);
  autofd fd = -1;

  self->unfinished = g_strdup_printf ("%s/.%.200s.XXXXXX", folder, name);
  fd = sysprof_temporary_file_create (self->unfinished, O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0)
    {
      g_clear_pointer (&self->unfinished, g_free);
      sysprof_set_error_errno (error, "Cannot write '%s': no file can be made in its folder",
                               path);
      return false;
    }
  if (fchmod (fd, permissions) < 0)
    {
      sysprof_set_error_errno (error, "Cannot set the permissions of '%s'", path);
      return false;
    }
  self->stream = g_unix_output_stream_new (sysprof_steal_fd (&fd), TRUE);
  return true;
}

static mode_t
current_umask (void)
{
  mode_t mask = umask (0);

  umask (mask);
  return mask;
}

bool
sysprof_destination_open (Destination *self, const char *path, GError **error)
{
  struct stat status;

  *self = (Destination){ 0 };
  if (!path)
    {
      self->stream = g_unix_output_stream_new (STDOUT_FILENO, FALSE);
      return true;
    }
  if (stat (path, &status) == 0)
    {
      g_autofree char *target = NULL;

      if (S_ISDIR (status.st_mode))
        {
          g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                       "Cannot write to '%s': it is a folder; name a file in it.", path);
          return false;
        }
      if (!S_ISREG (status.st_mode))
        return open_in_place (self, path, error);
      target = realpath (path, NULL); /* a symbolic link stays; its target is replaced */
      self->path = g_strdup (target ? target : path);
      return open_beside (self, self->path, status.st_mode & 07777, error);
    }
  self->path = g_strdup (path);
  return open_beside (self, path, PERMISSIONS & ~current_umask (), error);
}

void
sysprof_destination_use_pager (Destination *self, unsigned screen_rows)
{
  g_clear_object (&self->stream);
  self->stream = g_memory_output_stream_new_resizable ();
  self->use_pager = true;
  self->screen_rows = screen_rows;
}

static unsigned
count_lines (const char *text, size_t size)
{
  unsigned n = 0;

  for (const char *at = text; (at = memchr (at, '\n', size - (size_t) (at - text))); at++)
    n++;
  return n;
}

static bool
write_to_screen (const char *text, size_t size, GError **error)
{
  g_autoptr (GOutputStream) screen = g_unix_output_stream_new (STDOUT_FILENO, FALSE);

  return g_output_stream_write_all (screen, text, size, NULL, NULL, error);
}

static bool
page (Destination *self, GError **error)
{
  GMemoryOutputStream *memory = G_MEMORY_OUTPUT_STREAM (self->stream);
  const char *text = g_memory_output_stream_get_data (memory);
  size_t size = g_memory_output_stream_get_data_size (memory);
  const char *pager = g_getenv ("PAGER");
  g_autoptr (GSubprocessLauncher) launcher = NULL;
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (count_lines (text, size) < self->screen_rows || (pager && strcmp (pager, "cat") == 0))
    return write_to_screen (text, size, error);

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDIN_PIPE);
  g_subprocess_launcher_setenv (launcher, "LESS", "FRX", FALSE);
  process = g_subprocess_launcher_spawn (launcher, NULL, "sh", "-c",
                                         pager && pager[0] ? pager : "less || cat", NULL);
  if (!process)
    return write_to_screen (text, size, error);
  bytes = g_bytes_new_static (text, size);
  (void) g_subprocess_communicate (process, bytes, NULL, NULL, NULL,
                                   NULL); /* users quit pagers early */
  return true;
}

bool
sysprof_destination_finish (Destination *self, GError **error)
{
  if (self->use_pager)
    return page (self, error);
  if (!self->path)
    return g_output_stream_flush (self->stream, NULL, error);
  if (!g_output_stream_close (self->stream, NULL, error))
    return false;
  if (g_rename (self->unfinished, self->path) < 0)
    {
      sysprof_set_error_errno (error, "Cannot write '%s'", self->path);
      return false;
    }
  sysprof_temporary_file_forget (self->unfinished);
  g_clear_pointer (&self->unfinished, g_free);
  return true;
}

void
sysprof_destination_clear (Destination *self)
{
  if (self->unfinished)
    {
      (void) g_unlink (self->unfinished); /* the first error matters more */
      sysprof_temporary_file_forget (self->unfinished);
    }
  g_clear_object (&self->stream);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->unfinished, g_free);
}

bool
sysprof_report_reader_is_gone (const GError *error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE) ||
         g_error_matches (error, SYSPROF_ERROR, SYSPROF_ERROR_PEER_GONE);
}
