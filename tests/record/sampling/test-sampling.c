// SPDX-License-Identifier: GPL-3.0-or-later

/* Recordings of programs that we know, through the running kernel. Needs root; what a lesser user gets is tested by
 * giving up root. SYSPROF_TEST_BUSY is the workload `busy`. */

#include "../recorder.h"

#include "perf/session.h"
#include "util/util.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define USER_OF_NONE 54329 /* nobody has other programs, too */
#define SECOND       INT64_C (1000000000)

static const char *busy_path;

/* Its recording needs none of the kernel's symbols, which take a while to pack. */
static SysprofProfiler *
new_profiler (const SamplerOptions *options)
{
  SysprofProfiler *profiler = sysprof_profiler_new ();

  sysprof_profiler_add_instrument (profiler, sysprof_sampler_new_with_options (options));
  return profiler;
}

static void
skip_augment (SysprofRecording *recording, gpointer data)
{
  sysprof_recording_skip_augment (recording);
}

static void
set_program (SysprofProfiler *profiler, const char *const *argv)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();

  sysprof_spawnable_append_args (spawnable, argv);
  sysprof_spawnable_set_flags (spawnable, G_SUBPROCESS_FLAGS_STDOUT_SILENCE);
  sysprof_profiler_set_spawnable (profiler, spawnable);
}

/* A recording and what reads it. */
typedef struct
{
  Recorded recorded;
  SysprofCaptureReader *reader;
  int fd;
} Take;

/* Takes `profiler`. No error is expected. */
static void
take_recording (Take *self, SysprofProfiler *profiler)
{
  *self = (Take){ .recorded.started = skip_augment, .fd = new_memory_file () };
  record_and_wait (&self->recorded, profiler, new_writer_for (self->fd));
  g_assert_no_error (self->recorded.error);
  g_object_unref (profiler);
  self->reader = new_reader_for (self->fd);
}

static void
take_clear (Take *self)
{
  sysprof_capture_reader_unref (self->reader);
  recorded_clear (&self->recorded);
  (void) close (self->fd);
}

/* --- where a function is --- */

typedef struct
{
  guint64 start;
  guint64 end;
} Range;

/* From nm, for the linker gives the text of such programs the same offset in the file as in memory. */
static Range
find_function (const char *program, const char *name)
{
  g_autofree char *command = g_strdup_printf ("nm -S %s", program);
  g_autofree char *output = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (g_spawn_command_line_sync (command, &output, NULL, NULL, &error));
  g_assert_no_error (error);
  lines = g_strsplit (output, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i], " ", -1);

      if (g_strv_length (words) == 4 && g_str_equal (words[3], name))
        {
          guint64 start = g_ascii_strtoull (words[0], NULL, 16);

          return (Range){ start, start + g_ascii_strtoull (words[1], NULL, 16) };
        }
    }
  g_assert_not_reached ();
}

typedef struct
{
  guint64 start, end, offset;
} TextMapping;

/* Of `program` in process `pid`. */
static TextMapping
find_mapping (SysprofCaptureReader *reader, gint32 pid, const char *program)
{
  TextMapping mapping = { 0 };
  SysprofCaptureFrameType type;

  sysprof_capture_reader_reset (reader);
  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      const SysprofCaptureMap *map;

      if (type != SYSPROF_CAPTURE_FRAME_MAP)
        {
          g_assert_true (sysprof_capture_reader_skip (reader));
          continue;
        }

      map = sysprof_capture_reader_read_map (reader);
      if (map->frame.pid == pid && g_str_equal (map->filename, program) && map->offset > 0)
        {
          mapping = (TextMapping){ map->start, map->end, map->offset };
          break;
        }
    }
  sysprof_capture_reader_reset (reader);
  return mapping;
}

typedef struct
{
  guint n;         /* samples */
  guint n_kernel;  /* with a part in the kernel */
  guint n_user;    /* with a part in user code */
  guint n_inside;  /* innermost user address in the range */
  guint max_depth; /* addresses */
  gint64 first;    /* time */
  guint cpus;      /* bits */
} SampleStats;

