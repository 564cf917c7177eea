// SPDX-License-Identifier: GPL-3.0-or-later

/* Joins captures.
 *
 * usage: join-captures join|cat|splice OUTPUT INPUT…
 */

#include "join/join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define INPUTS_MAX 16

static bool
unpack (const uint8_t *in, size_t in_size, uint8_t **out, size_t *out_size)
{
  z_stream stream = { .next_in = (Bytef *) in, .avail_in = (uInt) in_size };
  size_t capacity = in_size * 40 + 4096;
  uint8_t *bytes = malloc (capacity);
  bool is_whole;

  if (inflateInit2 (&stream, 15 + 16) != Z_OK)
    return false;
  stream.next_out = bytes;
  stream.avail_out = (uInt) capacity;
  is_whole = inflate (&stream, Z_FINISH) == Z_STREAM_END;
  *out = bytes;
  *out_size = capacity - stream.avail_out;
  inflateEnd (&stream);
  if (!is_whole)
    free (bytes);

  return is_whole;
}

int
main (int argc, char **argv)
{
  SysprofCaptureReader *readers[INPUTS_MAX];
  SysprofCaptureWriter *writer;
  size_t n_readers = 0;
  bool is_done = true;

  if (argc < 4 || argc - 3 > INPUTS_MAX)
    return 2;

  for (int i = 3; i < argc; i++)
    {
      readers[n_readers] = sysprof_capture_reader_new (argv[i]);
      if (readers[n_readers] == NULL)
        {
          (void) fprintf (stderr, "%s: %s\n", argv[i], strerror (errno));
          return 1;
        }
      n_readers++;
    }

  writer = sysprof_capture_writer_new (argv[2], 0);
  if (strcmp (argv[1], "join") == 0)
    is_done = sysprof_capture_writer_join (writer, readers, n_readers, unpack, NULL);
  else
    for (size_t i = 0; is_done && i < n_readers; i++)
      is_done = strcmp (argv[1], "cat") == 0
                    ? sysprof_capture_writer_cat (writer, readers[i])
                    : sysprof_capture_reader_splice (readers[i], writer);
  if (!is_done)
    perror ("cannot join");

  sysprof_capture_writer_unref (writer);
  for (size_t i = 0; i < n_readers; i++)
    sysprof_capture_reader_unref (readers[i]);

  return is_done ? 0 : 1;
}
