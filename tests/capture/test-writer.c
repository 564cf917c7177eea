// SPDX-License-Identifier: GPL-3.0-or-later

/* Each frame that the writer makes, byte by byte. */

#include "capture/capture.h"
#include "capture/reader.h"
#include "scratch.h"
#include "vectors.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define HEADER_SIZE 256

/* The vectors are little-endian. Elsewhere a frame has the bytes that the reader, which has its
 * own tests, makes of them for this machine. */
static uint8_t *
native_frame (const uint8_t *vector, gsize size)
{
  SysprofCaptureReader *reader;
  uint8_t *frame;

  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    return g_memdup2 (vector, size);

  reader = reader_of_frames (vector, size, FALSE);
  frame = g_memdup2 (sysprof_capture_reader_peek_known (reader), size);
  sysprof_capture_reader_unref (reader);

  return frame;
}

static void
assert_frame (const uint8_t *bytes, gsize n_bytes, const uint8_t *vector, gsize size)
{
  g_autofree uint8_t *frame = native_frame (vector, size);

  g_assert_cmpmem (bytes, n_bytes, frame, size);
}

/* One number of a vector. */
static void
assert_number (const uint8_t *bytes, const uint8_t *vector, gsize size)
{
  for (gsize i = 0; i < size; i++)
    g_assert_cmphex (bytes[i], ==, vector[G_BYTE_ORDER == G_LITTLE_ENDIAN ? i : size - 1 - i]);
}

static void
assert_only_frame (Scratch *scratch, const uint8_t *frame, gsize size)
{
  scratch_flush (scratch);
  assert_frame (scratch->bytes + HEADER_SIZE, scratch->size - HEADER_SIZE, frame, size);
  scratch_close (scratch);
}

static void
test_header (void)
{
  static const uint8_t begin[] = {
    0x5e, 0x97, 0xca, 0xfd, 1, G_BYTE_ORDER == G_LITTLE_ENDIAN, 0, 0,
  };
  g_autofree char *time = NULL;
  int64_t before = SYSPROF_CAPTURE_CURRENT_TIME;
  int64_t after, value;
  g_autoptr (GDateTime) created = NULL;
  Scratch scratch;

  scratch_open (&scratch, 0);
  scratch_read (&scratch); /* it goes out at once */
  g_assert_cmpuint (scratch.size, ==, HEADER_SIZE);
  after = SYSPROF_CAPTURE_CURRENT_TIME;

  g_assert_cmpmem (scratch.bytes, 8, begin, 8);
  time = g_strndup ((const char *) scratch.bytes + 8, 64);
  g_assert_cmpuint (strlen (time), ==, 20);
  created = g_date_time_new_from_iso8601 (time, NULL);
  g_assert_nonnull (created);
  g_assert_cmpint (g_date_time_to_unix (created), <=, g_get_real_time () / G_USEC_PER_SEC);

  memcpy (&value, scratch.bytes + 72, 8);
  g_assert_cmpint (value, >=, before);
  g_assert_cmpint (value, <=, after);
  for (gsize i = 80; i < HEADER_SIZE; i++)
    g_assert_cmpuint (scratch.bytes[i], ==, 0);

  scratch_flush (&scratch);
  memcpy (&value, scratch.bytes + 80, 8);
  g_assert_cmpint (value, >=, after);
  g_assert_cmpuint (scratch.size, ==, HEADER_SIZE);
  scratch_close (&scratch);
}

static void
test_timestamp (void)
{
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_timestamp (scratch.writer, 1000000001, 2, 345));
  assert_only_frame (&scratch, vector_timestamp, sizeof vector_timestamp);
}

static void
test_sample (void)
{
  static const SysprofCaptureAddress addrs[] = { 0xffffffffffffff80, 0xffffffff81000010,
                                                 0xfffffffffffffe00, 0x401000, 0x402000 };
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (
      sysprof_capture_writer_add_sample (scratch.writer, 1000000002, 1, 345, 346, addrs, 5));
  assert_only_frame (&scratch, vector_sample, sizeof vector_sample);
}

static void
test_map (void)
{
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_map (scratch.writer, 1000000003, -1, 345, 0x400000,
                                                 0x500000, 0x1000, 987654, "/usr/bin/foo"));
  assert_only_frame (&scratch, vector_map, sizeof vector_map);
}

static void
test_map_with_build_id (void)
{
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_map_with_build_id (
      scratch.writer, 1000000001, 2, 345, 0x400000, 0x500000, 0x1000, 987654, "/usr/bin/foo",
      "0123456789abcdef0123456789abcdef01234567"));
  assert_only_frame (&scratch, vector_map_with_build_id, sizeof vector_map_with_build_id);
}

static void
test_process (void)
{
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (
      sysprof_capture_writer_add_process (scratch.writer, 1000000004, -1, 345, "foo --bar"));
  assert_only_frame (&scratch, vector_process, sizeof vector_process);
}

