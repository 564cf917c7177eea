// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens a capture unchanged, and converts a file that an importer knows. */

#include "import/import.h"

#include "util/util.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define BEGIN_SIZE   ((size_t) 1 << 20) /* bytes to recognize a format; lines may be long */
#define MOST_BYTES   ((size_t) 4 << 30)
#define COPY_AT_ONCE ((size_t) 1 << 20)

static int
new_memory (GError **error)
{
  int fd = sysprof_memfd_create ("[sysprof-import]");

  if (fd < 0)
    sysprof_set_error_errno (error, "Cannot make room in memory for the converted file");
  return fd;
}

/* Copies a stream to memory, because it cannot be read twice. */
static int
keep_stream (int from, const char *name, GCancellable *cancellable, GError **error)
{
  autofd fd = new_memory (error);
  g_autofree char *buffer = g_malloc (COPY_AT_ONCE);
  ssize_t got;

  if (fd < 0)
    return -1;

  while ((got = read (from, buffer, COPY_AT_ONCE)) != 0)
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return -1;
      if (got < 0 && errno == EINTR)
        continue;

      if (got < 0 || !sysprof_write_all (fd, buffer, (size_t) got))
        {
          sysprof_set_error_errno (error, "Cannot read '%s'", name);
          return -1;
        }
    }

  return sysprof_steal_fd (&fd);
}

static const Importer *
recognize (int fd, size_t size)
{
  g_autofree char *begin = g_malloc (BEGIN_SIZE);
  ssize_t got = pread (fd, begin, BEGIN_SIZE, 0);

  /* Such a file may have lines that look like stacks. */
  if (got > 0 && sysprof_foreign_file_describe (begin, (size_t) got) != NULL)
    return NULL;
  for (const Importer *const *importer = sysprof_importer_table; got > 0 && *importer;
       importer++)
    if ((*importer)->recognize ((Text){ begin, begin + got }, (size_t) got == size))
      return *importer;

  return NULL;
}

static int
convert (const Importer *importer,
         int fd,
         size_t size,
         const char *name,
         ImportReport *report,
         GCancellable *cancellable,
         GError **error)
{
  autofd converted = -1;
  g_autofree char *bytes = NULL;
  SysprofCaptureWriter *writer;
  size_t done = 0;
  bool is_done;

  /* Read the file instead of mapping it, because it may change. */
  bytes = size <= MOST_BYTES ? g_try_malloc (size) : NULL;
  if (bytes == NULL)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_NO_SPACE,
                   "Cannot convert '%s': its %zu bytes do not fit into memory. "
                   "Fold it further, or split it.",
                   name, size);
      return -1;
    }
  while (done < size)
    {
      ssize_t got = pread (fd, bytes + done, size - done, (off_t) done);

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        {
          sysprof_set_error_errno (error, "Cannot read '%s'", name);
          return -1;
        }
      if (got == 0)
        break;
      done += (size_t) got;
    }

  converted = new_memory (error);
  if (converted < 0)
    return -1;
  writer = sysprof_capture_writer_new_from_fd (fcntl (converted, F_DUPFD_CLOEXEC, 3), 0);
  if (writer == NULL)
    {
      sysprof_set_error_errno (error, "Cannot convert '%s'", name);
      return -1;
    }

  is_done =
      importer->convert ((Text){ bytes, bytes + done }, writer, report, cancellable, error);
  if (is_done && !sysprof_capture_writer_flush (writer))
    {
      sysprof_set_error_errno (error, "Cannot convert '%s'", name);
      is_done = false;
    }
  sysprof_capture_writer_unref (writer);
  if (!is_done)
    {
      g_prefix_error (error, "Cannot convert '%s' from %s: ", name, importer->title);
      return -1;
    }

  report->format = importer->name;
  return sysprof_steal_fd (&converted);
}

int
sysprof_import_open (const char *path,
                     ImportReport *report,
                     GCancellable *cancellable,
                     GError **error)
{
  bool is_stream = strcmp (path, "-") == 0;
  const char *name = is_stream ? "standard input" : path;
  ImportReport unused;
  autofd fd =
      is_stream ? fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open (path, O_RDONLY | O_CLOEXEC);
  const Importer *importer;
  struct stat info;

  report = report != NULL ? report : &unused;
  *report = (ImportReport){ 0 };
  if (fd < 0 || fstat (fd, &info) < 0)
    {
      sysprof_set_error_errno (error, "Cannot open '%s'", name);
      return -1;
    }

  if (!S_ISREG (info.st_mode) && !S_ISDIR (info.st_mode))
    {
      int kept = keep_stream (fd, name, cancellable, error);

      if (kept < 0)
        return -1;
      close (fd);
      fd = kept;
      if (fstat (fd, &info) < 0)
        info.st_size = 0;
    }

  importer = recognize (fd, (size_t) info.st_size);
  if (importer == NULL)
    return sysprof_steal_fd (&fd);
  return convert (importer, fd, (size_t) info.st_size, name, report, cancellable, error);
}
