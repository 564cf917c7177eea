// SPDX-License-Identifier: GPL-3.0-or-later

/* The merge of several rings, whose frames this test writes into memory. */

#include "capture/capture.h"
#include "rings/ring-reader.h"
#include "rings/rings.h"

#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sysprof-capture.h>
#include <unistd.h>

#define SIZE    65536U /* bytes of a body */
#define N_RINGS 3

typedef struct
{
  uint64_t header[8];
  uint64_t body[2 * SIZE / 8];
  uint32_t tail;
} Memory;

typedef struct
{
  SysprofCaptureWriter *writer;
  int fd; /* the capture */
  RingSet *rings;
  Memory *memories; /* [N_RINGS] */
} Fixture;

static void
set_up (Fixture *self, const void *data)
{
  self->fd = memfd_create ("capture", MFD_CLOEXEC);
  self->writer = sysprof_capture_writer_new_from_fd (dup (self->fd), 0);
  self->rings = sysprof_ring_set_new (self->writer, NULL, NULL);
  self->memories = g_new0 (Memory, N_RINGS);
  for (unsigned i = 0; i < N_RINGS; i++)
    sysprof_ring_set_add_memory (self->rings, getpid (), (uint8_t *) self->memories[i].header,
                                 (uint8_t *) self->memories[i].body, SIZE);
}

static void
tear_down (Fixture *self, const void *data)
{
  sysprof_ring_set_free (self->rings);
  sysprof_capture_writer_unref (self->writer);
  g_free (self->memories);
  close (self->fd);
}

/* Appends a frame that fits before the end of the body. */
static void
add (Fixture *self, unsigned ring, const void *frame)
{
  Memory *memory = &self->memories[ring];
  uint16_t len = ((const SysprofCaptureFrame *) frame)->len;

  memcpy ((uint8_t *) memory->body + memory->tail, frame, len);
  memory->tail += len;
  ((uint32_t *) memory->header)[RING_TAIL_AT / 4] = memory->tail;
}

#ifdef __clang__
/* Frames that end in an array, followed by its items. */
#  pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
#endif

static void
add_mark (Fixture *self, unsigned ring, int64_t time)
{
  struct
  {
    SysprofCaptureMark mark;
    char message[8];
  } frame = { .mark = { .frame = { .len = sizeof frame,
                                   .type = SYSPROF_CAPTURE_FRAME_MARK,
                                   .pid = 7,
                                   .time = time } } };

  add (self, ring, &frame);
}

static void
define_counter (Fixture *self, unsigned ring, int32_t pid, unsigned id, const char *name)
{
  struct
  {
    SysprofCaptureCounterDefine define;
    SysprofCaptureCounter counter;
  } frame = { .define = { .frame = { .len = sizeof frame,
                                     .type = SYSPROF_CAPTURE_FRAME_CTRDEF,
                                     .pid = pid,
                                     .time = 1 },
                          .n_counters = 1 },
              .counter = { .id = id & 0xffffff } };

  g_strlcpy (frame.counter.name, name, sizeof frame.counter.name);
  add (self, ring, &frame);
}

static void
set_counter (Fixture *self,
             unsigned ring,
             int32_t pid,
             unsigned id,
             int64_t value,
             int64_t time)
{
  struct
  {
    SysprofCaptureCounterSet set;
    SysprofCaptureCounterValues values;
  } frame = { .set = { .frame = { .len = sizeof frame,
                                  .type = SYSPROF_CAPTURE_FRAME_CTRSET,
                                  .pid = pid,
                                  .time = time },
                       .n_values = 1 },
              .values = { .ids = { id }, .values = { { .v64 = value } } } };

  add (self, ring, &frame);
}

static SysprofCaptureReader *
read_back (Fixture *self)
{
  g_assert_true (sysprof_capture_writer_flush (self->writer));
  return sysprof_capture_reader_new_from_fd (dup (self->fd));
}

static void
drain (Fixture *self)
{
  (void) sysprof_ring_set_drain (self->rings, INT64_MAX);
}

static void
assert_n_frames (Fixture *self, uint64_t n)
{
  g_assert_cmpuint (sysprof_capture_writer_get_n_frames (self->writer), ==, n);
}