static void
test_fork (void)
{
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_fork (scratch.writer, 1000000005, 0, 345, 399));
  assert_only_frame (&scratch, vector_fork, sizeof vector_fork);
}

static void
test_log (void)
{
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_log (scratch.writer, 1000000013, 0, 345, 16, "Gtk",
                                                 "a log message"));
  assert_only_frame (&scratch, vector_log, sizeof vector_log);
}

static int
three_addresses (SysprofCaptureAddress *addrs, unsigned int n_addrs, void *user_data)
{
  g_assert_cmpuint (n_addrs, ==, 64);
  /* As real unwinders do. */
  memset (addrs - 2, 0xff, 16);
  for (guint i = 0; i < 3; i++)
    addrs[i] = 0x7f0000001000 + i;

  return 3;
}

static void
test_allocation (void)
{
  static const SysprofCaptureAddress addrs[] = { 0x7f0000001000, 0x7f0000001001,
                                                 0x7f0000001002 };
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_allocation (
      scratch.writer, 1000000016, 1, 345, 346, 0xdeadbeef000, 4096, three_addresses, NULL));
  assert_only_frame (&scratch, vector_allocation, sizeof vector_allocation);

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_allocation_copy (
      scratch.writer, 1000000016, 1, 345, 346, 0xdeadbeef000, 4096, addrs, 3));
  assert_only_frame (&scratch, vector_allocation, sizeof vector_allocation);
}

static void
test_overlay (void)
{
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_overlay (scratch.writer, 1000000018, -1, 345, 7,
                                                     "/src/diff", "/"));
  assert_only_frame (&scratch, vector_overlay, sizeof vector_overlay);
}

static void
test_dbus_message (void)
{
  static const uint8_t message[] = "l\1\0\1hello message";
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_dbus_message (
      scratch.writer, 1000000004, -1, -1, SYSPROF_CAPTURE_DBUS_TYPE_SESSION, 0, message, 18));
  assert_only_frame (&scratch, vector_dbus, sizeof vector_dbus);
}

static void
test_dbus_message_too_large (void)
{
  g_autofree uint8_t *message = g_malloc0 (65493);
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_dbus_message (scratch.writer, 1, -1, -1, 1, 0,
                                                          message, 65492));
  scratch_flush (&scratch);
  g_assert_cmpuint (scratch.size, ==, HEADER_SIZE + 65520);
  scratch_close (&scratch);

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_dbus_message (scratch.writer, 1, -1, -1, 1, 0,
                                                          message, 65493));
  scratch_flush (&scratch);
  g_assert_cmpuint (scratch.size, ==, HEADER_SIZE + 32);
  g_assert_cmpuint (scratch.bytes[HEADER_SIZE + 24], ==,
                    G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1 | 1 << 2 : 1 << 6);
  g_assert_cmpuint (scratch.bytes[HEADER_SIZE + 26], ==, 0);
  g_assert_cmpuint (scratch.bytes[HEADER_SIZE + 27], ==, 0);
  scratch_close (&scratch);
}

/* Time and process of the vector are those of the process that made it. */
static void
test_jitmap (void)
{
  const SysprofCaptureAddress mark = sizeof (void *) > 4 ? 0xe000000000000000 : 0xe0000000;
  g_autofree uint8_t *expected = native_frame (vector_jitmap, sizeof vector_jitmap);
  int32_t pid = getpid ();
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_cmphex (sysprof_capture_writer_add_jitmap (scratch.writer, "jitfunc_one"), ==,
                   mark | 1);
  g_assert_cmphex (sysprof_capture_writer_add_jitmap (scratch.writer, "jitfunc_two"), ==,
                   mark | 2);
  g_assert_cmphex (sysprof_capture_writer_add_jitmap (scratch.writer, "jitfunc_one"), ==,
                   mark | 1);
  scratch_flush (&scratch);

  g_assert_cmpmem (scratch.bytes + HEADER_SIZE + 4, 4, &pid, 4);
  memcpy (expected + 4, scratch.bytes + HEADER_SIZE + 4, 12);
  for (uint64_t i = 0; i < 2; i++)
    {
      SysprofCaptureAddress address = mark | (i + 1);

      memcpy (expected + 28 + 20 * i, &address, sizeof address);
    }
  g_assert_cmpmem (scratch.bytes + HEADER_SIZE, scratch.size - HEADER_SIZE, expected,
                   sizeof vector_jitmap);
  scratch_close (&scratch);
}

static void
test_jitmap_stands_before_its_use (void)
{
  SysprofCaptureAddress address;
  Scratch scratch;
  uint16_t len;

  scratch_open (&scratch, 0);
  address = sysprof_capture_writer_add_jitmap (scratch.writer, "name");
  g_assert_true (sysprof_capture_writer_add_sample (scratch.writer, 1, 0, 1, 1, &address, 1));
  scratch_flush (&scratch);
  g_assert_cmpuint (scratch.bytes[HEADER_SIZE + 16], ==, SYSPROF_CAPTURE_FRAME_JITMAP);
  memcpy (&len, scratch.bytes + HEADER_SIZE, sizeof len);
  g_assert_cmpuint (scratch.bytes[HEADER_SIZE + len + 16], ==, SYSPROF_CAPTURE_FRAME_SAMPLE);
  scratch_close (&scratch);
}