static SampleStats
count_samples (SysprofCaptureReader *reader,
               gint32 pid,
               const TextMapping *mapping,
               Range range)
{
  SampleStats stats = { .first = G_MAXINT64 };
  SysprofCaptureFrameType type;

  sysprof_capture_reader_reset (reader);
  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      const SysprofCaptureSample *sample;
      guint64 user = 0;
      gboolean in_user = FALSE, in_kernel = FALSE;

      if (type != SYSPROF_CAPTURE_FRAME_SAMPLE)
        {
          g_assert_true (sysprof_capture_reader_skip (reader));
          continue;
        }

      sample = sysprof_capture_reader_read_sample (reader);
      g_assert_cmpint (sample->frame.pid, !=, 0);
      if (pid != 0 && sample->frame.pid != pid)
        continue;

      for (guint i = 0; i < sample->n_addrs; i++)
        {
          if (sample->addrs[i] == (guint64) PERF_CONTEXT_USER)
            in_user = TRUE;
          else if (sample->addrs[i] == (guint64) PERF_CONTEXT_KERNEL)
            in_kernel = TRUE;
          else if (in_user && user == 0)
            user = sample->addrs[i];
        }

      stats.n++;
      stats.n_kernel += in_kernel;
      stats.n_user += in_user;
      stats.max_depth = MAX (stats.max_depth, sample->n_addrs);
      stats.first = MIN (stats.first, sample->frame.time);
      stats.cpus |= 1u << (sample->frame.cpu & 31);
      if (mapping != NULL && user >= mapping->start && user < mapping->end)
        {
          guint64 offset = user - mapping->start + mapping->offset;

          stats.n_inside += offset >= range.start && offset < range.end;
        }
    }
  sysprof_capture_reader_reset (reader);
  return stats;
}

static SampleStats
count_all_samples (SysprofCaptureReader *reader, gint32 pid)
{
  return count_samples (reader, pid, NULL, (Range){ 0, 0 });
}

/* The first process whose command line is `text`; 0 when there is none. */
static gint32
find_process (SysprofCaptureReader *reader, const char *text)
{
  SysprofCaptureFrameType type;
  gint32 pid = 0;

  sysprof_capture_reader_reset (reader);
  while (pid == 0 && sysprof_capture_reader_peek_type (reader, &type))
    {
      const SysprofCaptureProcess *process;

      if (type != SYSPROF_CAPTURE_FRAME_PROCESS)
        {
          g_assert_true (sysprof_capture_reader_skip (reader));
          continue;
        }

      process = sysprof_capture_reader_read_process (reader);
      if (g_str_equal (process->cmdline, text))
        pid = process->frame.pid;
    }
  sysprof_capture_reader_reset (reader);
  return pid;
}

static gboolean
has_process_file (SysprofCaptureReader *reader, gint32 pid, const char *name)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/%s", pid, name);

  return sysprof_capture_reader_find_file (reader, path) != NULL;
}

/* --- the whole system --- */

/* The capture shows the work of the program in the functions that do it: heavy_work has 60 % of
 * the time of the main thread, and 30 % of that of the second thread. */
static void
test_samples_fall_into_the_program (void)
{
  const char *argv[] = { busy_path, "0.6", NULL };
  g_autofree char *command_line = g_strjoinv (" ", (char **) argv);
  SysprofProfiler *profiler = new_profiler (&(SamplerOptions){ .frequency = 1000 });
  Take take;
  RecordingStatus status;
  TextMapping mapping;
  SampleStats stats;
  gint32 pid;

  set_program (profiler, argv);
  take_recording (&take, profiler);
  sysprof_recording_get_status (take.recorded.recording, &status);
  g_assert_cmpuint (status.n_samples, >, 100);
  g_assert_cmpuint (status.n_lost, ==, 0);

  pid = find_process (take.reader, command_line);
  g_assert_cmpint (pid, >, 0);
  mapping = find_mapping (take.reader, pid, busy_path);
  g_assert_cmphex (mapping.start, !=, 0);
  stats = count_samples (take.reader, pid, &mapping, find_function (busy_path, "heavy_work"));
  g_test_message ("%u samples, %u in heavy_work", stats.n, stats.n_inside);
  g_assert_cmpuint (stats.n, >, 100);
  g_assert_cmpuint (stats.n_inside * 100, >, stats.n * 35);
  g_assert_cmpuint (stats.n_inside * 100, <, stats.n * 55);
  g_assert_true (has_process_file (take.reader, pid, "cgroup"));
  g_assert_true (has_process_file (take.reader, pid, "ns"));

  take_clear (&take);
}

/* Samples of `pid` with an address in `callee` and a caller further out, in `caller` or `other_caller`; `*n_callee` counts those
 * without the caller, too. */