static void
test_merges_by_time (Fixture *self, const void *data)
{
  SysprofCaptureReader *reader;
  const SysprofCaptureMark *mark;
  int64_t time = 0;

  for (int64_t i = 1; i <= 300; i++)
    add_mark (self, (unsigned) (i * i % 7) % N_RINGS, i);
  g_assert_cmpint (sysprof_ring_set_drain (self->rings, INT64_MAX), ==, RINGS_FILLING);
  g_assert_cmpint (sysprof_ring_set_drain (self->rings, INT64_MAX), ==, RINGS_EMPTY);

  reader = read_back (self);
  while ((mark = sysprof_capture_reader_read_mark (reader)) != NULL)
    g_assert_cmpint (mark->frame.time, ==, ++time);
  g_assert_cmpint (time, ==, 300);
  sysprof_capture_reader_unref (reader);
}

static void
test_stops_at_the_deadline_and_goes_on (Fixture *self, const void *data)
{
  for (int64_t i = 0; i < 500; i++)
    add_mark (self, (unsigned) i % N_RINGS, i);
  g_assert_cmpint (sysprof_ring_set_drain (self->rings, 0), ==, RINGS_FILLING);
  assert_n_frames (self, 64);
  drain (self);
  assert_n_frames (self, 500);
}

static void
test_keeps_equal_ids_of_two_rings_apart (Fixture *self, const void *data)
{
  static const int64_t expected[] = { 10, 20 };
  SysprofCaptureReader *reader;
  const SysprofCaptureCounterDefine *define;
  const SysprofCaptureCounterSet *set;
  unsigned ids[2];

  define_counter (self, 0, 7, 1, "a");
  define_counter (self, 1, 7, 1, "b");
  set_counter (self, 0, 7, 1, 10, 2);
  set_counter (self, 1, 7, 1, 20, 3);
  drain (self);

  reader = read_back (self);
  for (unsigned i = 0; i < 2; i++)
    {
      define = sysprof_capture_reader_read_counter_define (reader);
      g_assert_nonnull (define);
      ids[i] = define->counters[0].id;
    }
  g_assert_cmpuint (ids[0], !=, ids[1]);
  for (unsigned i = 0; i < 2; i++)
    {
      set = sysprof_capture_reader_read_counter_set (reader);
      g_assert_nonnull (set);
      g_assert_cmpuint (set->values[0].ids[0], ==, ids[i]);
      g_assert_cmpint (set->values[0].values[0].v64, ==, expected[i]);
    }
  sysprof_capture_reader_unref (reader);
}

/* The values of ring 1 come before the definition in ring 0 or after it. */
static void
check_counter_of_another_thread (Fixture *self, bool is_set_first)
{
  SysprofCaptureReader *reader;
  const SysprofCaptureCounterDefine *define = NULL;
  const SysprofCaptureCounterSet *set;
  unsigned id = 0;

  if (is_set_first)
    {
      set_counter (self, 1, 7, 5, 0, 0);
      drain (self);
    }
  define_counter (self, 2, 8, 5, "of another process");
  define_counter (self, 0, 7, 5, "a");
  set_counter (self, 1, 7, 5, 42, 2);
  drain (self);

  reader = read_back (self);
  if (is_set_first)
    {
      set = sysprof_capture_reader_read_counter_set (reader);
      id = set->values[0].ids[0];
    }
  for (unsigned i = 0; i < 2; i++)
    {
      define = sysprof_capture_reader_read_counter_define (reader);
      g_assert_nonnull (define);
      if (define->frame.pid == 7 && !is_set_first)
        id = define->counters[0].id;
      else if (define->frame.pid == 7)
        g_assert_cmpuint (define->counters[0].id, ==, id);
    }
  set = sysprof_capture_reader_read_counter_set (reader);
  g_assert_cmpuint (set->values[0].ids[0], ==, id);
  sysprof_capture_reader_unref (reader);
}

static void
test_finds_counters_of_another_thread (Fixture *self, const void *data)
{
  check_counter_of_another_thread (self, false);
}

static void
test_finds_counters_that_are_defined_late (Fixture *self, const void *data)
{
  check_counter_of_another_thread (self, true);
}

static void
count_broken (const RingProgram *program, void *data)
{
  g_assert_cmpint (program->pid, ==, getpid ());
  g_assert_cmpstr (program->name, !=, "");
  *(unsigned *) data += program->n_broken;
}