static void
test_jitmap_of_many_and_long_names (void)
{
  g_autofree char *long_name = g_strnfill (20000, 'x');
  g_autoptr (GHashTable) seen = g_hash_table_new (g_int64_hash, g_int64_equal);
  g_autofree uint64_t *addresses = g_new0 (uint64_t, 3001);
  const SysprofCaptureJitmap *jitmap;
  SysprofCaptureReader *reader;
  guint n_names = 0;
  Scratch scratch;

  scratch_open (&scratch, 4096);
  for (guint i = 0; i < 3000; i++)
    {
      g_autofree char *name = g_strdup_printf ("name %u", i);

      addresses[i] = sysprof_capture_writer_add_jitmap (scratch.writer, name);
    }
  addresses[3000] = sysprof_capture_writer_add_jitmap (scratch.writer, long_name);
  for (guint i = 0; i < 3001; i++)
    g_assert_true (g_hash_table_add (seen, &addresses[i]));
  scratch_flush (&scratch);

  reader = scratch_reader (&scratch);
  while ((jitmap = sysprof_capture_reader_read_jitmap (reader)) != NULL)
    {
      SysprofCaptureJitmapIter iter;
      SysprofCaptureAddress address;
      const char *name;

      g_assert_cmpuint (jitmap->n_jitmaps, <=, 512);
      sysprof_capture_jitmap_iter_init (&iter, jitmap);
      for (; sysprof_capture_jitmap_iter_next (&iter, &address, &name); n_names++)
        {
          g_autofree char *expected = g_strdup_printf ("name %u", n_names);

          g_assert_cmphex (address, ==, addresses[n_names]);
          if (n_names < 3000)
            g_assert_cmpstr (name, ==, expected);
          else
            g_assert_cmpuint (strlen (name), ==, 16375);
        }
    }
  g_assert_cmpuint (n_names, ==, 3001);
  g_assert_false (sysprof_capture_reader_skip (reader));
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static void
test_counters (void)
{
  SysprofCaptureCounter counters[2] = {
    { .category = "cat", .name = "one", .description = "first", .id = 1, .type = 0 },
    { .category = "cat", .name = "two", .description = "second", .id = 2, .type = 1 },
  };
  unsigned int ids[10];
  SysprofCaptureCounterValue values[10];
  const uint8_t *end, *group;
  Scratch scratch;

  counters[1].value.vdbl = 1.5;
  scratch_open (&scratch, 0);
  g_assert_cmpuint (sysprof_capture_writer_request_counter (scratch.writer, 10), ==, 1);
  g_assert_cmpuint (sysprof_capture_writer_request_counter (scratch.writer, 1), ==, 11);
  g_assert_true (
      sysprof_capture_writer_define_counters (scratch.writer, 1, -1, -1, counters, 2));

  for (guint i = 0; i < 10; i++)
    {
      ids[i] = i + 1;
      values[i].v64 = 100 * (i + 1);
    }
  ids[8] = 9;
  values[8].v64 = 800;
  values[9].vdbl = 22.5;
  g_assert_true (
      sysprof_capture_writer_set_counters (scratch.writer, 2, -1, -1, ids, values, 10));

  scratch_flush (&scratch);
  g_assert_cmpuint (scratch.size, ==, HEADER_SIZE + 32 + 2 * 128 + 224);
  end = scratch.bytes + HEADER_SIZE + 32 + 2 * 128 - sizeof vector_counter_end;
  assert_number (end, vector_counter_end, 3);
  assert_number (end + 3, vector_counter_end + 3, 1);
  assert_number (end + 4, vector_counter_end + 4, 8);
  group = scratch.bytes + scratch.size - sizeof vector_group;
  for (gsize i = 0; i < 8; i++)
    {
      assert_number (group + 4 * i, vector_group + 4 * i, 4);
      assert_number (group + 32 + 8 * i, vector_group + 32 + 8 * i, 8);
    }
  scratch_close (&scratch);
}

static void
test_counter_ids_are_bounded (void)
{
  SysprofCaptureCounter counter = { .id = 5 };
  Scratch scratch;

  scratch_open (&scratch, 0);
  errno = 0;
  g_assert_false (
      sysprof_capture_writer_define_counters (scratch.writer, 1, -1, -1, &counter, 1));
  g_assert_cmpint (errno, ==, EINVAL);
  g_assert_cmpuint (sysprof_capture_writer_request_counter (scratch.writer, 0x1000000), ==, 0);
  g_assert_cmpint (errno, ==, ERANGE);
  g_assert_cmpuint (sysprof_capture_writer_request_counter (scratch.writer, 0xffffff), ==, 1);
  g_assert_cmpuint (sysprof_capture_writer_request_counter (scratch.writer, 1), ==, 0);
  scratch_close (&scratch);
}

static void
test_many_counters_stay_in_usual_frames (void)
{
  g_autofree SysprofCaptureCounter *counters = g_new0 (SysprofCaptureCounter, 2000);
  g_autofree SysprofCaptureCounterValue *values = g_new0 (SysprofCaptureCounterValue, 2000);
  g_autofree unsigned int *ids = g_new0 (unsigned int, 2000);
  SysprofCaptureReader *reader;
  SysprofCaptureFrame frame;
  guint n_defined = 0;
  guint n_groups = 0;
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_cmpuint (sysprof_capture_writer_request_counter (scratch.writer, 2000), ==, 1);
  for (guint i = 0; i < 2000; i++)
    {
      counters[i].id = ids[i] = i + 1;
      values[i].v64 = i;
    }
  g_assert_true (
      sysprof_capture_writer_define_counters (scratch.writer, 1, -1, -1, counters, 2000));
  g_assert_true (
      sysprof_capture_writer_set_counters (scratch.writer, 1, -1, -1, ids, values, 2000));
  scratch_flush (&scratch);

  reader = scratch_reader (&scratch);
  while (sysprof_capture_reader_peek_frame (reader, &frame))
    {
      g_assert_cmpuint (frame.len, <=, 16384);
      if (frame.type == SYSPROF_CAPTURE_FRAME_CTRDEF)
        n_defined += sysprof_capture_reader_read_counter_define (reader)->n_counters;
      else
        n_groups += sysprof_capture_reader_read_counter_set (reader)->n_values;
    }
  g_assert_cmpuint (n_defined, ==, 2000);
  g_assert_cmpuint (n_groups, ==, 250);
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static void
test_padding_is_zero (void)
{
  SysprofCaptureCounter counter;
  Scratch scratch;

  /* Rubbish in the buffer first, so that what a frame leaves out would show. */
  scratch_open (&scratch, 4096);
  for (guint i = 0; i < 200; i++)
    {
      g_autofree char *rubbish = g_strnfill (4000, (char) 0xaa);

      g_assert_true (sysprof_capture_writer_add_process (scratch.writer, -1, -1, -1, rubbish));
    }
  scratch_flush (&scratch);

  memset (&counter, 0xaa, sizeof counter);
  strcpy (counter.category, "c");
  strcpy (counter.name, "n");
  strcpy (counter.description, "d");
  counter.id = sysprof_capture_writer_request_counter (scratch.writer, 1);
  counter.type = 0;
  counter.value.v64 = 0;
  gsize start = scratch.size;
  uint8_t byte = 0;

  g_assert_true (sysprof_capture_writer_define_counters (scratch.writer, 0, 0, 0, &counter, 1));
  g_assert_true (sysprof_capture_writer_add_mark (scratch.writer, 0, 0, 0, 0, "g", "n", "m"));
  g_assert_true (sysprof_capture_writer_add_metadata (scratch.writer, 0, 0, 0, "i", "v", -1));
  g_assert_true (sysprof_capture_writer_add_log (scratch.writer, 0, 0, 0, 0, "d", "m"));
  g_assert_true (
      sysprof_capture_writer_add_file (scratch.writer, 0, 0, 0, "p", false, &byte, 1));
  g_assert_true (sysprof_capture_writer_add_trace (scratch.writer, 0, 0, 0, 0, NULL, 0, true));
  g_assert_true (sysprof_capture_writer_add_overlay (scratch.writer, 0, 0, 0, 0, "s", "d"));
  g_assert_true (
      sysprof_capture_writer_add_dbus_message (scratch.writer, 0, 0, 0, 0, 0, &byte, 1));
  scratch_flush (&scratch);
  for (gsize i = start; i < scratch.size; i++)
    g_assert_cmphex (scratch.bytes[i], !=, 0xaa);
  scratch_close (&scratch);
}

static void
test_trace_keeps_its_type (void)
{
  static const SysprofCaptureAddress addrs[] = { 1, 2 };
  const SysprofCaptureTrace *trace;
  SysprofCaptureReader *reader;
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_trace (scratch.writer, 9, 1, 2, 3, addrs, 2, true));
  scratch_flush (&scratch);
  g_assert_cmpuint (scratch.bytes[HEADER_SIZE + 16], ==, 16);
  g_assert_cmpuint (scratch.bytes[HEADER_SIZE + 26], ==,
                    G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1 : 0x80);
  reader = scratch_reader (&scratch);
  trace = sysprof_capture_reader_read_trace (reader);
  g_assert_nonnull (trace);
  g_assert_true (trace->entering);
  g_assert_cmpuint (trace->n_addrs, ==, 2);
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static void
test_long_texts (void)
{
  g_autofree char *longest = g_strnfill (65431, 'm');
  g_autofree char *too_long = g_strnfill (65432, 'm');
  g_autofree char *field = g_strnfill (500, 'f');
  const SysprofCaptureMark *mark;
  SysprofCaptureReader *reader;
  Scratch scratch;

  scratch_open (&scratch, 4096);
  errno = 0;
  g_assert_false (
      sysprof_capture_writer_add_mark (scratch.writer, 1, 1, 1, 0, field, field, too_long));
  g_assert_cmpint (errno, ==, EMSGSIZE);
  g_assert_true (
      sysprof_capture_writer_add_mark (scratch.writer, 1, 1, 1, 0, field, field, longest));
  g_assert_true (
      sysprof_capture_writer_add_mark (scratch.writer, 1, 1, 1, 0, NULL, NULL, NULL));
  scratch_flush (&scratch);
  g_assert_cmpuint (scratch.size, ==, HEADER_SIZE + 65528 + 104);

  reader = scratch_reader (&scratch);
  mark = sysprof_capture_reader_read_mark (reader);
  g_assert_cmpstr (mark->message, ==, longest);
  g_assert_cmpuint (strlen (mark->group), ==, 23);
  g_assert_cmpuint (strlen (mark->name), ==, 39);
  mark = sysprof_capture_reader_read_mark (reader);
  g_assert_cmpstr (mark->message, ==, "");
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static void
test_file_from_descriptor (void)
{
  g_autofree uint8_t *content = g_malloc (40000);
  g_autofree uint8_t *again = g_malloc (40000);
  const SysprofCaptureFileChunk *chunk;
  SysprofCaptureReader *reader;
  guint n_chunks = 0;
  Scratch scratch;
  int from = sysprof_memfd_create ("from");
  int to = sysprof_memfd_create ("to");

  for (gsize i = 0; i < 40000; i++)
    content[i] = (uint8_t) (i * 7 >> 3);
  g_assert_cmpint (write (from, content, 40000), ==, 40000);
  lseek (from, 0, SEEK_SET);

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_add_file_fd (scratch.writer, 1, -1, -1, "f", from));
  scratch_flush (&scratch);
  reader = scratch_reader (&scratch);
  while ((chunk = sysprof_capture_reader_read_file (reader)) != NULL)
    {
      static const guint sizes[] = { 16100, 16100, 7800, 0 };

      g_assert_cmpuint (chunk->len, ==, sizes[n_chunks]);
      g_assert_cmpuint (chunk->is_last, ==, n_chunks == 3);
      n_chunks++;
    }
  g_assert_cmpuint (n_chunks, ==, 4);
  g_assert_true (sysprof_capture_reader_read_file_fd (reader, "f", to));
  g_assert_cmpint (pread (to, again, 40000, 0), ==, 40000);
  g_assert_cmpmem (content, 40000, again, 40000);
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
  close (from);
  close (to);
}

static uint64_t
u64_at (const uint8_t *bytes)
{
  uint64_t value;

  memcpy (&value, bytes, sizeof value);

  return value;
}

static void
test_frame_index (void)
{
  static const struct
  {
    gsize at, size;
  } numbers[] = { { 0, 2 },  { 2, 2 },  { 4, 4 },  { 16, 1 },
                  { 17, 1 }, { 18, 1 }, { 19, 1 }, { 20, 4 } };
  uint64_t last, previous;
  Scratch scratch;

  scratch_open (&scratch, 8192);
  for (guint i = 0; i < 65536; i++)
    g_assert_true (sysprof_capture_writer_add_timestamp (scratch.writer, i, 0, 0));
  scratch_flush (&scratch);
  g_assert_cmpuint (u64_at (scratch.bytes + 88), ==, 0);
  for (guint i = 0; i < 65537; i++)
    g_assert_true (sysprof_capture_writer_add_timestamp (scratch.writer, i, 0, 0));
  scratch_flush (&scratch);

  /* Each comes after 65536 frames of 24 bytes. */
  last = u64_at (scratch.bytes + 88);
  g_assert_cmpuint (last, ==, HEADER_SIZE + 2 * 65536 * 24 + 32);
  previous = u64_at (scratch.bytes + last + 24);
  g_assert_cmpuint (previous, ==, HEADER_SIZE + 65536 * 24);
  g_assert_cmpuint (u64_at (scratch.bytes + previous + 24), ==, 0);
  g_assert_cmpuint (scratch.size, ==, HEADER_SIZE + (2 * 65536 + 1) * 24 + 2 * 32);

  /* All but time and the offset before. */
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    assert_number (scratch.bytes + last + numbers[i].at, vector_frame_index + numbers[i].at,
                   numbers[i].size);
  scratch_close (&scratch);
}

static void
test_pipe (void)
{
  SysprofCaptureWriter *writer;
  g_autofree uint8_t *bytes = g_malloc (4096);
  int fds[2];

  g_assert_cmpint (pipe (fds), ==, 0);
  g_assert_cmpint (fcntl (fds[1], F_SETFL, O_NONBLOCK), ==, 0);
  writer = sysprof_capture_writer_new_from_fd (fds[1], 0);
  g_assert_nonnull (writer);
  g_assert_true (sysprof_capture_writer_add_timestamp (writer, 1000000001, 2, 345));
  g_assert_true (sysprof_capture_writer_flush (writer));
  g_assert_true (sysprof_capture_writer_flush (writer));
  sysprof_capture_writer_unref (writer);
  g_assert_cmpint (read (fds[0], bytes, 4096), ==, HEADER_SIZE + 24);
  assert_frame (bytes + HEADER_SIZE, 24, vector_timestamp, 24);
  g_assert_cmpint (read (fds[0], bytes, 4096), ==, 0);
  close (fds[0]);
}

static gpointer
drain (gpointer data)
{
  int fd = GPOINTER_TO_INT (data);
  g_autofree uint8_t *bytes = g_malloc (65536);
  gsize total = 0;
  gssize n;

  while ((n = read (fd, bytes, 65536)) > 0)
    total += (gsize) n;

  return GSIZE_TO_POINTER (total);
}

static void
test_full_pipe_that_does_not_block (void)
{
  SysprofCaptureWriter *writer;
  GThread *reader;
  int fds[2];

  g_assert_cmpint (pipe (fds), ==, 0);
  g_assert_cmpint (fcntl (fds[1], F_SETFL, O_NONBLOCK), ==, 0);
  writer = sysprof_capture_writer_new_from_fd (fds[1], 0);
  reader = g_thread_new ("drain", drain, GINT_TO_POINTER (fds[0]));
  for (guint i = 0; i < 100000; i++)
    g_assert_true (sysprof_capture_writer_add_timestamp (writer, i, 0, 0));
  sysprof_capture_writer_unref (writer);
  g_assert_cmpuint (GPOINTER_TO_SIZE (g_thread_join (reader)), ==, HEADER_SIZE + 100000 * 24);
  close (fds[0]);
}

static void
test_append_mode_keeps_frames_whole (void)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "sysprof-append-XXXXXX", NULL);
  SysprofCaptureWriter *writer;
  SysprofCaptureReader *reader;
  int fd = g_mkstemp (path);

  close (fd);
  fd = open (path, O_WRONLY | O_APPEND | O_CLOEXEC);
  writer = sysprof_capture_writer_new_from_fd (fd, 0);
  g_assert_true (sysprof_capture_writer_add_timestamp (writer, 1, 0, 0));
  g_assert_true (sysprof_capture_writer_flush (writer));
  g_assert_true (sysprof_capture_writer_add_exit (writer, 1, 0, 0));
  sysprof_capture_writer_unref (writer);

  reader = sysprof_capture_reader_new (path);
  g_assert_nonnull (sysprof_capture_reader_read_timestamp (reader));
  g_assert_nonnull (sysprof_capture_reader_read_exit (reader));
  g_assert_false (sysprof_capture_reader_skip (reader));
  sysprof_capture_reader_unref (reader);
  unlink (path);
}