static guint
count_with_caller (SysprofCaptureReader *reader,
                   gint32 pid,
                   const TextMapping *mapping,
                   Range callee,
                   Range caller,
                   Range other_caller,
                   guint *n_callee)
{
  SysprofCaptureFrameType type;
  guint n = 0;

  *n_callee = 0;
  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      const SysprofCaptureSample *sample;
      gboolean in_callee = FALSE, in_caller = FALSE;

      if (type != SYSPROF_CAPTURE_FRAME_SAMPLE)
        {
          g_assert_true (sysprof_capture_reader_skip (reader));
          continue;
        }
      sample = sysprof_capture_reader_read_sample (reader);
      for (guint i = 0; sample->frame.pid == pid && i < sample->n_addrs; i++)
        {
          guint64 at = sample->addrs[i] - mapping->start + mapping->offset;

          if (sample->addrs[i] < mapping->start || sample->addrs[i] >= mapping->end)
            continue;
          in_caller |= in_callee && ((at >= caller.start && at < caller.end) ||
                                     (at >= other_caller.start && at < other_caller.end));
          in_callee |= at >= callee.start && at < callee.end;
        }
      *n_callee += in_callee;
      n += in_caller;
    }
  sysprof_capture_reader_reset (reader);
  return n;
}

/* The public sampler that unwinds copied stacks: beyond the function that runs, there are its callers. */
static void
test_user_sampler (void)
{
  const char *argv[] = { busy_path, "0.6", NULL };
  g_autofree char *command_line = g_strjoinv (" ", (char **) argv);
  SysprofProfiler *profiler = sysprof_profiler_new ();
  Take take;
  TextMapping mapping;
  gint32 pid;
  guint n, n_heavy;

#ifndef __x86_64__
  g_test_skip ("stacks are unwound from copies on x86-64 alone");
  g_object_unref (profiler);
  return;
#endif
  sysprof_profiler_add_instrument (profiler, sysprof_user_sampler_new (16384));
  set_program (profiler, argv);
  take_recording (&take, profiler);

  pid = find_process (take.reader, command_line);
  g_assert_cmpint (pid, >, 0);
  mapping = find_mapping (take.reader, pid, busy_path);
  g_assert_cmphex (mapping.start, !=, 0);
  n = count_with_caller (take.reader, pid, &mapping, find_function (busy_path, "heavy_work"),
                         find_function (busy_path, "main"),
                         find_function (busy_path, "run_second_thread"), &n_heavy);
  g_test_message ("%u of %u samples in heavy_work have its callers", n, n_heavy);
  g_assert_cmpuint (n_heavy, >, 50);
  g_assert_cmpuint (n * 100, >, n_heavy * 90);
  take_clear (&take);
}

/* A thousand short processes: each is recorded, none is read from /proc, nothing is lost. */
static void
test_churn (void)
{
  const char *argv[] = { "sh", "-c",
                         "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done", NULL };
  SysprofProfiler *profiler = new_profiler (&(SamplerOptions){ 0 });
  Take take;
  RecordingStatus status;
  SysprofCaptureFrameType type;
  guint n_true = 0;

  set_program (profiler, argv);
  take_recording (&take, profiler);
  sysprof_recording_get_status (take.recorded.recording, &status);
  g_assert_cmpuint (status.n_lost, ==, 0);

  g_assert_cmpuint (count_frames (take.reader, SYSPROF_CAPTURE_FRAME_FORK, 0), >=, 300);
  g_assert_cmpuint (count_frames (take.reader, SYSPROF_CAPTURE_FRAME_EXIT, 0), >=, 300);
  while (sysprof_capture_reader_peek_type (take.reader, &type))
    {
      if (type == SYSPROF_CAPTURE_FRAME_PROCESS)
        n_true +=
            g_str_equal (sysprof_capture_reader_read_process (take.reader)->cmdline, "true");
      else
        g_assert_true (sysprof_capture_reader_skip (take.reader));
    }
  g_assert_cmpuint (n_true, >=, 300); /* others may start some, too */

  take_clear (&take);
}

static void
test_parts_of_stacks (void)
{
  static const struct
  {
    SamplerOptions options;
    gboolean has_user, has_kernel;
    guint max_depth;
  } cases[] = {
    { { .user_only = TRUE }, TRUE, FALSE, G_MAXUINT },
    { { .kernel_only = TRUE }, FALSE, TRUE, G_MAXUINT },
    { { .no_stacks = TRUE }, TRUE, TRUE, 2 },
    { { .call_depth = 2 }, TRUE, TRUE, 5 }, /* and two markers, and one for truncation */
  };
  /* Some of both. */
  const char *argv[] = { "sh", "-c", "head -c 60000000 /dev/urandom | sha1sum", NULL };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SysprofProfiler *profiler = new_profiler (&cases[i].options);
      Take take;
      SampleStats stats;

      set_program (profiler, argv);
      take_recording (&take, profiler);
      stats = count_all_samples (take.reader, 0);
      g_assert_cmpuint (stats.n, >, 10);
      g_assert_cmpint (stats.n_user > 0, ==, cases[i].has_user);
      g_assert_cmpint (stats.n_kernel > 0, ==, cases[i].has_kernel);
      g_assert_cmpuint (stats.max_depth, <=, cases[i].max_depth);

      take_clear (&take);
    }
}

