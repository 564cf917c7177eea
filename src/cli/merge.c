// SPDX-License-Identifier: GPL-3.0-or-later

/* --merge: joins captures and writes the result to standard output. */

#include "cli/merge.h"

#include "cli/output.h"
#include "join/join.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Limit of a symbol table in bytes. Real tables have a few megabytes; a larger one is an
 * attack on memory. */
#define MAX_UNPACKED (256u * 1024 * 1024)

/* Reads all members of the stream, as gzip does. Earlier joins may have concatenated
 * several. */
static bool
unpack_gzip (const uint8_t *in, size_t in_size, uint8_t **out, size_t *out_size)
{
  z_stream stream = { .next_in = (uint8_t *) in, .avail_in = (uInt) in_size };
  size_t capacity = in_size * 4 + 4096;
  size_t size = 0;
  uint8_t *bytes = malloc (capacity);
  int result = Z_OK;

  if (bytes == NULL || in_size > UINT32_MAX || inflateInit2 (&stream, 15 + 16) != Z_OK)
    {
      free (bytes);
      return false;
    }
  while (result == Z_OK && size < MAX_UNPACKED)
    {
      uInt room;

      if (size == capacity)
        {
          uint8_t *larger = realloc (bytes, capacity * 2);

          if (larger == NULL)
            break;
          bytes = larger;
          capacity *= 2;
        }
      room = (uInt) MIN (capacity - size, UINT32_MAX);
      stream.next_out = bytes + size;
      stream.avail_out = room;
      result = inflate (&stream, Z_NO_FLUSH);
      size += room - stream.avail_out;
      if (result == Z_STREAM_END && stream.avail_in > 0)
        result = inflateReset (&stream);
    }
  (void) inflateEnd (&stream); /* releases the stream in any state */
  if (result != Z_STREAM_END)
    {
      free (bytes);
      errno = EINVAL;
      return false;
    }
  *out = bytes;
  *out_size = size;
  return true;
}

static SysprofCaptureReader *
open_capture (const char *path, GError **error)
{
  autofd fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  SysprofCaptureReader *reader;
  struct stat info;

  if (fd < 0 || fstat (fd, &info) < 0)
    {
      sysprof_set_error_errno (error, "Cannot open '%s'", path);
      return NULL;
    }
  if (!S_ISREG (info.st_mode))
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot join '%s': it is not a regular file. Save the capture to a file first.",
          path);
      return NULL;
    }
  reader = sysprof_capture_reader_new_from_fd (sysprof_steal_fd (&fd));
  if (reader == NULL && errno != EBADMSG)
    sysprof_set_error_errno (error, "Cannot read '%s'", path);
  else if (reader == NULL)
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_CORRUPT,
                 "Cannot join '%s': it is not a capture (%" G_GUINT64_FORMAT
                 " bytes; unpack it first if it is "
                 "compressed).",
                 path, (guint64) info.st_size);
  return reader;
}

/* The header of a joined capture is known only at the end. It is written there if the output
 * can seek. */
static bool
can_go_back (int fd)
{
  int flags = fcntl (fd, F_GETFL);

  return lseek (fd, 0, SEEK_CUR) >= 0 && flags >= 0 && (flags & O_APPEND) == 0;
}

static int
open_target (GError **error)
{
  bool is_direct = can_go_back (STDOUT_FILENO);
  int fd = is_direct ? fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                     : sysprof_temporary_file_open_unnamed ();

  if (fd < 0)
    sysprof_set_error_errno (error, "Cannot join by way of a temporary file in '%s'",
                             g_get_tmp_dir ());
  return fd;
}

static gboolean
copy_to_standard_output (int fd)
{
  char bytes[64 * 1024];
  ssize_t n;

  if (lseek (fd, 0, SEEK_SET) < 0)
    return FALSE;
  while ((n = read (fd, bytes, sizeof bytes)) > 0)
    if (!sysprof_write_all (STDOUT_FILENO, bytes, (size_t) n))
      return FALSE;
  return n == 0;
}

/* Reports the parts of a capture that cannot be joined and joins the rest. Returns FALSE if
 * it cannot be read. */