/* A limit on the size of files stands for a disk that becomes full and has room again. */
static void
test_full_disk (void)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "sysprof-full-XXXXXX", NULL);
  struct rlimit before, limit;
  SysprofCaptureWriter *writer;
  SysprofCaptureReader *reader;
  struct stat info;
  guint n_added = 0;
  guint n_read = 0;

  close (g_mkstemp (path));
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  signal (SIGXFSZ, SIG_IGN);
  limit = before;
  limit.rlim_cur = 100001; /* in the middle of a frame */
  writer = sysprof_capture_writer_new (path, 4096);
  g_assert_nonnull (writer);

  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
  errno = 0;
  while (n_added < 100000 && sysprof_capture_writer_add_fork (writer, n_added, 0, 0, 1))
    n_added++;
  g_assert_cmpuint (n_added, <, 100000);
  g_assert_cmpint (errno, ==, EFBIG);
  g_assert_false (sysprof_capture_writer_flush (writer));

  /* The existing bytes end with a complete frame. */
  g_assert_cmpint (stat (path, &info), ==, 0);
  g_assert_cmpint ((info.st_size - HEADER_SIZE) % 32, ==, 0);
  g_assert_cmpint (info.st_size, <=, 100001);
  g_assert_cmpint (info.st_size, >, 100001 - 32);

  /* With room again, nothing is missing. */
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
  g_assert_true (sysprof_capture_writer_add_fork (writer, n_added++, 0, 0, 1));
  sysprof_capture_writer_unref (writer);
  signal (SIGXFSZ, SIG_DFL);

  reader = sysprof_capture_reader_new (path);
  for (const SysprofCaptureFork *fork; (fork = sysprof_capture_reader_read_fork (reader));
       n_read++)
    g_assert_cmpint (fork->frame.time, ==, n_read);
  g_assert_cmpuint (n_read, ==, n_added);
  sysprof_capture_reader_unref (reader);
  unlink (path);
}