static void
test_one_cpu_and_later (void)
{
  const char *argv[] = { busy_path, "0.3", NULL };
  const gint cpus[] = { 0 };
  SysprofProfiler *profiler = new_profiler (
      &(SamplerOptions){ .cpus = cpus,
                         .n_cpus = 1,
                         .delay_nsec = SECOND / 10,
                         .events = (const char *const[]){ "cpu-clock:500000", NULL } });
  Take take;
  SampleStats stats;

  set_program (profiler, argv);
  take_recording (&take, profiler);
  stats = count_all_samples (take.reader, 0);
  g_assert_cmpuint (stats.n, >, 10);
  g_assert_cmpuint (stats.cpus, ==, 1);
  g_assert_cmpint (stats.first, >=,
                   sysprof_capture_reader_get_start_time (take.reader) + SECOND / 10);

  take_clear (&take);
}

static void
test_one_user (void)
{
  g_autofree char *command =
      g_strdup_printf ("setpriv --reuid=%d --clear-groups %s 0.3 & %s 0.3; wait", USER_OF_NONE,
                       busy_path, busy_path);
  const char *argv[] = { "sh", "-c", command, NULL };
  SysprofProfiler *profiler =
      new_profiler (&(SamplerOptions){ .user = G_STRINGIFY (USER_OF_NONE) });
  Take take;
  SysprofCaptureFrameType type;
  g_autoptr (GHashTable) pids = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) ours = g_hash_table_new (NULL, NULL);
  GHashTableIter iter;
  void *pid;

  set_program (profiler, argv);
  take_recording (&take, profiler);
  while (sysprof_capture_reader_peek_type (take.reader, &type))
    {
      if (type == SYSPROF_CAPTURE_FRAME_SAMPLE)
        g_hash_table_add (
            pids,
            GINT_TO_POINTER (sysprof_capture_reader_read_sample (take.reader)->frame.pid));
      else if (type == SYSPROF_CAPTURE_FRAME_PROCESS)
        {
          const SysprofCaptureProcess *process =
              sysprof_capture_reader_read_process (take.reader);

          if (strstr (process->cmdline, g_get_prgname ()) != NULL)
            g_hash_table_add (ours, GINT_TO_POINTER (process->frame.pid));
        }
      else
        g_assert_true (sysprof_capture_reader_skip (take.reader));
    }
  /* The children that make unwind tables are this user's as well. */
  g_hash_table_iter_init (&iter, ours);
  while (g_hash_table_iter_next (&iter, &pid, NULL))
    g_hash_table_remove (pids, pid);
  /* busy and its child; root runs the same number of these. */
  g_assert_cmpuint (g_hash_table_size (pids), >=, 2);
  g_assert_cmpuint (g_hash_table_size (pids), <=, 3);

  take_clear (&take);
}

static void
test_tracepoint (void)
{
  const char *argv[] = { "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done",
                         NULL };
  SysprofProfiler *profiler = new_profiler (
      &(SamplerOptions){ .events = (const char *const[]){ "sched:sched_process_exec", NULL } });
  Take take;

  set_program (profiler, argv);
  take_recording (&take, profiler);
  g_assert_cmpuint (count_all_samples (take.reader, 0).n, >=, 11);

  take_clear (&take);
}

/* --- chosen processes --- */

static GPid
start (const char *const *argv)
{
  g_autoptr (GError) error = NULL;
  GPid pid;

  g_assert_true (g_spawn_async (NULL, (char **) argv, NULL,
                                G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD |
                                    G_SPAWN_STDOUT_TO_DEV_NULL,
                                NULL, NULL, &pid, &error));
  g_assert_no_error (error);
  return pid;
}

