// SPDX-License-Identifier: GPL-3.0-or-later

/* The reader of one ring, over memory that this test fills as a writer would, and as a hostile
 * program would. */

#include "rings/ring-reader.h"

#include <glib.h>
#include <string.h>
#include <sysprof-capture.h>

#define SIZE 4096U /* bytes of the body */

typedef struct
{
  RingReader reader;
  uint64_t header[8];
  uint64_t body[2 * SIZE / 8];
  uint64_t frame[RING_FRAME_MAX / 8];
} Fixture;

static void
set_up (Fixture *self, const void *data)
{
  memset (self, 0, sizeof *self);
  sysprof_ring_reader_init (&self->reader, (uint8_t *) self->header, (uint8_t *) self->body,
                            4096, SIZE);
}

static uint32_t *
number (Fixture *self, unsigned at)
{
  return (uint32_t *) self->header + at / 4;
}

/* Stores bytes in both copies of the body. */
static void
put (Fixture *self, uint32_t at, const void *bytes, size_t size)
{
  uint8_t *body = (uint8_t *) self->body;

  for (size_t i = 0; i < size; i++)
    {
      body[(at + i) % SIZE] = ((const uint8_t *) bytes)[i];
      body[(at + i) % SIZE + SIZE] = ((const uint8_t *) bytes)[i];
    }
}

static void
put_header (Fixture *self, uint32_t at, uint16_t len, uint8_t type, int64_t time)
{
  SysprofCaptureFrame frame = { .len = len, .time = time, .type = type };

  put (self, at, &frame, sizeof frame);
}

static RingStatus
look_and_take (Fixture *self, uint32_t tail)
{
  *number (self, RING_TAIL_AT) = tail;
  sysprof_ring_reader_look (&self->reader);
  return sysprof_ring_reader_take (&self->reader, (uint8_t *) self->frame);
}

static void
test_writes_the_header_that_writers_expect (Fixture *self, const void *data)
{
  g_assert_cmpuint (*number (self, RING_HEAD_AT), ==, 0);
  g_assert_cmpuint (*number (self, RING_TAIL_AT), ==, 0);
  g_assert_cmpuint (*number (self, RING_OFFSET_AT), ==, 4096);
  g_assert_cmpuint (*number (self, RING_SIZE_AT), ==, SIZE);
}

static void
test_takes_frames_over_the_end_of_the_body (Fixture *self, const void *data)
{
  const SysprofCaptureFrame *frame = (const SysprofCaptureFrame *) self->frame;
  uint32_t at = 0;

  /* 104 does not divide 4096: in 10 rounds frames stand over the end in several ways. */
  for (unsigned i = 0; i < 10 * SIZE / 104; i++)
    {
      uint32_t next = (at + 104) % SIZE;

      put_header (self, at, 104, SYSPROF_CAPTURE_FRAME_MARK, i);
      *number (self, RING_TAIL_AT) = next;
      sysprof_ring_reader_look (&self->reader);
      g_assert_cmpint (sysprof_ring_reader_peek_time (&self->reader), ==, i);
      g_assert_cmpint (sysprof_ring_reader_take (&self->reader, (uint8_t *) self->frame), ==,
                       RING_FRAME);
      g_assert_cmpint (frame->time, ==, i);
      g_assert_cmpint (sysprof_ring_reader_take (&self->reader, (uint8_t *) self->frame), ==,
                       RING_EMPTY);
      sysprof_ring_reader_release (&self->reader);
      g_assert_cmpuint (*number (self, RING_HEAD_AT), ==, next);
      at = next;
    }
}

static void
test_ends_texts_that_have_no_end (Fixture *self, const void *data)
{
  const SysprofCaptureMark *mark = (const SysprofCaptureMark *) self->frame;
  uint8_t text[128];

  memset (text, 'x', sizeof text);
  put (self, 0, text, sizeof text);
  put_header (self, 0, 128, SYSPROF_CAPTURE_FRAME_MARK, 1);
  g_assert_cmpint (look_and_take (self, 128), ==, RING_FRAME);
  g_assert_cmpuint (strlen (mark->group), ==, 23);
  g_assert_cmpuint (strlen (mark->name), ==, 39);
  g_assert_cmpuint (strlen (mark->message), ==, 31);
}

static void
test_refuses_lengths_that_make_no_sense (Fixture *self, const void *data)
{
  static const uint16_t lengths[] = { 0, 8, 16, 23, 25, 26, 100, 112, 65528, 65535 };

  for (size_t i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      set_up (self, NULL);
      put_header (self, 0, lengths[i], SYSPROF_CAPTURE_FRAME_MARK, 1);
      g_assert_cmpint (look_and_take (self, 104), ==, RING_BROKEN);
      g_assert_cmpint (look_and_take (self, 208), ==, RING_BROKEN); /* for good */
    }
}

static void
test_refuses_tails_out_of_range (Fixture *self, const void *data)
{
  static const uint32_t tails[] = { SIZE, SIZE + 8, UINT32_MAX, 0x80000000U, 4, 1, 103 };

  for (size_t i = 0; i < G_N_ELEMENTS (tails); i++)
    {
      set_up (self, NULL);
      put_header (self, 0, 104, SYSPROF_CAPTURE_FRAME_MARK, 1);
      g_assert_cmpint (look_and_take (self, tails[i]), ==, RING_BROKEN);
    }
}