static void
test_no_room_for_the_header (void)
{
  errno = 0;
  g_assert_null (sysprof_capture_writer_new ("/dev/full", 0));
  g_assert_cmpint (errno, ==, ENOSPC);
}

static void
test_new_file (void)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "sysprof-new-XXXXXX", NULL);
  SysprofCaptureWriter *writer;
  struct stat info;
  mode_t mask = umask (0);

  close (g_mkstemp (path));
  unlink (path);
  writer = sysprof_capture_writer_new (path, 5000);
  g_assert_nonnull (writer);
  umask (mask);
  g_assert_cmpint (stat (path, &info), ==, 0);
  g_assert_cmphex (info.st_mode & 0777, ==, 0640);
  g_assert_cmpuint (sysprof_capture_writer_get_buffer_size (writer) % sysprof_getpagesize (),
                    ==, 0);
  g_assert_cmpuint (sysprof_capture_writer_get_buffer_size (writer), >=, 5000);
  sysprof_capture_writer_unref (writer);
  unlink (path);

  errno = 0;
  g_assert_null (sysprof_capture_writer_new ("/nonexistent/x.syscap", 0));
  g_assert_cmpint (errno, ==, ENOENT);
}

static void
test_trace_fd (void)
{
  static const char *const refused[] = { "", "0", "1", "x", "7x", "-1", " 5", "99999999999" };
  g_autofree char *number = NULL;
  SysprofCaptureWriter *writer;
  int fd = sysprof_memfd_create ("trace");

  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_setenv ("SYSPROF_TRACE_FD", refused[i], TRUE);
      g_assert_null (sysprof_capture_writer_new_from_env (0));
    }

  number = g_strdup_printf ("%d", fd);
  g_setenv ("SYSPROF_TRACE_FD", number, TRUE);
  writer = sysprof_capture_writer_new_from_env (0);
  g_assert_nonnull (writer);
  g_assert_null (sysprof_capture_writer_new_from_env (0));
  sysprof_capture_writer_unref (writer);
  g_assert_cmpint (lseek (fd, 0, SEEK_END), ==, HEADER_SIZE);
  close (fd);
}