/* It ends by itself, and what the process started belongs to it. */
static void
test_process_that_ends (void)
{
  g_autofree char *command = g_strdup_printf ("%s 1; %s 1", busy_path, busy_path);
  const char *argv[] = { "sh", "-c", command, NULL };
  const char *other[] = { busy_path, "3", NULL };
  GPid other_pid = start (other);
  const gint pids[] = { start (argv) };
  Take take;
  SampleStats stats;

  take_recording (&take, new_profiler (&(SamplerOptions){ .pids = pids, .n_pids = 1 }));
  stats = count_all_samples (take.reader, 0);
  g_assert_cmpuint (stats.n, >, 100);
  g_assert_cmpuint (count_all_samples (take.reader, other_pid).n, ==, 0);
  g_assert_cmpuint (count_frames (take.reader, SYSPROF_CAPTURE_FRAME_EXIT, pids[0]), ==, 1);
  g_assert_true (has_process_file (take.reader, pids[0], "mountinfo"));
  g_assert_false (has_process_file (take.reader, other_pid, "mountinfo"));

  take_clear (&take);
  (void) waitpid (pids[0], NULL, 0);
  (void) kill (other_pid, SIGKILL);
  (void) waitpid (other_pid, NULL, 0);
}

static void
test_process_without_what_it_starts (void)
{
  g_autofree char *command = g_strdup_printf ("sleep 0.05; %s 0.2", busy_path);
  const char *argv[] = { "sh", "-c", command, NULL };
  const gint pids[] = { start (argv) };
  Take take;
  SampleStats stats;

  take_recording (&take, new_profiler (&(SamplerOptions){
                             .pids = pids, .n_pids = 1, .no_follow_forks = TRUE }));
  stats = count_all_samples (take.reader, 0);
  g_assert_cmpuint (stats.n, ==, count_all_samples (take.reader, pids[0]).n);
  g_assert_cmpuint (stats.n, <, 100);

  take_clear (&take);
  (void) waitpid (pids[0], NULL, 0);
}

static void
test_thread_that_ends (void)
{
  const char *argv[] = { busy_path, "0.3", NULL };
  const gint tids[] = { start (argv) };
  Take take;

  take_recording (&take, new_profiler (&(SamplerOptions){ .tids = tids, .n_tids = 1 }));
  g_assert_cmpuint (count_all_samples (take.reader, tids[0]).n, >, 50);

  take_clear (&take);
  (void) waitpid (tids[0], NULL, 0);
}

