// SPDX-License-Identifier: GPL-3.0-or-later

/* The floor of recording counters: reads the same files as often as sysprof-cli does, through descriptors that stay open, looks at
 * nothing and keeps nothing.
 *
 * usage: read-counters SECONDS */

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MSEC 1000000LL

static const struct
{
  const char *path;
  long long interval; /* ns */
} files[] = {
  { "/proc/stat", 200 * MSEC },         { "/proc/diskstats", 500 * MSEC },
  { "/proc/meminfo", 500 * MSEC },      { "/proc/net/dev", 500 * MSEC },
  { "/proc/pressure/cpu", 500 * MSEC }, { "/proc/pressure/memory", 500 * MSEC },
  { "/proc/pressure/io", 500 * MSEC },  { "/proc/vmstat", 1000 * MSEC },
  { "/proc/self/statm", 1000 * MSEC },
};
#define N_FILES (sizeof files / sizeof files[0])

static long long
now (void)
{
  struct timespec time;

  (void) clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 * MSEC + time.tv_nsec;
}

int
main (int argc, char **argv)
{
  long long begin = now (), end = begin + (argc > 1 ? atoll (argv[1]) : 5) * 1000 * MSEC;
  long long due[N_FILES];
  int fds[N_FILES];
  static char text[65536];

  for (size_t i = 0; i < N_FILES; i++)
    {
      fds[i] = open (files[i].path, O_RDONLY | O_CLOEXEC);
      due[i] = begin;
    }

  for (long long time = begin; time < end; time = now ())
    {
      long long next = end;
      struct timespec until;

      for (size_t i = 0; i < N_FILES; i++)
        {
          if (due[i] <= time)
            {
              if (fds[i] >= 0 && pread (fds[i], text, sizeof text, 0) < 0)
                fds[i] = -1;
              due[i] += files[i].interval;
            }
          if (due[i] < next)
            next = due[i];
        }
      until = (struct timespec){ next / (1000 * MSEC), next % (1000 * MSEC) };
      (void) clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
  return 0;
}
