// SPDX-License-Identifier: GPL-3.0-or-later

/* A capture in memory to write to and look at, for the tests of this folder. */

#pragma once

#include <glib.h>
#include <sysprof-capture.h>
#include <unistd.h>

typedef struct
{
  SysprofCaptureWriter *writer;
  int fd;         /* a second descriptor of the same file */
  uint8_t *bytes; /* [size] what was written, once scratch_flush() was called */
  gsize size;
} Scratch;

static inline void
scratch_open (Scratch *self, gsize buffer_size)
{
  *self = (Scratch){ .fd = sysprof_memfd_create ("scratch") };
  g_assert_cmpint (self->fd, >=, 0);
  self->writer = sysprof_capture_writer_new_from_fd (dup (self->fd), buffer_size);
  g_assert_nonnull (self->writer);
}

static inline void
scratch_read (Scratch *self)
{
  off_t size = lseek (self->fd, 0, SEEK_END);

  g_assert_cmpint (size, >=, 256);
  g_free (self->bytes);
  self->bytes = g_malloc ((gsize) size);
  self->size = (gsize) size;
  g_assert_cmpint (pread (self->fd, self->bytes, self->size, 0), ==, size);
}

static inline void
scratch_flush (Scratch *self)
{
  g_assert_true (sysprof_capture_writer_flush (self->writer));
  scratch_read (self);
}

static inline SysprofCaptureReader *
scratch_reader (Scratch *self)
{
  SysprofCaptureReader *reader = sysprof_capture_reader_new_from_fd (dup (self->fd));

  g_assert_nonnull (reader);

  return reader;
}

static inline void
scratch_close (Scratch *self)
{
  g_clear_pointer (&self->writer, sysprof_capture_writer_unref);
  close (self->fd);
  g_free (self->bytes);
}

/* A reader of a capture that consists of `frames` behind a header; the byte order is
 * little-endian or big-endian. */
static inline SysprofCaptureReader *
reader_of_frames (const uint8_t *frames, gsize size, gboolean is_big_endian)
{
  static const uint8_t magic[] = { 0x5e, 0x97, 0xca, 0xfd };
  uint8_t header[256] = { 0 };
  int fd = sysprof_memfd_create ("frames");
  SysprofCaptureReader *reader;

  memcpy (header, magic, sizeof magic);
  header[4] = 1;
  header[5] = is_big_endian ? 0 : 1;
  g_assert_cmpint (write (fd, header, sizeof header), ==, sizeof header);
  g_assert_cmpint (write (fd, frames, size), ==, (gssize) size);
  reader = sysprof_capture_reader_new_from_fd (fd);
  g_assert_nonnull (reader);

  return reader;
}