static void
test_what_is_not_there (void)
{
  static const gint nobody[] = { 4194303 }; /* the largest that a pid can be, less one */
  static const gint cpu[] = { 8000 };
  static const char *const no_such_event[] = { "no-such-event", NULL };
  static const char *const no_such_tracepoint[] = { "no:such_tracepoint", NULL };
  static const struct
  {
    SamplerOptions options;
    const char *words;
  } cases[] = {
    { { .pids = nobody, .n_pids = 1 }, "process 4194303" },
    { { .tids = nobody, .n_tids = 1 }, "thread 4194303" },
    { { .cpus = cpu, .n_cpus = 1 }, "CPU 8000" },
    { { .user = "no such user" }, "no such user" },
    { { .cgroup = "no/such/cgroup" }, "no/such/cgroup" },
    { { .events = no_such_event }, "no-such-event" },
    { { .events = no_such_tracepoint }, "no:such_tracepoint" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (SysprofProfiler) profiler = new_profiler (&cases[i].options);
      Recorded recorded = { 0 };
      int fd = new_memory_file ();

      record_and_wait (&recorded, profiler, new_writer_for (fd));
      g_assert_nonnull (recorded.error);
      g_assert_nonnull (strstr (recorded.error->message, cases[i].words));
      g_assert_nonnull (strstr (recorded.error->message, "Cannot"));
      recorded_clear (&recorded);
      (void) close (fd);
    }
}

/* --- processes, their files and mount tables --- */

static void
test_processes_and_their_files (void)
{
  const char *before[] = { "sleep", "61", NULL };
  const char *program[] = { "sh", "-c", "unshare --mount sleep 3.61; true", NULL };
  GPid pid = start (before);
  SysprofProfiler *profiler = new_profiler (&(SamplerOptions){ 0 });
  Take take;
  gint32 later;

  set_program (profiler, program);
  take_recording (&take, profiler);

  g_assert_cmpint (find_process (take.reader, "sleep 61"), ==, pid);
  g_assert_true (has_process_file (take.reader, pid, "mountinfo"));
  g_assert_true (has_process_file (take.reader, pid, "cgroup"));
  g_assert_true (has_process_file (take.reader, pid, "ns"));
  g_assert_cmpuint (count_frames (take.reader, SYSPROF_CAPTURE_FRAME_MAP, pid), >, 3);

  later = find_process (take.reader, "sleep 3.61");
  g_assert_cmpint (later, >, 0);
  g_assert_true (has_process_file (take.reader, later, "mountinfo"));
  g_assert_true (has_process_file (take.reader, later, "ns"));
  g_assert_cmpuint (count_frames (take.reader, SYSPROF_CAPTURE_FRAME_MAP, later), >, 1);
  g_assert_nonnull (sysprof_capture_reader_find_file (take.reader, "/proc/mounts.gz"));

  take_clear (&take);
  (void) kill (pid, SIGKILL);
  (void) waitpid (pid, NULL, 0);
}

static void
test_kernel_symbols_are_kept (void)
{
  g_autoptr (SysprofProfiler) profiler = new_profiler (&(SamplerOptions){ 0 });
  Recorded recorded = { 0 };
  SysprofCaptureReader *reader;
  int fd = new_memory_file ();

  sysprof_profiler_set_max_duration (profiler, SECOND / 50);
  record_and_wait (&recorded, profiler, new_writer_for (fd));
  g_assert_no_error (recorded.error);
  reader = new_reader_for (fd);
  g_assert_nonnull (sysprof_capture_reader_find_file (reader, "/proc/kallsyms.gz"));

  sysprof_capture_reader_unref (reader);
  recorded_clear (&recorded);
  (void) close (fd);
}

/* --- a cgroup --- */

static char *
make_cgroup (void)
{
  static const char *const mounts[] = { "/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified",
                                        "/sys/fs/cgroup" };

  for (size_t i = 0; i < G_N_ELEMENTS (mounts); i++)
    {
      g_autofree char *procs = g_build_filename (mounts[i], "cgroup.procs", NULL);
      g_autofree char *path = g_strdup_printf ("%s/sysprof-test-%d", mounts[i], getpid ());

      if (access (procs, W_OK) == 0 && mkdir (path, 0755) == 0)
        return g_steal_pointer (&path);
    }
  return NULL;
}

static void
test_one_cgroup (void)
{
  g_autofree char *cgroup = make_cgroup ();
  g_autofree char *command = NULL;
  g_autofree char *name = NULL;
  const char *argv[] = { "sh", "-c", NULL, NULL };
  SysprofProfiler *profiler;
  Take take;
  SampleStats stats;

  if (cgroup == NULL)
    {
      g_test_skip ("no cgroup can be made here");
      return;
    }

  name = g_path_get_basename (cgroup);
  command = g_strdup_printf ("%s 0.2 & (echo 0 > %s/cgroup.procs && exec %s 0.3); wait",
                             busy_path, cgroup, busy_path);
  argv[2] = command;
  profiler = new_profiler (&(SamplerOptions){ .cgroup = name });
  set_program (profiler, argv);
  take_recording (&take, profiler);
  stats = count_all_samples (take.reader, 0);
  g_assert_cmpuint (stats.n, >, 100);
  g_assert_cmpuint (count_all_samples (take.reader, find_process (take.reader, "sh")).n, ==, 0);

  take_clear (&take);
  (void) rmdir (cgroup);
}

/* --- CPUs that come and go --- */

static void
count_leaders (int fd, bool is_added, void *data)
{
  *(int *) data += is_added ? 1 : -1;
}

static void
test_cpus_come_and_go (void)
{
  g_autoptr (GError) error = NULL;
  Privilege *privilege = sysprof_privilege_new ();
  PerfSessionOptions options = { .target = PERF_TARGET_SYSTEM,
                                 .samples = true,
                                 .frequency = 100 };
  PerfSession *session;
  SysprofCaptureWriter *writer;
  ProcessLog log = { 0 };
  int fd = new_memory_file ();
  int n_leaders = 0;

  if (g_get_num_processors () < 2)
    {
      g_test_skip ("one CPU");
      return;
    }

  writer = new_writer_for (fd);
  sysprof_perf_event_init_cpu_clock (&options.event);
  session = sysprof_perf_session_open (&options, privilege, &error);
  g_assert_no_error (error);
  sysprof_perf_session_get_decoder (session)->writer = writer;
  sysprof_perf_session_get_decoder (session)->log = &log;
  sysprof_perf_session_set_leader_func (session, count_leaders, &n_leaders);
  g_assert_cmpint (n_leaders, >=, 2);
  sysprof_perf_session_enable (session);

  sysprof_perf_session_update_cpus (session, "0\n");
  g_assert_cmpint (n_leaders, ==, 1);
  sysprof_perf_session_drain (session);
  sysprof_perf_session_update_cpus (session, "nonsense");
  g_assert_cmpint (n_leaders, ==, 1);
  sysprof_perf_session_update_cpus (session, "0-1\n");
  g_assert_cmpint (n_leaders, ==, 2);
  sysprof_perf_session_update_cpus (session,
                                    "0-1,8191\n"); /* one that is not there: no error */
  g_assert_cmpint (n_leaders, ==, 2);

  sysprof_perf_session_disable (session);
  sysprof_perf_session_close (session);
  sysprof_process_log_clear (&log);
  sysprof_capture_writer_unref (writer);
  sysprof_privilege_unref (privilege);
  (void) close (fd);
}

/* --- fewer rights --- */

/* In a process of its own. The kernel limits the memory that perf events may lock for each account, so no other process has this
 * one. */
static void
become_nobody (void)
{
  uid_t account = 1000000 + (uid_t) getpid ();

  g_assert_cmpint (setgid (account), ==, 0);
  g_assert_cmpint (setuid (account), ==, 0);
  g_assert_cmpint (prctl (PR_SET_DUMPABLE, 1), ==, 0);
}

static void
test_unprivileged_user (void)
{
  const char *argv[] = { busy_path, "0.3", NULL };
  SysprofProfiler *profiler;
  Take take;
  SampleStats stats;
  g_autofree char *paranoid = NULL;

  g_assert_true (
      g_file_get_contents ("/proc/sys/kernel/perf_event_paranoid", &paranoid, NULL, NULL));
  if (atoi (paranoid) != 2)
    {
      g_test_skip ("kernel.perf_event_paranoid is not 2");
      return;
    }

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }

  become_nobody ();
  profiler = new_profiler (&(SamplerOptions){ 0 });
  set_program (profiler, argv);
  take_recording (&take, profiler);
  g_assert_true (recorded_has_told (&take.recorded, "kernel.perf_event_paranoid is 2"));
  g_assert_true (recorded_has_told (&take.recorded, "CAP_PERFMON"));
  g_assert_true (recorded_has_told (&take.recorded, "setcap"));
  g_assert_true (recorded_has_told (&take.recorded, "sysctl"));

  stats = count_all_samples (take.reader, 0);
  g_assert_cmpuint (stats.n_user, >, 50);
  g_assert_cmpuint (stats.n_kernel, ==, 0);
  take_clear (&take);
}

