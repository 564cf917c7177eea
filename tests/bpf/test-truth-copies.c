// SPDX-License-Identifier: GPL-3.0-or-later

/* The same of stacks that are walked outside the kernel, from copies, all the way into the
 * capture. The program in the kernel sends the workload's own list, and lets perf write its
 * record, with the copy, behind it. */

#include "truth-compare.h"

#include "perf/copy.h"
#include "perf/events/event.h"
#include "perf/session.h"
#include "unwinder/unwinder.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENOUGH_SAMPLES 1500
#define MOST_SECONDS   60
#define FREQUENCY      1000
#define MOST_APART \
  300000 /* ns: between the two records of a sample; the next one is a million later */
#define MOST_USER 8192

typedef struct
{
  int64_t time;
  int32_t tid;
} Key;

typedef struct
{
  Comparison comparison;
  PerfDecoder *decoder;
  GHashTable *truths; /* Key → TruthCopy */
  GHashTable *cuts;   /* address of an entry below which stacks were truncated → WalkReason */
  TruthSample truth;  /* the last one */
  Key truth_key;      /* its record's; tid 0 = none */
} Test;

static guint
hash_key (const void *data)
{
  const Key *key = data;

  return g_int64_hash (&key->time) ^ (guint) key->tid;
}

static gboolean
equal_keys (const void *a, const void *b)
{
  const Key *left = a, *right = b;

  return left->time == right->time && left->tid == right->tid;
}

/* By their size: behind the chain stands a raw part and nothing else, or more. */
static bool
is_truth (const struct perf_event_header *record)
{
  const uint64_t *words = (const uint64_t *) (const void *) (record + 1);
  size_t before = sizeof *record + (4 + words[3]) * sizeof *words;
  uint32_t raw_size;

  memcpy (&raw_size, (const uint8_t *) record + before, sizeof raw_size);
  return before + sizeof raw_size + raw_size == record->size;
}

static void
take_record (const struct perf_event_header *record, void *data)
{
  Test *self = data;
  const uint64_t *words = (const uint64_t *) (const void *) (record + 1);
  Key key;

  if (record->type != PERF_RECORD_SAMPLE)
    return;

  key = (Key){ (int64_t) words[2], (int32_t) (words[1] >> 32) };
  if (is_truth (record))
    {
      self->truth_key = parse_truth (&self->truth, record) ? key : (Key){ 0 };
      return;
    }

  if (self->truth_key.tid == key.tid && key.time - self->truth_key.time < MOST_APART)
    g_hash_table_insert (self->truths, g_memdup2 (&key, sizeof key),
                         g_memdup2 (&self->truth.truth, sizeof self->truth.truth));
  self->truth_key = (Key){ 0 };
  sysprof_perf_decode (record, self->decoder);
}

/* Names of addresses may come after the samples that contain them. */
static void
collect_cuts (Test *self, SysprofCaptureReader *reader)
{
  SysprofCaptureFrameType type;

  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      SysprofCaptureJitmapIter iter;
      SysprofCaptureAddress address;
      const char *name;

      if (type != SYSPROF_CAPTURE_FRAME_JITMAP)
        {
          g_assert_true (sysprof_capture_reader_skip (reader));
          continue;
        }
      sysprof_capture_jitmap_iter_init (&iter, sysprof_capture_reader_read_jitmap (reader));
      while (sysprof_capture_jitmap_iter_next (&iter, &address, &name))
        for (unsigned i = 0; i < WALK_REASONS; i++)
          {
            g_autofree char *cut =
                g_strdup_printf ("[stack truncated: %s]", sysprof_walk_reason_to_string (i));

            if (g_str_equal (name, cut))
              g_hash_table_insert (self->cuts, g_memdup2 (&address, sizeof address),
                                   GUINT_TO_POINTER (i));
          }
    }
  g_assert_true (sysprof_capture_reader_reset (reader));
}

static WalkReason
find_cut (Test *self, uint64_t address)
{
  void *reason;

  g_assert_true (g_hash_table_lookup_extended (self->cuts, &address, NULL, &reason));
  return GPOINTER_TO_UINT (reason);
}