static gboolean
read_through (SysprofCaptureReader *reader, const char *path, GError **error)
{
  SysprofCaptureReadStatus status;

  while (sysprof_capture_reader_skip (reader))
    continue;
  sysprof_capture_reader_get_status (reader, &status);
  (void) sysprof_capture_reader_reset (reader); /* cannot fail */
  if (status.error != 0)
    {
      errno = status.error;
      sysprof_set_error_errno (error, "Cannot read '%s'", path);
      return FALSE;
    }
  if (status.is_cut)
    fprintf (
        stderr,
        "sysprof-cli: '%s' is damaged: nothing from byte %" G_GUINT64_FORMAT
        " on can be read. What comes before is joined; for the rest, copy it again from where it was recorded.\n",
        path, status.end_offset);
  else if (status.n_damaged > 0)
    fprintf (
        stderr,
        "sysprof-cli: '%s' is damaged: %" G_GUINT64_FORMAT
        " frames contradict themselves. All others are joined; for the rest, copy it again from where it was recorded.\n",
        path, status.n_damaged);
  return TRUE;
}

/* Reports what the joined capture lacks because it describes one recording only. */
static void
report_missing (const JoinReport *report)
{
  JoinedFiles left = report->left;

  if (report->n_other_boots > 0)
    fprintf (
        stderr,
        "sysprof-cli: The captures are from several boots. Kernel functions of %zu of them are shown as "
        "'[kernel of another boot]', because kernel addresses differ after each boot. Join captures of one boot to keep them.\n",
        report->n_other_boots);
  if ((left & JOINED_EVENTS) != 0)
    fprintf (
        stderr,
        "sysprof-cli: The sampling event is not recorded in the joined capture, because it is not the same in all captures. "
        "'sysprof-report --weight period' shows it for each capture alone.\n");
  if ((left & report->kept & JOINED_WAITS) != 0)
    fprintf (
        stderr,
        "sysprof-cli: Off-CPU times are kept from one capture only, because they cannot be joined. "
        "'sysprof-report waits' shows them for each capture alone.\n");
  else if ((left & JOINED_WAITS) != 0)
    fprintf (
        stderr,
        "sysprof-cli: Off-CPU times are dropped, because the other captures use the same addresses for other names. "
        "'sysprof-report waits' shows them for each capture alone.\n");
  if ((left & JOINED_KALLSYMS) != 0)
    fprintf (
        stderr,
        "sysprof-cli: Lists of kernel symbols are kept from the first capture only, because the captures have no boot ID. "
        "Symbol tables are joined, so functions that they name keep their names.\n");
  if ((left & JOINED_JIT_CODE) != 0)
    fprintf (
        stderr,
        "sysprof-cli: Lists of generated code are dropped, because they are valid for the processes of one capture only. "
        "Symbol tables are joined, so functions that they name keep their names.\n");
  if ((left & JOINED_LISTS) != 0)
    fprintf (
        stderr,
        "sysprof-cli: Damaged lists of a capture (unwind methods, unnamed functions, source lines or thread names) are "
        "dropped; everything else is joined. Copy that capture again from where it was recorded.\n");
}

static gboolean
join (GPtrArray *readers, GError **error)
{
  int fd = open_target (error);
  autofd target = fd >= 0 ? fcntl (fd, F_DUPFD_CLOEXEC, 3) : -1;
  SysprofCaptureWriter *writer = fd < 0 ? NULL : sysprof_capture_writer_new_from_fd (fd, 0);
  JoinReport report = { 0 };
  SysprofCaptureReadStatus status = { 0 };
  gboolean joined;
  int saved;

  if (fd < 0)
    return FALSE;
  joined = writer != NULL && target >= 0 &&
           sysprof_capture_writer_join (writer, (SysprofCaptureReader *const *) readers->pdata,
                                        readers->len, unpack_gzip, &report) &&
           sysprof_capture_writer_flush (writer) &&
           (can_go_back (STDOUT_FILENO) || copy_to_standard_output (target));
  saved = errno;
  for (guint i = 0; i < readers->len && status.error == 0; i++)
    sysprof_capture_reader_get_status (readers->pdata[i], &status);
  errno = status.error != 0 ? status.error : saved;
  if (status.error != 0)
    sysprof_set_error_errno (error, "Cannot read a capture to join");
  else if (!joined)
    sysprof_set_error_errno (error, "Cannot write the joined captures to standard output");
  else
    report_missing (&report);
  g_clear_pointer (&writer, sysprof_capture_writer_unref);
  return joined;
}

gboolean
sysprof_cli_merge (const char *const *captures, GError **error)
{
  g_autoptr (GPtrArray) readers =
      g_ptr_array_new_with_free_func ((GDestroyNotify) sysprof_capture_reader_unref);

  if (!sysprof_cli_check_standard_output (error))
    return FALSE;
  for (size_t i = 0; captures[i] != NULL; i++)
    {
      SysprofCaptureReader *reader = open_capture (captures[i], error);

      if (reader == NULL)
        return FALSE;
      g_ptr_array_add (readers, reader);
      if (!read_through (reader, captures[i], error))
        return FALSE;
    }
  return join (readers, error);
}