static void
refuse_perf_events (void)
{
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { G_N_ELEMENTS (filter), filter };

  g_assert_cmpint (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), ==, 0);
  g_assert_cmpint (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), ==, 0);
}

/* No samples; processes and counters nevertheless. */
static void
test_events_are_refused (void)
{
  SysprofProfiler *profiler;
  Take take;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }

  refuse_perf_events ();
  profiler = new_profiler (&(SamplerOptions){ 0 });
  sysprof_profiler_add_instrument (profiler, sysprof_memory_usage_new ());
  sysprof_profiler_set_max_duration (profiler, SECOND / 20);
  take_recording (&take, profiler);
  g_assert_true (recorded_has_told (&take.recorded, "kernel.perf_event_paranoid"));
  g_assert_true (recorded_has_told (&take.recorded, "CAP_PERFMON"));

  g_assert_cmpuint (count_all_samples (take.reader, 0).n, ==, 0);
  g_assert_cmpuint (count_frames (take.reader, SYSPROF_CAPTURE_FRAME_PROCESS, getpid ()), ==,
                    1);
  g_assert_cmpuint (count_frames (take.reader, SYSPROF_CAPTURE_FRAME_CTRSET, 0), >, 1);
  take_clear (&take);
}

/* --- unexpected ends --- */

static void
test_disk_that_is_full (void)
{
  g_autofree char *directory = NULL;
  g_autofree char *path = NULL;
  g_autoptr (SysprofProfiler) profiler = NULL;
  const char *argv[] = { busy_path, "30", NULL };
  Recorded recorded = { 0 };
  SysprofCaptureReader *reader;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }

  /* A small disk that only we see. */
  directory = g_dir_make_tmp ("sysprof-XXXXXX", NULL);
  g_assert_nonnull (directory);
  g_assert_cmpint (unshare (CLONE_NEWNS), ==, 0);
  g_assert_cmpint (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), ==, 0);
  g_assert_cmpint (mount ("none", directory, "tmpfs", 0, "size=4m"), ==, 0);
  path = g_build_filename (directory, "full.syscap", NULL);

  profiler = new_profiler (&(SamplerOptions){ .frequency = 10000 });
  set_program (profiler, argv);
  record_and_wait (&recorded, profiler, sysprof_capture_writer_new (path, 0));
  g_subprocess_force_exit (sysprof_recording_get_subprocess (recorded.recording));
  g_assert_error (recorded.error, SYSPROF_ERROR, SYSPROF_ERROR_NO_SPACE);
  g_assert_nonnull (strstr (recorded.error->message, "full.syscap"));
  g_assert_nonnull (strstr (recorded.error->message, "the disk is full"));

  reader = sysprof_capture_reader_new (path);
  g_assert_nonnull (reader);
  g_assert_cmpuint (count_all_samples (reader, 0).n, >, 100);
  sysprof_capture_reader_unref (reader);
  recorded_clear (&recorded);
  g_assert_cmpint (umount2 (directory, MNT_DETACH), ==, 0);
  (void) rmdir (directory);
}

