// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes texts into the capture as embedded files, in chunks, compressed if that makes them
 * smaller. */

#include "capture/capture.h"
#include "record/recording-context.h"

#include <string.h>
#include <zlib.h>

/* Sysprof 3.46 accepts frames of at most 16,384 bytes. */
#define CHUNK_SIZE 16100
#define GZIP_LEVEL 6
#define GZIP_BITS  (15 + 16) /* the largest window, with a gzip header */

/* NULL if compression does not make it smaller. */
static GByteArray *
compress_bytes (const void *bytes, size_t size)
{
  z_stream stream = { 0 };
  g_autoptr (GByteArray) packed = NULL;
  bool is_whole;

  if (size < 64 || size > G_MAXUINT / 2 ||
      deflateInit2 (&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return NULL;

  packed = g_byte_array_sized_new ((guint) size);
  g_byte_array_set_size (packed, (guint) size);
  stream.next_in = (Bytef *) bytes;
  stream.avail_in = (uInt) size;
  stream.next_out = packed->data;
  stream.avail_out = (uInt) size;
  is_whole = deflate (&stream, Z_FINISH) == Z_STREAM_END;
  g_byte_array_set_size (packed, (guint) stream.total_out);
  /* Fails if the stream did not fit into the buffer; then compression gains nothing. */
  (void) deflateEnd (&stream);

  return is_whole ? g_steal_pointer (&packed) : NULL;
}

static bool
add_chunks (RecordingContext *self,
            int64_t time,
            int32_t pid,
            const char *name,
            const uint8_t *bytes,
            size_t size)
{
  size_t at = 0;

  do
    {
      size_t n = MIN (size - at, CHUNK_SIZE);

      if (!sysprof_capture_writer_add_file (self->writer, time, -1, pid, name, at + n == size,
                                            bytes + at, n))
        return false;
      at += n;
    }
  while (at < size);

  return true;
}

bool
sysprof_context_add_file (RecordingContext *self,
                          int64_t time,
                          int32_t pid,
                          const char *name,
                          const void *bytes,
                          size_t size,
                          bool compress)
{
  /* Files that are added after the end of the recording must not make it longer. */
  int64_t own_time = self->end != 0 ? MIN (time, self->end) : time;
  g_autoptr (GByteArray) packed = compress ? compress_bytes (bytes, size) : NULL;
  g_autofree char *packed_name = packed != NULL ? g_strconcat (name, ".gz", NULL) : NULL;
  bool is_added = packed != NULL
                      ? add_chunks (self, own_time, pid, packed_name, packed->data, packed->len)
                      : add_chunks (self, own_time, pid, name, bytes, size);

  if (!is_added)
    sysprof_context_add_lost (self, LOST_OTHERS, 1);
  return is_added;
}
