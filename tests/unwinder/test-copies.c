// SPDX-License-Identifier: GPL-3.0-or-later

/* Copies that come faster than they are walked: memory stays within bounds, the rest is refused at once and counted, and each
 * that was taken comes out again, once. */

#include "unwinder/copies.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_SIZE 16384
#define MOST_BYTES (64u << 20) /* of copies at once, at the very most */
#define PID        345

typedef struct
{
  UnwindIndex *index;
  UnwindPublisher *publisher;
  CodeProcesses *processes;
  PendingSamples *pending;
  CopiedSamples *copies;
  PerfDecoder decoder;
  ProcessLog log;
  int wake_fd;
  int fd;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->index = g_new0 (UnwindIndex, 1);
  self->publisher = sysprof_unwind_publisher_new (self->index, NULL, NULL);
  self->processes = sysprof_code_processes_new (self->publisher, NULL, NULL, NULL);
  self->pending = sysprof_pending_samples_new ();
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->copies = sysprof_copied_samples_new (
      self->processes, sysprof_unwind_publisher_get_memory (self->publisher), self->pending,
      self->wake_fd, NULL);
  self->fd = memfd_create ("copies", MFD_CLOEXEC);
  self->decoder = (PerfDecoder){
    .writer = sysprof_capture_writer_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3), 0),
    .log = &self->log,
    .has_chains = true,
    .has_copies = true,
  };
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sysprof_copied_samples_free (self->copies);
  sysprof_pending_samples_free (self->pending);
  sysprof_code_processes_free (self->processes);
  sysprof_unwind_publisher_free (self->publisher);
  g_free (self->index);
  sysprof_capture_writer_unref (self->decoder.writer);
  sysprof_process_log_clear (&self->log);
  (void) close (self->wake_fd);
  (void) close (self->fd);
}

static bool
add (Fixture *self, int64_t time)
{
  static const uint8_t stack[STACK_SIZE];
  static const WalkRest rest = { .ip = 0x401000,
                                 .flags = WALK_REST_IS_EXACT | WALK_REST_HAS_REGISTERS,
                                 .size = sizeof stack };
  const WalkedSample sample = { .pid = PID,
                                .tid = PID,
                                .time = time,
                                .user = &rest.ip,
                                .n_user = 1,
                                .reason = WALK_OVERLOAD,
                                .rest = &rest,
                                .stack = stack,
                                .is_cut = true };

  return sysprof_copied_samples_add (self->copies, &sample);
}

static void
execute (Fixture *self)
{
  const TaskEvent event = { .kind = TASK_EXECUTED, .pid = PID, .time = 1 };

  sysprof_code_processes_apply (self->processes, &event);
}

/* Each time once. */
static void
assert_written (Fixture *self, unsigned n)
{
  g_autofree bool *seen = g_new0 (bool, n);
  SysprofCaptureReader *reader;
  SysprofCaptureFrameType type;
  unsigned n_samples = 0;

  sysprof_copied_samples_write (self->copies, &self->decoder);
  sysprof_pending_samples_write (self->pending, &self->decoder);
  g_assert_true (sysprof_capture_writer_flush (self->decoder.writer));
  reader = sysprof_capture_reader_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3));
  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      const SysprofCaptureSample *sample;

      if (type != SYSPROF_CAPTURE_FRAME_SAMPLE)
        {
          g_assert_true (sysprof_capture_reader_skip (reader));
          continue;
        }
      sample = sysprof_capture_reader_read_sample (reader);
      g_assert_cmpint (sample->frame.time, >=, 10);
      g_assert_cmpint (sample->frame.time, <, 10 + (int64_t) n);
      g_assert_false (seen[sample->frame.time - 10]);
      seen[sample->frame.time - 10] = true;
      g_assert_cmpuint (sample->n_addrs, >=, 2);
      g_assert_cmpuint (sample->addrs[1], ==, 0x401000);
      n_samples++;
    }
  sysprof_capture_reader_unref (reader);
  g_assert_cmpuint (n_samples, ==, n);
}

static void
test_what_nobody_walks_is_refused (Fixture *self, gconstpointer data)
{
  CopiedStatus status;
  unsigned n = 0;

  execute (self);
  while (add (self, 10 + n))
    {
      n++;
      g_assert_cmpuint ((uint64_t) n * STACK_SIZE, <=, MOST_BYTES);
    }
  g_assert_cmpuint (n, >, 1000); /* half a second of 1 kHz on two CPUs */
  g_assert_false (add (self, 10 + n));

  sysprof_copied_samples_send (self->copies);
  sysprof_copied_samples_hold (self->copies);
  (void) sysprof_code_processes_publish (self->processes, false, g_get_monotonic_time ());
  sysprof_copied_samples_go_on (self->copies);
  sysprof_copied_samples_finish (self->copies);

  status = sysprof_copied_samples_get_status (self->copies);
  g_assert_cmpuint (status.n_taken, ==, n);
  g_assert_cmpuint (status.n_refused, ==, 2);
  g_assert_cmpuint (status.n_handed_on, ==, 0);
  assert_written (self, n);
}

/* Its process has not been reported. */
static void
test_what_cannot_be_walked_yet_is_handed_on (Fixture *self, gconstpointer data)
{
  for (unsigned i = 0; i < 100; i++)
    g_assert_true (add (self, 10 + i));
  sysprof_copied_samples_send (self->copies);
  sysprof_copied_samples_hold (self->copies);
  sysprof_copied_samples_go_on (self->copies);
  sysprof_copied_samples_finish (self->copies);
  g_assert_cmpuint (sysprof_copied_samples_get_status (self->copies).n_handed_on, ==, 100);
  g_assert_false (sysprof_pending_samples_walk (
      self->pending, self->processes, sysprof_unwind_publisher_get_memory (self->publisher),
      PENDING_WALK_ALL, INT64_MAX));
  assert_written (self, 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/unwinder/copies/refused", Fixture, NULL, set_up,
              test_what_nobody_walks_is_refused, tear_down);
  g_test_add ("/unwinder/copies/handed-on", Fixture, NULL, set_up,
              test_what_cannot_be_walked_yet_is_handed_on, tear_down);
  return g_test_run ();
}
