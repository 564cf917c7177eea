// SPDX-License-Identifier: GPL-3.0-or-later

/* Switches made by hand, laid out as the format of a kernel says, become the slices that one can count on paper; what cannot be known
 * becomes none. The texts are /sys/kernel/tracing/events/sched/sched_switch/format of Linux 6.1, and one with its fields moved. */

#include "capture/capture.h"
#include "perf/scheduler-marks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* clang-format off */
#define HEAD                                                                                 \
  "name: sched_switch\n"                                                                     \
  "ID: 316\n"                                                                                \
  "format:\n"                                                                                \
  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
  "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"                                 \
  "\n"
#define TAIL                                                                                 \
  "\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d\", REC->prev_comm, REC->prev_pid\n"
#define FIELD(type, name, offset, size) "\tfield:" type " " name ";\toffset:" offset ";\tsize:" size ";\tsigned:0;\n"

static const char usual_format[] = HEAD
  FIELD ("char", "prev_comm[16]", "8", "16") FIELD ("pid_t", "prev_pid", "24", "4")
  FIELD ("int", "prev_prio", "28", "4") FIELD ("long", "prev_state", "32", "8")
  FIELD ("char", "next_comm[16]", "40", "16") FIELD ("pid_t", "next_pid", "56", "4")
  FIELD ("int", "next_prio", "60", "4") TAIL;

static const char moved_format[] = HEAD
  FIELD ("pid_t", "next_pid", "8", "4") FIELD ("pid_t", "prev_pid", "12", "4")
  FIELD ("char", "next_comm[16]", "16", "16") FIELD ("char", "prev_comm[16]", "32", "16") TAIL;
/* clang-format on */

static Text
text (const char *string)
{
  return sysprof_text_from_string (string);
}

static void
test_format (void)
{
  SwitchLayout layout;

  g_assert_true (sysprof_switch_layout_parse (&layout, text (usual_format)));
  g_assert_cmpuint (layout.id, ==, 316);
  g_assert_cmpuint (layout.prev_comm.offset, ==, 8);
  g_assert_cmpuint (layout.prev_pid.offset, ==, 24);
  g_assert_cmpuint (layout.next_comm.offset, ==, 40);
  g_assert_cmpuint (layout.next_pid.offset, ==, 56);

  g_assert_true (sysprof_switch_layout_parse (&layout, text (moved_format)));
  g_assert_cmpuint (layout.prev_pid.offset, ==, 12);
}

static void
test_refuses_other_formats (void)
{
  static const char *const broken[] = {
    "",
    "ID: 316\n",
    HEAD TAIL,
    "ID: 99999999999999999999\n",
    HEAD FIELD ("char", "prev_comm[16]", "8", "16") FIELD ("pid_t", "prev_pid", "24", "8")
        FIELD ("char", "next_comm[16]", "40", "16") FIELD ("pid_t", "next_pid", "56", "4"),
    HEAD FIELD ("char", "prev_comm[8]", "8", "8") FIELD ("pid_t", "prev_pid", "24", "4")
        FIELD ("char", "next_comm[16]", "40", "16") FIELD ("pid_t", "next_pid", "56", "4"),
    HEAD FIELD ("char", "prev_comm[16]", "70000", "16") FIELD ("pid_t", "prev_pid", "24", "4")
        FIELD ("char", "next_comm[16]", "40", "16") FIELD ("pid_t", "next_pid", "56", "4"),
  };

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      SwitchLayout layout;

      g_assert_false (sysprof_switch_layout_parse (&layout, text (broken[i])));
    }

  /* Cut anywhere, it is read as far as it goes. */
  for (size_t size = 0; size < strlen (usual_format); size++)
    {
      g_autofree char *copy = g_memdup2 (usual_format, size);
      SwitchLayout layout;

      (void) sysprof_switch_layout_parse (&layout, (Text){ copy, copy + size });
    }
}

typedef struct
{
  PerfDecoder decoder;
  SchedulerMarks *marks;
  int fd;
} Fixture;

static void
set_up (Fixture *self, gconstpointer format)
{
  SwitchLayout layout;

  self->fd = memfd_create ("scheduler", MFD_CLOEXEC);
  g_assert_cmpint (self->fd, >=, 0);
  self->decoder = (PerfDecoder){
    .writer = sysprof_capture_writer_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3), 0),
  };
  g_assert_true (
      sysprof_switch_layout_parse (&layout, text (format != NULL ? format : usual_format)));
  self->marks = sysprof_scheduler_marks_new (&layout);
  sysprof_scheduler_marks_set_decoder (self->marks, &self->decoder);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sysprof_scheduler_marks_free (self->marks);
  sysprof_capture_writer_unref (self->decoder.writer);
  (void) close (self->fd);
}

typedef struct
{
  int32_t tid;
  const char *comm;
} Thread;

static const Thread idle = { 0, "swapper/1" };
static const Thread make = { 21, "make" };
static const Thread longest = { 22, "fifteen-letters" };

typedef struct
{
  struct perf_event_header header;
  int32_t pid;
  int32_t tid;
  int64_t time;
  uint32_t raw_size;
  uint8_t raw[68];
} SwitchRecord;