static void
test_refuses_a_rest_shorter_than_a_header (Fixture *self, const void *data)
{
  put_header (self, 0, 24, SYSPROF_CAPTURE_FRAME_TIMESTAMP, 1);
  g_assert_cmpint (look_and_take (self, 16), ==, RING_BROKEN);
}

static void
test_ignores_what_the_program_writes_to_head (Fixture *self, const void *data)
{
  put_header (self, 0, 24, SYSPROF_CAPTURE_FRAME_TIMESTAMP, 1);
  put_header (self, 24, 24, SYSPROF_CAPTURE_FRAME_TIMESTAMP, 2);
  *number (self, RING_HEAD_AT) = UINT32_MAX;
  *number (self, RING_SIZE_AT) = UINT32_MAX;
  *number (self, RING_OFFSET_AT) = UINT32_MAX;
  g_assert_cmpint (look_and_take (self, 24), ==, RING_FRAME);
  *number (self, RING_HEAD_AT) = 0;
  g_assert_cmpint (look_and_take (self, 48), ==, RING_FRAME);
  g_assert_cmpint (((const SysprofCaptureFrame *) self->frame)->time, ==, 2);
}

static void
test_ends_at_the_end_frame (Fixture *self, const void *data)
{
  put_header (self, 0, 24, SYSPROF_CAPTURE_FRAME_TIMESTAMP, 1);
  put_header (self, 24, 24, 0xFF, 2);
  g_assert_cmpint (look_and_take (self, 48), ==, RING_FRAME);
  g_assert_cmpint (sysprof_ring_reader_take (&self->reader, (uint8_t *) self->frame), ==,
                   RING_ENDED);
}

static void
test_refuses_unknown_types (Fixture *self, const void *data)
{
  static const uint8_t types[] = { 0, SYSPROF_CAPTURE_FRAME_LAST, 0xFE };

  for (size_t i = 0; i < G_N_ELEMENTS (types); i++)
    {
      set_up (self, NULL);
      put_header (self, 0, 24, types[i], 1);
      g_assert_cmpint (look_and_take (self, 24), ==, RING_BROKEN);
    }
}

static void
test_skips_frames_that_contradict_themselves (Fixture *self, const void *data)
{
  SysprofCaptureSample sample = {
    .frame = { .len = 40, .type = SYSPROF_CAPTURE_FRAME_SAMPLE },
    .n_addrs = 2,
  };

  put (self, 0, &sample, sizeof sample);                     /* room for one address */
  put_header (self, 40, 24, SYSPROF_CAPTURE_FRAME_MARK, 1);  /* shorter than a mark */
  put_header (self, 64, 24, SYSPROF_CAPTURE_FRAME_EXIT, 77); /* fine */
  g_assert_cmpint (look_and_take (self, 88), ==, RING_FRAME);
  g_assert_cmpint (((const SysprofCaptureFrame *) self->frame)->time, ==, 77);
  g_assert_cmpuint (self->reader.n_invalid, ==, 2);
}

static void
test_counts_dropped_frames (Fixture *self, const void *data)
{
  g_assert_cmpuint (sysprof_ring_reader_count_dropped (&self->reader), ==, 0);
  *number (self, RING_N_DROPPED_AT) = 5;
  g_assert_cmpuint (sysprof_ring_reader_count_dropped (&self->reader), ==, 5);
  *number (self, RING_N_DROPPED_AT) = 7;
  g_assert_cmpuint (sysprof_ring_reader_count_dropped (&self->reader), ==, 2);
  *number (self, RING_N_DROPPED_AT) = 3; /* it never shrinks */
  g_assert_cmpuint (sysprof_ring_reader_count_dropped (&self->reader), ==, 0);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *self, const void *data);
  } tests[] = {
    { "writes-the-header-that-writers-expect", test_writes_the_header_that_writers_expect },
    { "takes-frames-over-the-end-of-the-body", test_takes_frames_over_the_end_of_the_body },
    { "ends-texts-that-have-no-end", test_ends_texts_that_have_no_end },
    { "refuses-lengths-that-make-no-sense", test_refuses_lengths_that_make_no_sense },
    { "refuses-tails-out-of-range", test_refuses_tails_out_of_range },
    { "refuses-a-rest-shorter-than-a-header", test_refuses_a_rest_shorter_than_a_header },
    { "ignores-what-the-program-writes-to-head", test_ignores_what_the_program_writes_to_head },
    { "ends-at-the-end-frame", test_ends_at_the_end_frame },
    { "refuses-unknown-types", test_refuses_unknown_types },
    { "skips-frames-that-contradict-themselves", test_skips_frames_that_contradict_themselves },
    { "counts-dropped-frames", test_counts_dropped_frames },
  };

  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path = g_strconcat ("/rings/ring-reader/", tests[i].name, NULL);

      g_test_add (path, Fixture, NULL, set_up, tests[i].test, NULL);
    }
  return g_test_run ();
}
