// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs a function over ranges, on as many threads as the process may use CPUs. */

#include "util/parallel.h"

#include "util/errors.h"

#include <glib.h>
#include <pthread.h>
#include <sched.h>

#define MAX_WORKERS 64
#define MAX_CPUS    65536

typedef struct
{
  size_t begin;
  size_t end;
  unsigned worker;
  ParallelFunc func;
  void *data;
  pthread_t thread;
  gboolean is_running;
} Range;

unsigned
sysprof_parallel_workers (void)
{
  /* A single set is too small for the kernel of a machine with more than 1,024 CPUs. */
  cpu_set_t allowed[MAX_CPUS / CPU_SETSIZE];

  if (sched_getaffinity (0, sizeof allowed, allowed) != 0)
    return 1;

  return (unsigned) CLAMP (CPU_COUNT_S (sizeof allowed, allowed), 1, MAX_WORKERS);
}

static void *
run_range (void *data)
{
  Range *range = data;

  range->func (range->begin, range->end, range->worker, range->data);
  return NULL;
}

void
sysprof_parallel_ranges (size_t n, size_t grain, ParallelFunc func, void *data)
{
  Range ranges[MAX_WORKERS] = { 0 };
  size_t n_ranges = MIN (sysprof_parallel_workers (), MAX (n / MAX (grain, 1), 1));

  for (size_t i = 0; i < n_ranges; i++)
    {
      ranges[i] = (Range){ .begin = n / n_ranges * i + MIN (i, n % n_ranges),
                           .worker = (unsigned) i,
                           .func = func,
                           .data = data };
      ranges[i].end = ranges[i].begin + n / n_ranges + (i < n % n_ranges);
    }

  for (size_t i = 1; i < n_ranges; i++)
    ranges[i].is_running = pthread_create (&ranges[i].thread, NULL, run_range, &ranges[i]) == 0;

  run_range (&ranges[0]);

  for (size_t i = 1; i < n_ranges; i++)
    {
      if (ranges[i].is_running)
        pthread_join (ranges[i].thread, NULL);
      else
        run_range (&ranges[i]);
    }
}

static gpointer
do_nothing (gpointer data)
{
  return NULL;
}

bool
sysprof_check_threads (GError **error)
{
  g_autoptr (GError) cause = NULL;
  GThread *thread = g_thread_try_new ("check", do_nothing, NULL, &cause);

  if (thread != NULL)
    {
      g_thread_join (thread);
      return true;
    }
  g_set_error (
      error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
      "Cannot start a thread: %s. End other programs, or allow more processes ('ulimit "
      "-u', or pids.max of the control group).",
      cause->message);
  return false;
}