static void
put_thread (SwitchRecord *record, size_t comm_at, size_t pid_at, Thread thread)
{
  memcpy (record->raw + pid_at, &thread.tid, sizeof thread.tid);
  memset (record->raw + comm_at, 'x', 16); /* behind the NUL there may be anything */
  memcpy (record->raw + comm_at, thread.comm, strlen (thread.comm) + 1);
}

static SwitchRecord
new_switch (int32_t pid, Thread from, Thread to, int64_t time)
{
  SwitchRecord record = {
    .header = { PERF_RECORD_SAMPLE, 0, sizeof record },
    .pid = pid,
    .tid = from.tid,
    .time = time,
    .raw_size = sizeof record.raw,
  };

  put_thread (&record, 8, 24, from);
  put_thread (&record, 40, 56, to);
  return record;
}

static void
switch_threads (Fixture *self, int cpu, int32_t pid, Thread from, Thread to, int64_t time)
{
  SwitchRecord record = new_switch (pid, from, to, time);

  self->decoder.cpu = cpu;
  sysprof_scheduler_marks_take (&record.header, self->marks);
}

/* "CPU 1: make 100+50 pid 20", a line each, in the order of the file. */
static char *
read_marks (Fixture *self)
{
  GString *found = g_string_new (NULL);
  SysprofCaptureReader *reader;
  const SysprofCaptureMark *mark;

  g_assert_true (sysprof_capture_writer_flush (self->decoder.writer));
  reader = sysprof_capture_reader_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3));
  while ((mark = sysprof_capture_reader_read_mark (reader)) != NULL)
    {
      g_assert_cmpstr (mark->group, ==, "Scheduler");
      g_string_append_printf (found,
                              "%d %s: %s %" G_GINT64_FORMAT "+%" G_GINT64_FORMAT " pid %d\n",
                              mark->frame.cpu, mark->name, mark->message, mark->frame.time,
                              mark->duration, mark->frame.pid);
    }
  sysprof_capture_reader_unref (reader);
  return g_string_free (found, FALSE);
}

static void
assert_marks (Fixture *self, const char *expected)
{
  g_autofree char *found = read_marks (self);

  g_assert_cmpstr (found, ==, expected);
}

static void
test_slices (Fixture *self, gconstpointer data)
{
  sysprof_scheduler_marks_begin (self->marks, 1, 1000);
  sysprof_scheduler_marks_begin (self->marks, 0, 1000);
  switch_threads (self, 1, 20, make, idle, 1100); /* has run since before the begin */
  switch_threads (self, 1, 0, idle, longest, 1200);
  switch_threads (self, 0, 0, idle, make, 1150);
  switch_threads (self, 1, 22, longest, make, 1250);
  switch_threads (self, 0, -1, make, idle, 1300); /* has ended: its process is not known */
  assert_marks (self, "1 CPU 1: make 1000+100 pid 20\n"
                      "1 CPU 1: fifteen-letters 1200+50 pid 22\n"
                      "0 CPU 0: make 1150+150 pid 21\n");
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 0);
}

static void
test_switches_before_the_begin (Fixture *self, gconstpointer data)
{
  sysprof_scheduler_marks_begin (self->marks, 1, 1000);
  switch_threads (self, 1, 0, idle, make, 990);
  switch_threads (self, 1, 20, make, idle, 1010);
  assert_marks (self, "1 CPU 1: make 1000+10 pid 20\n");
}

static void
test_what_runs_at_the_end (Fixture *self, gconstpointer data)
{
  const Thread self_thread = { (int32_t) getpid (), "test" };
  g_autofree char *expected =
      g_strdup_printf ("1 CPU 1: test 1100+400 pid %d\n", (int) getpid ());
  Privilege *privilege = sysprof_privilege_new ();

  sysprof_scheduler_marks_begin (self->marks, 0, 1000);
  sysprof_scheduler_marks_begin (self->marks, 1, 1000);
  switch_threads (self, 1, 0, idle, self_thread, 1100);
  sysprof_scheduler_marks_set_end (self->marks, 1500);
  switch_threads (self, 1, self_thread.tid, self_thread, idle, 1600);
  sysprof_scheduler_marks_finish (self->marks, privilege);
  assert_marks (self, expected);
  sysprof_privilege_unref (privilege);
}

/* A thread that has a CPU for itself all the time: the first switch after the end names it,
 * or else the thread that is running there. */
