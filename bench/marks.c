// SPDX-License-Identifier: BSD-2-Clause

/* Cost of calls of the collector in a recorded program, compiled with our library and with that
 * of Sysprof 3.46. Prints one number, or two.
 *
 *   marks call            ns per mark with its clock reading, in bursts that fit into a ring
 *   marks bare            ns per call without reading the clock, if nothing records
 *   marks floor           ns for reading the clock and copying the bytes of such a mark
 *   marks threads N SEC   marks per second that N threads write at full speed, and their number
 */

#include <sysprof-capture.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
/* A mark that is followed by its message. */
#  pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
#endif

#define N_BURSTS  200
#define BURST     500         /* marks; a ring of Sysprof 3.46 holds more */
#define PAUSE     20000000L   /* ns; until the recorder has emptied the ring */
#define RING_SIZE (32 * 4096) /* bytes */

static const char message[] = "a message of a usual length";

typedef struct
{
  pthread_t thread;
  int64_t end;
  uint64_t n;
} Writer;

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static void
write_mark (void)
{
  sysprof_collector_mark (SYSPROF_CAPTURE_CURRENT_TIME, 0, "bench", "mark", message);
}

static void
write_mark_without_time (void)
{
  sysprof_collector_mark (0, 0, "bench", "mark", message);
}

/* The floor: the time, and the bytes of the frame in memory. */
static void
copy_mark (void)
{
  static struct
  {
    SysprofCaptureMark mark;
    char message[(sizeof message + 7) / 8 * 8];
  } frame;
  static uint8_t ring[RING_SIZE];
  static size_t at;

  frame.mark.frame.time = SYSPROF_CAPTURE_CURRENT_TIME;
  memcpy (ring + at, &frame, sizeof frame);
  __asm__ volatile("" ::"r"(ring + at) : "memory");
  at += sizeof frame;
  if (at > sizeof ring - sizeof frame)
    at = 0;
}

/* Median over the bursts. Inlined, so that `call` costs no jump. */
static inline __attribute__ ((always_inline)) double
measure (void (*call) (void), long pause)
{
  const struct timespec duration = { .tv_nsec = pause };
  static double costs[N_BURSTS];

  for (unsigned i = 0; i < N_BURSTS; i++)
    {
      int64_t begin = SYSPROF_CAPTURE_CURRENT_TIME;

      for (unsigned j = 0; j < BURST; j++)
        call ();
      costs[i] = (double) (SYSPROF_CAPTURE_CURRENT_TIME - begin) / BURST;
      if (pause > 0)
        (void) nanosleep (&duration, NULL);
    }
  qsort (costs, N_BURSTS, sizeof costs[0], compare);

  return costs[N_BURSTS / 2];
}

static void *
write_until (void *data)
{
  Writer *self = data;

  do
    for (unsigned i = 0; i < 100; i++, self->n++)
      sysprof_collector_mark ((int64_t) self->n, 0, "bench", "mark", message);
  while (SYSPROF_CAPTURE_CURRENT_TIME < self->end);

  return NULL;
}

static int
run_threads (unsigned n_threads, double seconds)
{
  Writer *writers = calloc (n_threads, sizeof *writers);
  int64_t begin = SYSPROF_CAPTURE_CURRENT_TIME;
  uint64_t n = 0;

  for (unsigned i = 0; i < n_threads; i++)
    {
      writers[i].end = begin + (int64_t) (seconds * 1e9);
      if (pthread_create (&writers[i].thread, NULL, write_until, &writers[i]) != 0)
        return 1;
    }
  for (unsigned i = 0; i < n_threads; i++)
    {
      pthread_join (writers[i].thread, NULL);
      n += writers[i].n;
    }
  printf ("%.0f %llu\n", (double) n * 1e9 / (double) (SYSPROF_CAPTURE_CURRENT_TIME - begin),
          (unsigned long long) n);
  free (writers);

  return 0;
}

int
main (int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";

  sysprof_clock_init ();
  sysprof_collector_init ();
  if (strcmp (what, "call") == 0)
    printf ("%.2f\n", measure (write_mark, PAUSE));
  else if (strcmp (what, "floor") == 0)
    printf ("%.2f\n", measure (copy_mark, PAUSE));
  else if (strcmp (what, "bare") == 0)
    printf ("%.2f\n", measure (write_mark_without_time, 0));
  else if (strcmp (what, "threads") == 0 && argc > 3)
    return run_threads ((unsigned) atoi (argv[2]), atof (argv[3]));
  else
    return 2;

  return 0;
}