typedef struct
{
  uint8_t *spare;
  GByteArray *written;
  gboolean fails;
} Sink;

static uint8_t *
take_buffer (uint8_t *buffer, size_t size, void *data)
{
  Sink *sink = data;
  uint8_t *empty = sink->spare;

  if (sink->fails)
    {
      errno = ENOSPC;
      return NULL;
    }
  g_byte_array_append (sink->written, buffer, (guint) size);
  sink->spare = buffer;

  return empty;
}

static void
test_sink (void)
{
  Sink sink = { .written = g_byte_array_new () };
  Scratch scratch;

  scratch_open (&scratch, 4096);
  sink.spare = aligned_alloc (4096, sysprof_capture_writer_get_capacity (scratch.writer));
  sysprof_capture_writer_set_sink (scratch.writer, take_buffer, &sink);
  for (guint i = 0; i < 1000; i++)
    g_assert_true (sysprof_capture_writer_add_timestamp (scratch.writer, i, 0, 0));
  g_assert_cmpuint (sysprof_capture_writer_get_size (scratch.writer), ==, HEADER_SIZE + 24000);
  g_assert_cmpuint (sysprof_capture_writer_get_n_frames (scratch.writer), ==, 1000);

  /* Bytes that the sink does not accept are not lost. */
  sink.fails = TRUE;
  g_assert_false (sysprof_capture_writer_flush (scratch.writer));
  sink.fails = FALSE;
  g_assert_true (sysprof_capture_writer_flush (scratch.writer));
  g_assert_cmpuint (sink.written->len, ==, 24000);
  for (guint i = 0; i < 1000; i++)
    g_assert_cmpuint (u64_at (sink.written->data + i * 24 + 8), ==, i);

  sysprof_capture_writer_set_sink (scratch.writer, NULL, NULL);
  scratch_close (&scratch);
  free (sink.spare);
  g_byte_array_unref (sink.written);
}

