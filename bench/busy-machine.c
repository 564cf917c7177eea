// SPDX-License-Identifier: GPL-3.0-or-later

/* A busy machine to record: one thread per CPU that computes through a call chain of known depth, and process
 * churn beside it.
 *
 *   busy-machine PROCESSES_PER_SECOND SECONDS
 *
 * Built with frame pointers. Prints how much it computed, so that a recorder's slowdown shows. */

#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static atomic_bool is_over;
static atomic_ullong n_rounds;
static volatile uint64_t sink;

static __attribute__ ((noinline)) uint64_t
descend (unsigned depth, uint64_t value)
{
  if (depth > 0)
    return descend (depth - 1, value) + 1;

  /* The innermost one has a frame too. */
  __asm__ volatile("" : : "r"(__builtin_frame_address (0)));
  for (unsigned i = 0; i < 2000; i++)
    value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

static void *
compute (void *data)
{
  unsigned long long rounds = 0;

  while (!atomic_load_explicit (&is_over, memory_order_relaxed))
    {
      sink = descend (20, sink);
      rounds++;
    }
  atomic_fetch_add (&n_rounds, rounds);
  return NULL;
}

int
main (int argc, char **argv)
{
  long n_cpus = sysconf (_SC_NPROCESSORS_ONLN);
  pthread_t threads[256];
  unsigned long rate;
  time_t end;

  if (argc != 3 || n_cpus > 256)
    {
      fprintf (stderr, "usage: busy-machine PROCESSES_PER_SECOND SECONDS\n");
      return 2;
    }
  rate = strtoul (argv[1], NULL, 10);
  end = time (NULL) + atol (argv[2]);

  for (long i = 0; i < n_cpus; i++)
    if (pthread_create (&threads[i], NULL, compute, NULL) != 0)
      return 1;

  while (time (NULL) < end)
    {
      struct timespec pause = { .tv_nsec = rate > 0 ? (long) (1000000000 / rate) : 100000000 };

      if (rate > 0)
        {
          char *arguments[] = { "true", NULL };
          pid_t pid;

          if (posix_spawn (&pid, "/bin/true", NULL, NULL, arguments, environ) == 0)
            (void) waitpid (pid, NULL, 0);
        }
      nanosleep (&pause, NULL);
    }

  atomic_store (&is_over, true);
  for (long i = 0; i < n_cpus; i++)
    pthread_join (threads[i], NULL);
  printf ("%llu rounds\n", (unsigned long long) n_rounds);
  return 0;
}
