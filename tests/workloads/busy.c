// SPDX-License-Identifier: GPL-3.0-or-later

/* busy SECONDS: a program with known shares of CPU time.
 *
 * Two threads and a child process each burn CPU time in functions of known shares, measured
 * with the thread's own CPU clock. Other work on the machine changes the total time, but not
 * the split. Each thread has a call path of its own down to the same leaves:
 *
 *     main ── run_main_thread ──┬─ heavy_work   60 %
 *                               └─ light_work   40 %
 *     thread ── run_second_thread ─┬─ heavy_work   30 %
 *                                  └─ shared_work ── nested_work   70 %
 *     child ── run_child ── child_work   100 %
 *
 * Built with -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls. It prints what each leaf
 * used, in milliseconds of CPU time, so that a check compares with measured and not with
 * planned values. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NSEC   10000000 /* the leaves take turns in rounds of ten such slices */
#define NSEC_PER_SEC 1000000000.0

#if __has_attribute(noipa)
#  define OUT_OF_LINE __attribute__ ((noipa))
#else
#  define OUT_OF_LINE __attribute__ ((noinline))
#endif

typedef struct
{
  double main_heavy, main_light, second_heavy, second_nested, child;
} Used; /* seconds of CPU time */

static double
thread_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (double) now.tv_sec + (double) now.tv_nsec / NSEC_PER_SEC;
}

/* Always inlined, so that its time is its caller's own. */
static inline __attribute__ ((always_inline)) double
burn (double seconds, volatile uint64_t *sink)
{
  double begin = thread_seconds ();
  double used;

  do
    for (unsigned i = 0; i < 200000; i++)
      *sink = *sink * 6364136223846793005u + 1442695040888963407u;
  while ((used = thread_seconds () - begin) < seconds);
  return used;
}

static OUT_OF_LINE double
heavy_work (double seconds)
{
  volatile uint64_t sink = 1;

  return burn (seconds, &sink);
}

static OUT_OF_LINE double
light_work (double seconds)
{
  volatile uint64_t sink = 2;

  return burn (seconds, &sink);
}

static OUT_OF_LINE double
nested_work (double seconds)
{
  volatile uint64_t sink = 3;

  return burn (seconds, &sink);
}

static OUT_OF_LINE double
shared_work (double seconds)
{
  double used = nested_work (seconds);

  __asm__ volatile("" ::
                       : "memory"); /* keeps this frame: the call above is not the last thing */
  return used;
}

static OUT_OF_LINE double
child_work (double seconds)
{
  volatile uint64_t sink = 4;

  return burn (seconds, &sink);
}

static OUT_OF_LINE void
run_main_thread (double seconds, Used *used)
{
  double slice = SLICE_NSEC / NSEC_PER_SEC;

  for (double done = 0; done < seconds; done += 10 * slice)
    {
      used->main_heavy += heavy_work (6 * slice);
      used->main_light += light_work (4 * slice);
    }
}

typedef struct
{
  double seconds;
  Used *used;
} Second;

static OUT_OF_LINE void *
run_second_thread (void *data)
{
  Second *second = data;
  double slice = SLICE_NSEC / NSEC_PER_SEC;

  for (double done = 0; done < second->seconds; done += 10 * slice)
    {
      second->used->second_heavy += heavy_work (3 * slice);
      second->used->second_nested += shared_work (7 * slice);
    }
  return NULL;
}

static OUT_OF_LINE double
run_child (double seconds)
{
  double used = 0;

  while (used < seconds)
    used += child_work (SLICE_NSEC / NSEC_PER_SEC);
  return used;
}

int
main (int argc, char **argv)
{
  double seconds = argc > 1 ? strtod (argv[1], NULL) : 1;
  Used used = { 0 };
  Second second = { seconds, &used };
  pthread_t thread;
  int pipe_ends[2];
  pid_t child;

  if (pipe (pipe_ends) < 0 || (child = fork ()) < 0)
    return EXIT_FAILURE;
  if (child == 0)
    {
      double spent = run_child (seconds);

      return write (pipe_ends[1], &spent, sizeof spent) == sizeof spent ? EXIT_SUCCESS
                                                                        : EXIT_FAILURE;
    }
  if (pthread_create (&thread, NULL, run_second_thread, &second) != 0)
    return EXIT_FAILURE;
  run_main_thread (seconds, &used);
  pthread_join (thread, NULL);
  if (read (pipe_ends[0], &used.child, sizeof used.child) != sizeof used.child ||
      waitpid (child, NULL, 0) < 0)
    return EXIT_FAILURE;

  printf ("pid %d child %d\n", (int) getpid (), (int) child);
  printf ("main heavy_work %.0f\n", used.main_heavy * 1000);
  printf ("main light_work %.0f\n", used.main_light * 1000);
  printf ("second heavy_work %.0f\n", used.second_heavy * 1000);
  printf ("second nested_work %.0f\n", used.second_nested * 1000);
  printf ("child child_work %.0f\n", used.child * 1000);
  return EXIT_SUCCESS;
}