static void
compare_written (Test *self, const SysprofCaptureSample *sample)
{
  const Key key = { sample->frame.time, sample->tid };
  const TruthCopy *truth = g_hash_table_lookup (self->truths, &key);
  uint64_t user[MOST_USER];
  TruthSample found = { .reason = WALK_END, .address = user };
  unsigned at = 0;

  if (truth == NULL)
    return;

  found.truth = *truth;
  while (at < sample->n_addrs && sample->addrs[at] != (uint64_t) PERF_CONTEXT_USER)
    at++;
  for (at++; at < sample->n_addrs && found.n < MOST_USER; at++)
    if (sample->addrs[at] >> 61 == 7)
      found.reason = find_cut (self, sample->addrs[at]);
    else
      user[found.n++] = sample->addrs[at];
  if (found.n > 0)
    compare_sample (&self->comparison, &found);
}

static void
compare_all_written (Test *self, int fd)
{
  SysprofCaptureReader *reader = sysprof_capture_reader_new_from_fd (fd);
  SysprofCaptureFrameType type;

  collect_cuts (self, reader);
  while (sysprof_capture_reader_peek_type (reader, &type))
    if (type == SYSPROF_CAPTURE_FRAME_SAMPLE)
      compare_written (self, sysprof_capture_reader_read_sample (reader));
    else
      g_assert_true (sysprof_capture_reader_skip (reader));
  sysprof_capture_reader_unref (reader);
}

static PerfSession *
open_samples (Test *self, const WalkProgram *program, Privilege *privilege, GArray *threads)
{
  g_autoptr (GError) error = NULL;
  PerfSessionOptions options = {
    .target = PERF_TARGET_TASKS,
    .cgroup_fd = -1,
    .tasks = (const pid_t *) (const void *) threads->data,
    .n_tasks = threads->len,
    .samples = true,
    .follows_threads = true,
    .frequency = FREQUENCY,
    .walker = program,
    .stack_size = PERF_COPY_MOST_SIZE,
    .func = take_record,
    .func_data = self,
  };
  PerfSession *session;

  sysprof_perf_event_init_cpu_clock (&options.event);
  session = sysprof_perf_session_open (&options, privilege, &error);
  g_assert_no_error (error);
  return session;
}

static void
record_samples (Test *self, PerfSession *session, Unwinder *unwinder)
{
  sysprof_perf_session_enable (session);
  for (int64_t end = g_get_monotonic_time () + MOST_SECONDS * G_TIME_SPAN_SECOND;
       g_get_monotonic_time () < end && g_hash_table_size (self->truths) < ENOUGH_SAMPLES;)
    {
      (void) poll (NULL, 0, 10); /* the rings fill */
      sysprof_perf_session_drain (session);
      sysprof_unwinder_write_finished (unwinder, self->decoder);
    }
  sysprof_perf_session_disable (session);
  sysprof_perf_session_drain (session);
}

