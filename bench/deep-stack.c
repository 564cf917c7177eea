// SPDX-License-Identifier: GPL-3.0-or-later

/* A stack of known depth to sample, in code without frame pointers.
 *
 *   deep-stack DEPTH SECONDS
 *
 * Computes at the bottom of DEPTH calls on every CPU that it may run on. Prints how many rounds a thread made per second of CPU time,
 * where what is done in interrupts shows and being preempted does not, and per second. */

#define _GNU_SOURCE /* CPU_COUNT */

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST_THREADS 256
#define ROUND        2000 /* multiplications: some microseconds */

typedef struct
{
  pthread_t thread;
  unsigned depth;
  double seconds;
  double per_cpu_second;
  double per_second;
} Job;

static volatile uint64_t sink;

static double
now (clockid_t clock)
{
  struct timespec t;

  clock_gettime (clock, &t);
  return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static __attribute__ ((noinline)) void
compute (Job *job)
{
  double began = now (CLOCK_MONOTONIC);
  double before = now (CLOCK_THREAD_CPUTIME_ID);
  uint64_t n_rounds = 0, value = 1;

  do
    {
      for (unsigned i = 0; i < ROUND; i++)
        value = value * 6364136223846793005u + 1442695040888963407u;
      n_rounds++;
    }
  while ((n_rounds & 63) != 0 || now (CLOCK_MONOTONIC) < began + job->seconds);

  sink = value;
  job->per_cpu_second = (double) n_rounds / (now (CLOCK_THREAD_CPUTIME_ID) - before);
  job->per_second = (double) n_rounds / (now (CLOCK_MONOTONIC) - began);
}

static __attribute__ ((noinline)) int
descend (Job *job, unsigned depth)
{
  volatile char local[32]; /* so that frames are not the smallest there are */

  local[depth & 31] = 1;
  if (depth == 0)
    compute (job);
  else
    descend (job, depth - 1);
  return local[depth & 31];
}

static void *
run (void *data)
{
  Job *job = data;

  descend (job, job->depth);
  return NULL;
}

int
main (int argc, char **argv)
{
  static Job jobs[MOST_THREADS];
  double per_cpu_second = 0, per_second = 0;
  int n_threads;
  cpu_set_t cpus;

  if (argc != 3 || sched_getaffinity (0, sizeof cpus, &cpus) != 0)
    {
      fprintf (stderr, "usage: deep-stack DEPTH SECONDS\n");
      return 2;
    }
  n_threads = CPU_COUNT (&cpus);
  if (n_threads > MOST_THREADS)
    n_threads = MOST_THREADS;

  for (int i = 0; i < n_threads; i++)
    {
      jobs[i].depth = (unsigned) strtoul (argv[1], NULL, 10);
      jobs[i].seconds = atof (argv[2]);
      if (pthread_create (&jobs[i].thread, NULL, run, &jobs[i]) != 0)
        return 1;
    }
  for (int i = 0; i < n_threads; i++)
    {
      pthread_join (jobs[i].thread, NULL);
      per_cpu_second += jobs[i].per_cpu_second / n_threads;
      per_second += jobs[i].per_second / n_threads;
    }
  printf ("%.1f %.1f\n", per_cpu_second, per_second);
  return 0;
}
