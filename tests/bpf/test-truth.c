// SPDX-License-Identifier: GPL-3.0-or-later

/* Stacks that the walker finds in a program compiled without frame pointers are its own. */

#include "truth-compare.h"

#include "perf/events/event.h"
#include "perf/session.h"
#include "unwinder/unwinder.h"

#include <poll.h>
#include <stdlib.h>

#define LEAST_SAMPLES 1000
#define MOST_SECONDS  60
#define FREQUENCY     4000

/* Requirements for a workload, by the beginning of its name; the first row that fits. */
typedef struct
{
  const char *begins;
  unsigned n_samples;      /* that are enough */
  unsigned least_whole;    /* of 1000 that are settled */
  unsigned most_unsettled; /* of 1000 */
  bool is_deep;            /* recursion is sampled deeper than 5000 */
  bool is_unknown;         /* how its stacks change is not found: few are whole */
} Workload;

/* clang-format off */
static const Workload workloads[] = {
  { "truth-calls", 3000, 998, 100, false },
  { "truth-cgo-unknown", 200, 0, 100, false, .is_unknown = true },
  { "truth-cgo", 3000, 998, 100, false }, /* starts threads all the time: see the walk of one that has just begun */
  /* libgcc replaces the registers in its own frame by those of the handler of an exception */
  { "truth-cpp", 3000, 975, 20, false },
  { "truth-go", 3000, 999, 100, true },
  { "truth-musl", 3000, 999, 20, true },
  { "truth-rust", 3000, 990, 20, true },
  { "truth", 4000, 999, 20, true },
};
/* clang-format on */

static const Workload *
find_workload (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);

  for (unsigned i = 0; i < G_N_ELEMENTS (workloads); i++)
    if (g_str_has_prefix (name, workloads[i].begins))
      return &workloads[i];
  g_assert_not_reached ();
}

static void
compare_record (const struct perf_event_header *record, void *data)
{
  TruthSample sample;

  if (parse_truth (&sample, record))
    compare_sample (data, &sample);
}

static PerfSession *
open_samples (Comparison *self, Unwinder *unwinder, Privilege *privilege, pid_t pid)
{
  g_autoptr (GArray) tasks = list_threads (pid);
  g_autoptr (GError) error = NULL;
  PerfSessionOptions options = {
    .target = PERF_TARGET_TASKS,
    .cgroup_fd = -1,
    .samples = true,
    .follows_threads = true,
    .frequency = FREQUENCY,
    .walker = sysprof_unwinder_get_program (unwinder),
    .func = compare_record,
    .func_data = self,
  };
  PerfSession *session;

  options.tasks = (const pid_t *) (void *) tasks->data;
  options.n_tasks = tasks->len;
  sysprof_perf_event_init_cpu_clock (&options.event);
  session = sysprof_perf_session_open (&options, privilege, &error);
  g_assert_no_error (error);
  return session;
}

static void
compare_stacks (const char *program, bool by_lists)
{
  const Workload *workload = find_workload (program);
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree Comparison *self = g_new0 (Comparison, 1);
  Privilege *privilege = sysprof_privilege_new ();
  Unwinder *unwinder =
      sysprof_unwinder_new (privilege, &(UnwinderOptions){ .by_lists = by_lists }, &error);
  PerfSession *session;
  UnwinderStatus status;
  uint64_t n_settled;
  pid_t pid;

  if (unwinder == NULL)
    {
      if (!g_error_matches (error, SYSPROF_ERROR, SYSPROF_ERROR_DENIED) &&
          !g_error_matches (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED))
        g_assert_no_error (error);
      g_test_skip (error->message);
      sysprof_privilege_unref (privilege);
      return;
    }

  process = start_program (program);
  pid = atoi (g_subprocess_get_identifier (process));
  find_functions (self, program, pid);
  g_assert_true (sysprof_unwinder_start (unwinder, &pid, 1, &error));
  g_assert_true (sysprof_unwinder_finish_loading (unwinder, &error));
  sysprof_unwinder_wait_until_ready (unwinder, MOST_SECONDS * 1000);

  session = open_samples (self, unwinder, privilege, pid);
  sysprof_perf_session_enable (session);
  for (int64_t end = g_get_monotonic_time () + MOST_SECONDS * G_TIME_SPAN_SECOND;
       g_get_monotonic_time () < end &&
       (self->n_whole < workload->n_samples || !(workload->is_unknown || has_seen_all (self)));)
    {
      (void) poll (NULL, 0, 50); /* the rings fill */
      sysprof_perf_session_drain (session);
    }
  sysprof_perf_session_disable (session);
  sysprof_perf_session_close (session);
  sysprof_unwinder_stop (unwinder, &status);
  sysprof_unwinder_free (unwinder);
  sysprof_privilege_unref (privilege);
  g_assert_true (g_output_stream_close (g_subprocess_get_stdin_pipe (process), NULL, NULL));
  g_assert_true (g_subprocess_wait (process, NULL, NULL));

  tell_comparison (self);
  n_settled = self->n_samples - self->n_unsettled;
  g_assert_cmpuint (self->n_samples, >=, LEAST_SAMPLES);
  g_assert_cmpuint (self->n_unsettled * 1000, <=, self->n_samples * workload->most_unsettled);
  g_assert_cmpuint (self->n_broken * 1000, <=, n_settled * (1000 - workload->least_whole));
  g_assert_cmpuint (self->n_deep, >=, workload->is_deep);
  g_assert_true (workload->is_unknown || has_seen_all (self));
  clear_comparison (self);
}

static void
test_stacks_are_the_programs_own (const void *data)
{
  compare_stacks (data, false);
}

/* As on kernels whose tree of areas the program does not know. */
static void
test_the_same_by_lists (const void *data)
{
  compare_stacks (data, true);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (int i = 1; i < argc; i++)
    {
      g_autofree char *name = g_path_get_basename (argv[i]);
      g_autofree char *path = g_strdup_printf ("/bpf/truth/%s", name);

      g_test_add_data_func (path, argv[i], test_stacks_are_the_programs_own);
    }
  if (argc > 1)
    g_test_add_data_func ("/bpf/truth/by-lists", argv[argc / 2], test_the_same_by_lists);
  return g_test_run ();
}