static void
test_frame_index_with_sink (void)
{
  Sink sink = { .written = g_byte_array_new () };
  Scratch scratch;
  gsize written;

  scratch_open (&scratch, 0);
  sink.spare = aligned_alloc (4096, sysprof_capture_writer_get_capacity (scratch.writer));
  sysprof_capture_writer_set_sink (scratch.writer, take_buffer, &sink);
  for (guint i = 0; i < 65537; i++)
    g_assert_true (sysprof_capture_writer_add_timestamp (scratch.writer, i, 0, 0));
  g_assert_true (sysprof_capture_writer_flush (scratch.writer));
  scratch_read (&scratch);
  g_assert_cmpuint (u64_at (scratch.bytes + 88), ==, 0);

  g_assert_true (sysprof_capture_write_frames (sysprof_capture_writer_get_fd (scratch.writer),
                                               sink.written->data, sink.written->len,
                                               &written));
  sysprof_capture_writer_set_sink (scratch.writer, NULL, NULL);
  scratch_flush (&scratch);
  g_assert_cmpuint (u64_at (scratch.bytes + 88), ==, HEADER_SIZE + 65536 * 24);
  scratch_close (&scratch);
  free (sink.spare);
  g_byte_array_unref (sink.written);
}

static void
test_reserve_and_commit (void)
{
  SysprofCaptureStat stat;
  Scratch scratch;
  g_autofree uint8_t *process = native_frame (vector_process, sizeof vector_process);
  uint8_t *place;

  scratch_open (&scratch, 0);
  g_assert_nonnull (sysprof_capture_writer_reserve (scratch.writer, 65528));
  errno = 0;
  g_assert_null (sysprof_capture_writer_reserve (scratch.writer, 65529));
  g_assert_cmpint (errno, ==, EMSGSIZE);

  place = sysprof_capture_writer_reserve (scratch.writer, 100);
  g_assert_cmpuint ((uintptr_t) place % 8, ==, 0);
  memset (place, 0xaa, 100);
  memcpy (place, process, sizeof vector_process);
  memset (place, 0, 2);
  sysprof_capture_writer_commit (scratch.writer, 24 + sizeof "foo --bar");
  sysprof_capture_writer_stat (scratch.writer, &stat);
  g_assert_cmpuint (stat.frame_count[SYSPROF_CAPTURE_FRAME_PROCESS], ==, 1);
  assert_only_frame (&scratch, vector_process, sizeof vector_process);
}

