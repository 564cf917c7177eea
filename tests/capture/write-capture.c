// SPDX-License-Identifier: BSD-2-Clause

/* Writes a capture with frames of all types, of known content, through the public functions of
 * a writer: linked with this library and with others of the same interface, whose bytes are
 * then compared.
 *
 * usage: write-capture CAPTURE
 */

#include <sysprof-capture.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
four_addresses (SysprofCaptureAddress *addrs, unsigned int n_addrs, void *user_data)
{
  (void) user_data;
  for (unsigned int i = 0; i < 4 && i < n_addrs; i++)
    addrs[i] = 0x7f0000001000 + i;

  return 4;
}

static bool
write_counters (SysprofCaptureWriter *writer)
{
  SysprofCaptureCounter counters[20];
  SysprofCaptureCounterValue values[20];
  unsigned int ids[20];
  unsigned int first = sysprof_capture_writer_request_counter (writer, 20);

  memset (counters, 0, sizeof counters);
  for (unsigned int i = 0; i < 20; i++)
    {
      (void) snprintf (counters[i].category, sizeof counters[i].category, "category %u", i / 4);
      (void) snprintf (counters[i].name, sizeof counters[i].name, "name %u", i);
      (void) snprintf (counters[i].description, sizeof counters[i].description, "text %u", i);
      counters[i].id = (first + i) & 0xffffff;
      counters[i].type = i % 2;
      counters[i].value.v64 = i * 1000;
      ids[i] = first + i;
      if (i % 2)
        values[i].vdbl = i * 1.25;
      else
        values[i].v64 = -(int64_t) i;
    }

  return sysprof_capture_writer_define_counters (writer, 20, -1, -1, counters, 20) &&
         sysprof_capture_writer_set_counters (writer, 21, -1, -1, ids, values, 20) &&
         sysprof_capture_writer_set_counters (writer, 22, -1, -1, ids, values, 8) &&
         sysprof_capture_writer_set_counters (writer, 23, 3, 4, ids, values, 1);
}

static bool
write_texts (SysprofCaptureWriter *writer, const char *text)
{
  static const char long_text[] =
      "a text that is longer than any of the fields of fixed size that it is put into, so that it is cut there: "
      "a group has 24 bytes, a name has 40, the id of metadata 40, the domain of a log 32, but a path has 256, "
      "which takes some more words to fill than one would have thought when one began to write them down here";

  return sysprof_capture_writer_add_process (writer, 30, -1, 300, text) &&
         sysprof_capture_writer_add_map (writer, 31, 1, 300, 0x400000, 0x500000, 0x1000, 77,
                                         text) &&
         sysprof_capture_writer_add_mark (writer, 32, 2, 300, 1000, "group", text, text) &&
         sysprof_capture_writer_add_mark (writer, 33, 2, 300, 0, long_text, long_text, text) &&
         sysprof_capture_writer_add_metadata (writer, 34, -1, -1, "id", text, -1) &&
         sysprof_capture_writer_add_metadata (writer, 35, -1, -1, long_text, text,
                                              (ssize_t) strlen (text) / 2) &&
         sysprof_capture_writer_add_log (writer, 36, 0, 300, 16, "domain", text) &&
         sysprof_capture_writer_add_log (writer, 37, 0, 300, 128, long_text, text) &&
         sysprof_capture_writer_add_file (writer, 38, -1, -1, long_text, false,
                                          (const uint8_t *) text, strlen (text)) &&
         sysprof_capture_writer_add_file (writer, 39, -1, -1, long_text, true, NULL, 0) &&
         sysprof_capture_writer_add_overlay (writer, 40, -1, 300, 2, "/src", "/");
}

static bool
write_stacks (SysprofCaptureWriter *writer)
{
  SysprofCaptureAddress addrs[200];

  for (unsigned int i = 0; i < 200; i++)
    addrs[i] = 0x400000 + 16 * i;

  for (unsigned int n = 0; n < 200; n += 7)
    if (!sysprof_capture_writer_add_sample (writer, 50 + n, 1, 300, 301, addrs, n) ||
        !sysprof_capture_writer_add_allocation_copy (
            writer, 51 + n, 2, 300, 302, 0xdead0000 + n, 64 * (int) n + 1, addrs, n))
      return false;

  return sysprof_capture_writer_add_allocation (writer, 60, 3, 300, 303, 0xbeef, 12,
                                                four_addresses, NULL) &&
         sysprof_capture_writer_add_allocation_copy (writer, 61, 3, 300, 303, 0xbeef, 0, NULL,
                                                     0);
}

static bool
write_names (SysprofCaptureWriter *writer)
{
  SysprofCaptureAddress addrs[3];

  addrs[0] = sysprof_capture_writer_add_jitmap (writer, "one");
  addrs[1] = sysprof_capture_writer_add_jitmap (writer, "two");
  addrs[2] = sysprof_capture_writer_add_jitmap (writer, "one");

  return sysprof_capture_writer_add_sample (writer, 70, -1, 300, -1, addrs, 3);
}

int
main (int argc, char **argv)
{
  static const char *const texts[] = { "", "x", "1234567", "12345678",
                                       "a text of some length" };
  SysprofCaptureWriter *writer;
  bool is_written;

  if (argc != 2)
    return 2;

  writer = sysprof_capture_writer_new (argv[1], 0);
  if (writer == NULL)
    return 1;

  is_written = sysprof_capture_writer_add_timestamp (writer, 1, 0, 1) &&
               sysprof_capture_writer_add_fork (writer, 2, 1, 300, 301) &&
               sysprof_capture_writer_add_exit (writer, 3, -1, 300) &&
               write_counters (writer) && write_stacks (writer);
  for (unsigned int i = 0; is_written && i < sizeof texts / sizeof texts[0]; i++)
    is_written = write_texts (writer, texts[i]);
  is_written = is_written && sysprof_capture_writer_flush (writer) && write_names (writer) &&
               sysprof_capture_writer_flush (writer);
  sysprof_capture_writer_unref (writer);

  return is_written ? 0 : 1;
}
