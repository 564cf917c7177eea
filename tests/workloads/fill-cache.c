// SPDX-License-Identifier: GPL-3.0-or-later

/* A cache without a limit: remember_answer keeps each answer and never frees one. Prints the
 * bytes that it has kept, and the time that this took. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_ANSWERS   3200
#define ANSWER_SIZE 65536 /* bytes; 200 MiB in all */
#define N_ROUNDS    10
#define INTERVAL    1250000L /* ns from one question to the next; 4 s in all */

typedef struct Answer
{
  struct Answer *next;
  uint64_t words[ANSWER_SIZE / sizeof (uint64_t)];
} Answer;

static Answer *cache;

__attribute__ ((noinline)) static void
remember_answer (uint64_t question)
{
  Answer *answer = malloc (sizeof *answer);

  if (answer == NULL)
    abort ();
  for (int round = 0; round < N_ROUNDS; round++)
    for (size_t i = 0; i < sizeof answer->words / sizeof answer->words[0]; i++)
      answer->words[i] = question = (question ^ i) * 0x9e3779b97f4a7c15u;
  answer->next = cache;
  cache = answer;
}

static double
seconds (const struct timespec *time)
{
  return (double) time->tv_sec + (double) time->tv_nsec / 1e9;
}

int
main (void)
{
  struct timespec start, next, end;

  clock_gettime (CLOCK_MONOTONIC, &start);
  next = start;
  for (uint64_t i = 0; i < N_ANSWERS; i++)
    {
      remember_answer (i);
      next.tv_nsec += INTERVAL;
      next.tv_sec += next.tv_nsec / 1000000000;
      next.tv_nsec %= 1000000000;
      clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
  clock_gettime (CLOCK_MONOTONIC, &end);
  printf ("%zu bytes %.6f s\n", N_ANSWERS * sizeof (Answer), seconds (&end) - seconds (&start));
  return cache == NULL;
}
