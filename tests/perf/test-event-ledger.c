// SPDX-License-Identifier: GPL-3.0-or-later

/* The log of samples is read back from the capture as docs/format.md defines it, entry by
 * entry. Samples with an event and a period, in the layout of perf_event_open(2), are
 * logged. */

#include "capture/capture.h"
#include "perf/decode.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct
{
  SysprofCaptureWriter *writer;
  EventLedger *ledger;
  int fd;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->fd = memfd_create ("ledger", MFD_CLOEXEC);
  g_assert_cmpint (self->fd, >=, 0);
  self->writer = sysprof_capture_writer_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3), 0);
  g_assert_nonnull (self->writer);
  self->ledger = sysprof_event_ledger_new ();
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sysprof_event_ledger_free (self->ledger);
  sysprof_capture_writer_unref (self->writer);
  (void) close (self->fd);
}

/* The bytes of the file. All its chunks are small enough for old readers, and only the last
 * one is marked as the last. */
static GByteArray *
read_back (Fixture *self)
{
  GByteArray *bytes = g_byte_array_new ();
  const SysprofCaptureFileChunk *chunk;
  SysprofCaptureFrameType type;
  SysprofCaptureReader *reader;
  bool is_last = false;
  gint64 latest = G_MININT64;

  g_assert_true (sysprof_event_ledger_finish (self->ledger, self->writer, 99));
  g_assert_true (sysprof_capture_writer_flush (self->writer));
  reader = sysprof_capture_reader_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3));
  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      chunk = sysprof_capture_reader_read_file (reader);
      if (chunk == NULL)
        {
          g_assert_true (sysprof_capture_reader_skip (reader));
          continue;
        }
      g_assert_false (is_last);
      g_assert_cmpstr (chunk->path, ==, "__periods__");
      g_assert_cmpint (chunk->frame.len, <=, 16384);
      g_byte_array_append (bytes, chunk->data, chunk->len);
      is_last = chunk->is_last;
      latest = MAX (latest, chunk->frame.time);
      g_assert_true (!is_last || chunk->frame.time == latest);
    }
  g_assert_true (is_last);
  sysprof_capture_reader_unref (reader);
  return bytes;
}

/* i64 time, u64 period, i32 thread, u8 event, three zeros; little endian. */
static void
assert_entry (const GByteArray *bytes,
              guint i,
              gint64 time,
              guint64 period,
              gint32 tid,
              guint8 event)
{
  guint8 expected[24] = { 0 };

  for (guint byte = 0; byte < 8; byte++)
    {
      expected[byte] = (guint8) ((guint64) time >> 8 * byte);
      expected[8 + byte] = (guint8) (period >> 8 * byte);
    }
  for (guint byte = 0; byte < 4; byte++)
    expected[16 + byte] = (guint8) ((guint32) tid >> 8 * byte);
  expected[20] = event;
  g_assert_cmpuint (bytes->len, >=, (i + 1) * 24);
  g_assert_cmpmem (bytes->data + i * 24, 24, expected, 24);
}

static void
test_entries (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) bytes = NULL;

  sysprof_event_ledger_add_id (self->ledger, 7001, 0);
  sysprof_event_ledger_add_id (self->ledger, 7002, 3);
  g_assert_true (sysprof_event_ledger_note (self->ledger, self->writer, 7002, 1000000007, 345,
                                            G_MAXUINT64 - 1));
  g_assert_true (
      sysprof_event_ledger_note (self->ledger, self->writer, 7001, -5, G_MAXINT32, 1));
  g_assert_false (sysprof_event_ledger_note (self->ledger, self->writer, 7003, 1, 1, 1));
  g_assert_false (sysprof_event_ledger_note (self->ledger, self->writer, 0, 1, 1, 1));
  bytes = read_back (self);
  g_assert_cmpuint (bytes->len, ==, 2 * 24);
  assert_entry (bytes, 0, 1000000007, G_MAXUINT64 - 1, 345, 3);
  assert_entry (bytes, 1, -5, 1, G_MAXINT32, 0);
}

static void
test_none (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) bytes = read_back (self);

  g_assert_cmpuint (bytes->len, ==, 0);
}

/* More ids than slots at first, and more entries than a chunk. */
static void
test_many (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) bytes = NULL;

  for (guint i = 0; i < 1000; i++)
    sysprof_event_ledger_add_id (self->ledger, 64 * (i + 1), i % 32);
  for (guint i = 0; i < 5000; i++)
    g_assert_true (sysprof_event_ledger_note (self->ledger, self->writer, 64 * (i % 1000 + 1),
                                              i, (gint32) (2 * i), 3 * (guint64) i));
  bytes = read_back (self);
  g_assert_cmpuint (bytes->len, ==, 5000 * 24);
  for (guint i = 0; i < 5000; i++)
    assert_entry (bytes, i, i, 3 * (guint64) i, (gint32) (2 * i), (guint8) (i % 1000 % 32));
}

static void
test_samples (Fixture *self, gconstpointer data)
{
  static const struct
  {
    struct perf_event_header header;
    guint64 ip;
    gint32 pid, tid;
    guint64 time, id, period, n, chain[2];
  } record = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof record },
               0x401000,
               345,
               346,
               1000000007,
               12,
               64,
               2,
               { (guint64) PERF_CONTEXT_USER, 0x401000 } };
  ProcessLog log = { 0 };
  PerfDecoder decoder = {
    .writer = self->writer, .log = &log, .has_chains = true, .ledger = self->ledger, .cpu = 1
  };
  g_autoptr (GByteArray) bytes = NULL;
  const SysprofCaptureSample *sample;
  SysprofCaptureReader *reader;

  sysprof_perf_decode (&record.header, &decoder); /* of an unknown event */
  g_assert_cmpuint (decoder.n_dropped_samples, ==, 1);
  sysprof_event_ledger_add_id (self->ledger, 12, 2);
  sysprof_perf_decode (&record.header, &decoder);
  g_assert_cmpuint (decoder.n_dropped_samples, ==, 1);

  bytes = read_back (self);
  g_assert_cmpuint (bytes->len, ==, 24);
  assert_entry (bytes, 0, 1000000007, 64, 346, 2);
  reader = sysprof_capture_reader_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3));
  sample = sysprof_capture_reader_read_sample (reader);
  g_assert_nonnull (sample);
  g_assert_cmpmem (sample->addrs, sample->n_addrs * sizeof (guint64), record.chain,
                   sizeof record.chain);
  sysprof_capture_reader_unref (reader);
  sysprof_process_log_clear (&log);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) \
  g_test_add ("/perf/event-ledger/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("entries", test_entries);
  ADD ("none", test_none);
  ADD ("many", test_many);
  ADD ("samples", test_samples);
  return g_test_run ();
}