static void
test_stacks_are_the_programs_own (const void *data)
{
  const char *path = data;
  g_autofree Test *self = g_new0 (Test, 1);
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GArray) threads = NULL;
  g_autoptr (GError) error = NULL;
  Privilege *privilege = sysprof_privilege_new ();
  WalkProgram program;
  PerfSession *session;
  Unwinder *unwinder;
  UnwinderStatus status;
  ProcessLog log = { 0 };
  uint64_t n_told; /* that are whole, or end where the copy does */
  uint64_t n_fault, n_zero;
  int fd = memfd_create ("truth", MFD_CLOEXEC);
  pid_t pid;

  if (!sysprof_privilege_make_walker_maps (privilege, &program) ||
      !sysprof_privilege_load_walker (privilege, 0, true, &program))
    {
      skip_or_fail ();
      sysprof_walk_program_clear (&program);
      sysprof_privilege_unref (privilege);
      (void) close (fd);
      return;
    }

  process = start_program (path);
  pid = atoi (g_subprocess_get_identifier (process));
  find_functions (&self->comparison, path, pid);
  threads = list_threads (pid);
  unwinder = sysprof_unwinder_new_for_copies (privilege, &error);
  g_assert_no_error (error);
  g_assert_true (sysprof_unwinder_start_for_tasks (
      unwinder, (const pid_t *) (const void *) threads->data, threads->len, &pid, 1, &error));
  sysprof_unwinder_wait_until_ready (unwinder, MOST_SECONDS * 1000);

  self->truths = g_hash_table_new_full (hash_key, equal_keys, g_free, g_free);
  self->cuts = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  session = open_samples (self, &program, privilege, threads);
  self->decoder = sysprof_perf_session_get_decoder (session);
  self->decoder->has_walks = false;
  self->decoder->writer =
      sysprof_capture_writer_new_from_fd (fcntl (fd, F_DUPFD_CLOEXEC, 3), 0);
  self->decoder->log = &log;
  self->decoder->take_unfinished = sysprof_unwinder_take_pending;
  self->decoder->take_data = unwinder;
  record_samples (self, session, unwinder);
  sysprof_unwinder_stop (unwinder, &status);
  sysprof_unwinder_write_finished (unwinder, self->decoder);
  g_assert_true (sysprof_capture_writer_flush (self->decoder->writer));
  compare_all_written (self, fd);
  g_assert_cmpuint (self->decoder->n_dropped_samples, ==, 0);
  g_assert_true (g_output_stream_close (g_subprocess_get_stdin_pipe (process), NULL, NULL));
  g_assert_true (g_subprocess_wait (process, NULL, NULL));

  tell_comparison (&self->comparison);
  for (unsigned i = 0; i < WALK_REASONS; i++)
    if (self->decoder->n_walks[i] > 0)
      g_test_message ("of all that was taken %s: %" G_GUINT64_FORMAT,
                      sysprof_walk_reason_to_string (i), self->decoder->n_walks[i]);
  g_assert_cmpuint (self->comparison.n_samples, >=, 1000);
  /* A copy does not reach the end in deep recursion, below large frames, and across a switch of
   * stacks. Such stacks have a reason. All others are complete, with two exceptions: threads in
   * their first instructions, and stacks with pages that were not in memory and that the kernel
   * therefore could not copy (29 of 1,501 on a busy machine). The kernel reports these. On a
   * busy machine, programs that start threads all the time are sampled more often in the first
   * instructions of a thread, where the stack is empty. */
  n_fault = self->comparison.n_short_of[WALK_FAULT];
  n_zero = self->comparison.n_short_of[WALK_ZERO];
  g_assert_cmpuint ((self->comparison.n_short - n_fault - n_zero) * 1000, <=,
                    self->comparison.n_samples * 15);
  g_assert_cmpuint (n_zero * 1000, <=, self->comparison.n_samples * 50);
  g_assert_cmpuint (n_fault * 1000, <=, self->comparison.n_samples * 100);
  g_assert_cmpuint (self->decoder->n_walks[WALK_ESCAPE] * 1000, <=,
                    self->comparison.n_samples * 5);
  n_told = self->decoder->n_walks[WALK_END] + self->decoder->n_walks[WALK_IN_EXEC] +
           self->decoder->n_walks[WALK_DEPTH] + self->decoder->n_walks[WALK_FAULT];
  g_assert_cmpuint (n_told * 1000, >=, status.copies.n_taken * 985);

  clear_comparison (&self->comparison);
  sysprof_capture_writer_unref (self->decoder->writer);
  sysprof_perf_session_close (session);
  sysprof_unwinder_free (unwinder);
  sysprof_walk_program_clear (&program);
  sysprof_process_log_clear (&log);
  sysprof_privilege_unref (privilege);
  g_hash_table_unref (self->truths);
  g_hash_table_unref (self->cuts);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (int i = 1; i < argc; i++)
    {
      g_autofree char *name = g_path_get_basename (argv[i]);
      g_autofree char *path = g_strdup_printf ("/bpf/truth-copies/%s", name);

      g_test_add_data_func (path, argv[i], test_stacks_are_the_programs_own);
    }
  return g_test_run ();
}