/* Flushed data are in the file, and complete. */
static void
test_recorder_is_killed (void)
{
  g_autofree char *path = NULL;
  SysprofCaptureReader *reader;
  struct stat info;
  siginfo_t ended;
  GPid pid;
  int fd;

  fd = g_file_open_tmp ("sysprof-XXXXXX.syscap", &path, NULL);
  g_assert_cmpint (fd, >=, 0);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      Recorded recorded = { 0 };
      const char *argv[] = { busy_path, "60", NULL };
      SysprofProfiler *profiler = new_profiler (&(SamplerOptions){ .frequency = 4000 });

      (void) setpgid (0, 0);
      set_program (profiler, argv);
      record_and_wait (&recorded, profiler, new_writer_for (fd));
      _exit (0);
    }

  /* Until it has flushed something of the second second. */
  do
    {
      g_usleep (1000);
      g_assert_cmpint (fstat (fd, &info), ==, 0);
      ended.si_pid = 0;
      g_assert_cmpint (waitid (P_PID, (id_t) pid, &ended, WEXITED | WNOHANG | WNOWAIT), ==, 0);
      g_assert_cmpint (ended.si_pid, ==, 0); /* it lives */
    }
  while (info.st_size < 2000000);
  g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
  (void) kill (-pid, SIGKILL); /* and its busy program */
  (void) waitpid (pid, NULL, 0);

  reader = sysprof_capture_reader_new (path);
  g_assert_nonnull (reader);
  g_assert_cmpuint (count_all_samples (reader, 0).n, >, 100);
  g_assert_cmpint (sysprof_capture_reader_get_end_time (reader), >,
                   sysprof_capture_reader_get_start_time (reader));
  sysprof_capture_reader_unref (reader);
  (void) close (fd);
  (void) unlink (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  if (geteuid () != 0)
    {
      g_test_message ("needs root");
      return 77;
    }
  g_assert_nonnull (g_getenv ("SYSPROF_TEST_BUSY"));
  busy_path = g_canonicalize_filename (g_getenv ("SYSPROF_TEST_BUSY"), NULL);

  g_test_add_func ("/record/sampling/samples-fall-into-the-program",
                   test_samples_fall_into_the_program);
  g_test_add_func ("/record/sampling/user-sampler", test_user_sampler);
  g_test_add_func ("/record/sampling/churn", test_churn);
  g_test_add_func ("/record/sampling/parts-of-stacks", test_parts_of_stacks);
  g_test_add_func ("/record/sampling/one-cpu-and-later", test_one_cpu_and_later);
  g_test_add_func ("/record/sampling/one-user", test_one_user);
  g_test_add_func ("/record/sampling/one-cgroup", test_one_cgroup);
  g_test_add_func ("/record/sampling/tracepoint", test_tracepoint);
  g_test_add_func ("/record/sampling/process-that-ends", test_process_that_ends);
  g_test_add_func ("/record/sampling/process-without-what-it-starts",
                   test_process_without_what_it_starts);
  g_test_add_func ("/record/sampling/thread-that-ends", test_thread_that_ends);
  g_test_add_func ("/record/sampling/what-is-not-there", test_what_is_not_there);
  g_test_add_func ("/record/sampling/processes-and-their-files",
                   test_processes_and_their_files);
  g_test_add_func ("/record/sampling/kernel-symbols-are-kept", test_kernel_symbols_are_kept);
  g_test_add_func ("/record/sampling/cpus-come-and-go", test_cpus_come_and_go);
  g_test_add_func ("/record/sampling/unprivileged-user", test_unprivileged_user);
  g_test_add_func ("/record/sampling/events-are-refused", test_events_are_refused);
  g_test_add_func ("/record/sampling/disk-that-is-full", test_disk_that_is_full);
  g_test_add_func ("/record/sampling/recorder-is-killed", test_recorder_is_killed);
  return g_test_run ();
}