static void
test_no_switch_at_all (Fixture *self, gconstpointer data)
{
  const int32_t own = (int32_t) getpid ();
  g_autofree char *comm = NULL;
  g_autofree char *expected = NULL;
  Privilege *privilege = sysprof_privilege_new ();

  g_assert_true (g_file_get_contents ("/proc/self/comm", &comm, NULL, NULL));
  expected = g_strdup_printf ("1 CPU 1: make 1000+500 pid 21\n2 CPU 2: %s 1000+500 pid %d\n",
                              g_strstrip (comm), own);
  for (int cpu = 0; cpu < 4; cpu++)
    sysprof_scheduler_marks_begin (self->marks, cpu, 1000);
  sysprof_scheduler_marks_set_end (self->marks, 1500);
  g_assert_true (sysprof_scheduler_marks_has_silent (self->marks));
  sysprof_scheduler_marks_saw (self->marks, 1, own);
  sysprof_scheduler_marks_saw (self->marks, 2, own);
  sysprof_scheduler_marks_saw (self->marks, 3, 0);
  g_assert_true (sysprof_scheduler_marks_has_silent (self->marks));
  switch_threads (self, 0, 0, idle, longest, 1600);
  g_assert_false (sysprof_scheduler_marks_has_silent (self->marks));
  switch_threads (self, 1, 20, make, longest, 1600);
  sysprof_scheduler_marks_finish (self->marks, privilege);
  assert_marks (self, expected);
  sysprof_privilege_unref (privilege);
}

static void
test_nobody_knows_after_a_loss (Fixture *self, gconstpointer data)
{
  struct
  {
    struct perf_event_header header;
    uint64_t id, n;
  } lost = { { PERF_RECORD_LOST, 0, sizeof lost }, 7, 3 };

  sysprof_scheduler_marks_begin (self->marks, 1, 1000);
  switch_threads (self, 1, 0, idle, make, 1010);
  sysprof_scheduler_marks_take (&lost.header, self->marks);
  switch_threads (self, 1, 20, make, longest, 1100);
  switch_threads (self, 1, 20, make, longest, 1200); /* it was not make that ran */
  switch_threads (self, 1, 22, longest, idle, 1300);
  assert_marks (self, "1 CPU 1: fifteen-letters 1200+100 pid 22\n");
  g_assert_cmpuint (self->decoder.n_kernel_lost, ==, 3);
}

static void
test_a_cpu_that_comes_later (Fixture *self, gconstpointer data)
{
  switch_threads (self, 7, 20, make, longest, 1100);
  switch_threads (self, 7, 22, longest, idle, 1300);
  assert_marks (self, "7 CPU 7: fifteen-letters 1100+200 pid 22\n");
}

static void
test_a_slow_disk (Fixture *self, gconstpointer data)
{
  sysprof_scheduler_marks_begin (self->marks, 1, 1000);
  self->decoder.drops_samples = true;
  switch_threads (self, 1, 20, make, longest, 1100);
  self->decoder.drops_samples = false;
  switch_threads (self, 1, 22, longest, idle, 1300);
  assert_marks (self, "1 CPU 1: fifteen-letters 1100+200 pid 22\n");
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 1);
}

static void
test_records_that_lie (Fixture *self, gconstpointer data)
{
  SwitchRecord record = new_switch (20, make, idle, 1100);
  guint n = 0;

  sysprof_scheduler_marks_begin (self->marks, 1, 1000);
  self->decoder.cpu = 1;
  for (guint16 size = sizeof record.header; size < sizeof record; size += 8)
    {
      g_autofree struct perf_event_header *cut = NULL;

      record.header.size = size;
      cut = g_memdup2 (&record, size); /* exactly so large, for what looks at memory */
      sysprof_scheduler_marks_take (cut, self->marks);
      n++;
    }
  record.header.size = sizeof record;
  for (guint32 size = 0; size < 60; size++, n++)
    {
      record.raw_size = size;
      sysprof_scheduler_marks_take (&record.header, self->marks);
    }
  record.raw_size = G_MAXUINT32;
  sysprof_scheduler_marks_take (&record.header, self->marks);
  assert_marks (self, "");
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, n + 1);
}

static void
test_other_layout (Fixture *self, gconstpointer data)
{
  SwitchRecord record = new_switch (20, make, idle, 1100);

  memset (record.raw, 0, sizeof record.raw);
  put_thread (&record, 32, 12, make);
  put_thread (&record, 16, 8, idle);
  sysprof_scheduler_marks_begin (self->marks, 1, 1000);
  self->decoder.cpu = 1;
  sysprof_scheduler_marks_take (&record.header, self->marks);
  assert_marks (self, "1 CPU 1: make 1000+100 pid 20\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/perf/scheduler/format", test_format);
  g_test_add_func ("/perf/scheduler/refuses-other-formats", test_refuses_other_formats);
#define ADD(name, format, func) \
  g_test_add ("/perf/scheduler/" name, Fixture, format, set_up, func, tear_down)
  ADD ("slices", NULL, test_slices);
  ADD ("switches-before-the-begin", NULL, test_switches_before_the_begin);
  ADD ("what-runs-at-the-end", NULL, test_what_runs_at_the_end);
  ADD ("no-switch-at-all", NULL, test_no_switch_at_all);
  ADD ("unknown-after-a-loss", NULL, test_nobody_knows_after_a_loss);
  ADD ("a-cpu-that-comes-later", NULL, test_a_cpu_that_comes_later);
  ADD ("a-slow-disk", NULL, test_a_slow_disk);
  ADD ("records-that-lie", NULL, test_records_that_lie);
  ADD ("other-layout", moved_format, test_other_layout);
  return g_test_run ();
}