static void
test_gives_up_broken_rings_only (Fixture *self, const void *data)
{
  unsigned n_broken = 0;

  add_mark (self, 0, 1);
  add_mark (self, 1, 2);
  ((uint32_t *) self->memories[1].header)[RING_TAIL_AT / 4] = 3;
  drain (self);
  g_assert_cmpuint (sysprof_ring_set_get_n (self->rings), ==, N_RINGS - 1);
  assert_n_frames (self, 1);
  add_mark (self, 0, 3);
  add_mark (self, 2, 4);
  drain (self);
  assert_n_frames (self, 3);
  sysprof_ring_set_foreach_program (self->rings, count_broken, &n_broken);
  g_assert_cmpuint (n_broken, ==, 1);
}

static void
test_forgets_rings_that_ended (Fixture *self, const void *data)
{
  SysprofCaptureFrame end = { .len = sizeof end, .type = 0xFF };

  add_mark (self, 0, 1);
  add (self, 0, &end);
  drain (self);
  g_assert_cmpuint (sysprof_ring_set_get_n (self->rings), ==, N_RINGS - 1);
  assert_n_frames (self, 1); /* the end is no frame of a capture */
}

static void
test_counts_losses (Fixture *self, const void *data)
{
  ((uint32_t *) self->memories[0].header)[RING_N_DROPPED_AT / 4] = 5;
  drain (self);
  drain (self);
  g_assert_cmpuint (sysprof_ring_set_get_n_lost (self->rings), ==, 5);
}

static void
test_forgets_many_rings_of_exited_processes (Fixture *self, const void *data)
{
  pid_t exited = fork ();
  int status;

  if (exited == 0)
    _exit (0);
  g_assert_cmpint (waitpid (exited, &status, 0), ==, exited);
  for (unsigned i = 0; i < 3000; i++)
    close (sysprof_ring_set_add (self->rings, exited));
  g_assert_cmpuint (sysprof_ring_set_get_n (self->rings), <=, 512);
  for (unsigned i = 0; i < 1000; i++)
    close (sysprof_ring_set_add (self->rings, getpid ()));
  g_assert_cmpuint (sysprof_ring_set_get_n (self->rings), >=, 1000 + N_RINGS);
}

static SysprofCaptureWriter *
get_late_writer (void *data)
{
  return data;
}

static void
test_separates_traces (Fixture *self, const void *data)
{
  SysprofCaptureTrace trace = {
    .frame = { .len = sizeof trace, .type = SYSPROF_CAPTURE_FRAME_TRACE }, .entering = 1
  };
  int fd = memfd_create ("late", MFD_CLOEXEC);
  SysprofCaptureWriter *late = sysprof_capture_writer_new_from_fd (fd, 0);

  sysprof_ring_set_free (self->rings);
  self->rings = sysprof_ring_set_new (self->writer, get_late_writer, late);
  sysprof_ring_set_add_memory (self->rings, getpid (), (uint8_t *) self->memories[0].header,
                               (uint8_t *) self->memories[0].body, SIZE);
  add (self, 0, &trace);
  add_mark (self, 0, 1);
  drain (self);
  assert_n_frames (self, 1);
  g_assert_cmpuint (sysprof_capture_writer_get_n_frames (late), ==, 1);
  sysprof_capture_writer_unref (late);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *self, const void *data);
  } tests[] = {
    { "merges-by-time", test_merges_by_time },
    { "stops-at-the-deadline-and-goes-on", test_stops_at_the_deadline_and_goes_on },
    { "keeps-equal-ids-of-two-rings-apart", test_keeps_equal_ids_of_two_rings_apart },
    { "finds-counters-of-another-thread", test_finds_counters_of_another_thread },
    { "finds-counters-that-are-defined-late", test_finds_counters_that_are_defined_late },
    { "gives-up-broken-rings-only", test_gives_up_broken_rings_only },
    { "forgets-rings-that-ended", test_forgets_rings_that_ended },
    { "counts-losses", test_counts_losses },
    { "forgets-many-rings-of-exited-processes", test_forgets_many_rings_of_exited_processes },
    { "separates-traces", test_separates_traces },
  };

  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path = g_strconcat ("/rings/ring-set/", tests[i].name, NULL);

      g_test_add (path, Fixture, NULL, set_up, tests[i].test, tear_down);
    }
  return g_test_run ();
}
