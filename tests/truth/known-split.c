// SPDX-License-Identifier: GPL-3.0-or-later

/* Work whose split over functions is known because the program measures it itself.
 *
 * Main thread: alpha, then beta, in turns; a second thread: gamma; a child process: delta. Each turn ends when the
 * thread's own CPU clock says so. What each function really got is printed at the end as JSON,
 * nanoseconds of CPU time: {"alpha": …, "beta": …, "gamma": …, "delta": …}.
 *
 *   known-split SECONDS */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__ ((noinline))
#else
#if __has_attribute(noipa)
#define NOINLINE __attribute__ ((noipa)) /* no clones under other names either */
#else
#define NOINLINE __attribute__ ((noinline))
#endif
#endif
#define TURN     20000000 /* ns */

static volatile uint64_t sink;
static int64_t scale; /* ns of all work per thread */

static int64_t
cpu_time (void)
{
  struct timespec t;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * INT64_C (1000000000) + t.tv_nsec;
}

static inline __attribute__ ((always_inline)) void
burn (uint64_t factor)
{
  uint64_t value = sink;

  /* Compilers leave the frame out of a function that calls nothing, whatever they are told; this needs it. */
  __asm__ volatile ("" : : "r"(__builtin_frame_address (0)));

  for (unsigned i = 0; i < 400000; i++)
    value = value * factor + 1442695040888963407u;
  sink = value;
}

NOINLINE void
alpha (void)
{
  burn (6364136223846793005u);
}

NOINLINE void
beta (void)
{
  burn (2862933555777941757u);
}

NOINLINE void
gamma_work (void)
{
  burn (3202034522624059733u);
}

NOINLINE void
delta (void)
{
  burn (3935559000370003845u);
}

/* Runs `work` until it has had `budget` ns of this thread's CPU time; returns what it really had. */
NOINLINE int64_t
spend (void (*work) (void), int64_t budget)
{
  int64_t begin = cpu_time ();
  int64_t end;

  do
    {
      work ();
      end = cpu_time ();
    }
  while (end - begin < budget);

  return end - begin;
}

NOINLINE void *
second_thread (void *data)
{
  int64_t *result = data;

  *result = spend (gamma_work, scale / 2);
  return NULL;
}

int
main (int argc, char **argv)
{
  int64_t got_alpha = 0, got_beta = 0, got_gamma = 0, got_delta = 0;
  pthread_t thread;
  int ends[2];
  pid_t child;

  if (argc != 2 || pipe (ends) != 0)
    return 2;
  scale = (int64_t) (atof (argv[1]) * 1e9);

  child = fork ();
  if (child == 0)
    {
      got_delta = spend (delta, scale / 4);
      _exit (write (ends[1], &got_delta, sizeof got_delta) != sizeof got_delta);
    }

  if (pthread_create (&thread, NULL, second_thread, &got_gamma) != 0)
    return 1;

  /* Three parts alpha, one part beta. */
  while (got_alpha + got_beta < scale)
    {
      got_alpha += spend (alpha, 3 * TURN);
      got_beta += spend (beta, TURN);
    }

  pthread_join (thread, NULL);
  if (read (ends[0], &got_delta, sizeof got_delta) != sizeof got_delta || waitpid (child, NULL, 0) != child)
    return 1;

  printf ("{\"alpha\": %lld, \"beta\": %lld, \"gamma_work\": %lld, \"delta\": %lld}\n",
          (long long) got_alpha,
          (long long) got_beta,
          (long long) got_gamma,
          (long long) got_delta);
  return 0;
}