static void
test_time_range (void)
{
  Scratch scratch;

  scratch_open (&scratch, 0);
  g_assert_true (sysprof_capture_writer_set_time_range (scratch.writer, 10, 0));
  scratch_read (&scratch);
  g_assert_cmpuint (u64_at (scratch.bytes + 72), ==, 10);
  g_assert_cmpuint (u64_at (scratch.bytes + 80), ==, 0);
  g_assert_true (sysprof_capture_writer_set_time_range (scratch.writer, 10, 20));
  scratch_flush (&scratch);
  g_assert_cmpuint (u64_at (scratch.bytes + 80), ==, 20);
  scratch_close (&scratch);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/capture/writer/header", test_header);
  g_test_add_func ("/capture/writer/timestamp", test_timestamp);
  g_test_add_func ("/capture/writer/sample", test_sample);
  g_test_add_func ("/capture/writer/map", test_map);
  g_test_add_func ("/capture/writer/map-with-build-id", test_map_with_build_id);
  g_test_add_func ("/capture/writer/process", test_process);
  g_test_add_func ("/capture/writer/fork", test_fork);
  g_test_add_func ("/capture/writer/log", test_log);
  g_test_add_func ("/capture/writer/allocation", test_allocation);
  g_test_add_func ("/capture/writer/overlay", test_overlay);
  g_test_add_func ("/capture/writer/dbus-message", test_dbus_message);
  g_test_add_func ("/capture/writer/dbus-message-too-large", test_dbus_message_too_large);
  g_test_add_func ("/capture/writer/jitmap", test_jitmap);
  g_test_add_func ("/capture/writer/jitmap-stands-before-its-use",
                   test_jitmap_stands_before_its_use);
  g_test_add_func ("/capture/writer/jitmap-of-many-and-long-names",
                   test_jitmap_of_many_and_long_names);
  g_test_add_func ("/capture/writer/counters", test_counters);
  g_test_add_func ("/capture/writer/counter-ids-are-bounded", test_counter_ids_are_bounded);
  g_test_add_func ("/capture/writer/many-counters-stay-in-usual-frames",
                   test_many_counters_stay_in_usual_frames);
  g_test_add_func ("/capture/writer/padding-is-zero", test_padding_is_zero);
  g_test_add_func ("/capture/writer/trace-keeps-its-type", test_trace_keeps_its_type);
  g_test_add_func ("/capture/writer/long-texts", test_long_texts);
  g_test_add_func ("/capture/writer/file-from-descriptor", test_file_from_descriptor);
  g_test_add_func ("/capture/writer/frame-index", test_frame_index);
  g_test_add_func ("/capture/writer/pipe", test_pipe);
  g_test_add_func ("/capture/writer/full-pipe-that-does-not-block",
                   test_full_pipe_that_does_not_block);
  g_test_add_func ("/capture/writer/append-mode-keeps-frames-whole",
                   test_append_mode_keeps_frames_whole);
  g_test_add_func ("/capture/writer/full-disk", test_full_disk);
  g_test_add_func ("/capture/writer/no-room-for-the-header", test_no_room_for_the_header);
  g_test_add_func ("/capture/writer/new-file", test_new_file);
  g_test_add_func ("/capture/writer/trace-fd", test_trace_fd);
  g_test_add_func ("/capture/writer/sink", test_sink);
  g_test_add_func ("/capture/writer/frame-index-with-sink", test_frame_index_with_sink);
  g_test_add_func ("/capture/writer/reserve-and-commit", test_reserve_and_commit);
  g_test_add_func ("/capture/writer/time-range", test_time_range);

  return g_test_run ();
}
