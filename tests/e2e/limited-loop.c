// SPDX-License-Identifier: GPL-3.0-or-later

/* limited-loop FILE ROUNDS: a main loop that now and then blocks in what one should not do there, for disk and for memory; so many times
 * at least, and for some seconds. Says of each such call when it was, and what the kernel counted for this thread meanwhile: lines
 * "NAME-ROUND TID BEGIN END SWITCHES FAULTS", times in ns of CLOCK_MONOTONIC, switches those that it made because it waited, faults those
 * for which something was read. */

#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FILE_SIZE     (4u << 20)
#define LEAST_SECONDS 3

typedef struct
{
  int64_t time;
  struct rusage usage;
} Moment;

typedef struct
{
  GMainLoop *loop;
  int fd;
  char *bytes;
  unsigned round;
  unsigned n_rounds;
  int64_t begin;
} Program;

static Moment
now (void)
{
  Moment moment;
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  getrusage (RUSAGE_THREAD, &moment.usage);
  moment.time = time.tv_sec * INT64_C (1000000000) + time.tv_nsec;
  return moment;
}

static void
say (const char *name, unsigned round, const Moment *begin, const Moment *end)
{
  printf ("%s-%u %ld %" PRId64 " %" PRId64 " %ld %ld\n", name, round,
          (long) syscall (SYS_gettid), begin->time, end->time,
          end->usage.ru_nvcsw - begin->usage.ru_nvcsw,
          end->usage.ru_majflt - begin->usage.ru_majflt);
}

/* The names of both are looked for in stacks. */
static __attribute__ ((noinline)) void
save_settings (Program *self)
{
  if (pwrite (self->fd, self->bytes, FILE_SIZE, 0) != FILE_SIZE)
    abort ();
  if (fsync (self->fd) != 0)
    abort ();
  __asm__ volatile(""); /* no tail call: it is in the stack of its callee */
}

static __attribute__ ((noinline)) unsigned
look_at_pages (Program *self)
{
  volatile char *pages = mmap (NULL, FILE_SIZE, PROT_READ, MAP_SHARED, self->fd, 0);
  unsigned sum = 0;

  if (pages == MAP_FAILED)
    abort ();
  madvise ((void *) pages, FILE_SIZE, MADV_RANDOM);
  for (unsigned i = 0; i < FILE_SIZE; i += 16384)
    sum += (unsigned) pages[i];
  munmap ((void *) pages, FILE_SIZE);
  return sum;
}

static gboolean
tick (gpointer data)
{
  Program *self = data;
  Moment begin = now (), end;

  save_settings (self);
  end = now ();
  say ("save", self->round, &begin, &end);

  /* Pages that other processes displaced are read again. */
  (void) posix_fadvise (self->fd, 0, FILE_SIZE, POSIX_FADV_DONTNEED);
  begin = now ();
  (void) look_at_pages (self);
  end = now ();
  say ("look", self->round, &begin, &end);

  if (++self->round >= self->n_rounds &&
      end.time - self->begin > LEAST_SECONDS * INT64_C (1000000000))
    g_main_loop_quit (self->loop);
  return G_SOURCE_CONTINUE;
}

int
main (int argc, char **argv)
{
  Program program = { .bytes = g_malloc0 (FILE_SIZE) };

  if (argc != 3 || (program.fd = open (argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600)) < 0)
    return 1;
  prctl (PR_SET_NAME, "limited-loop");
  program.n_rounds = (unsigned) atoi (argv[2]);
  g_usleep (G_USEC_PER_SEC); /* until its tables are there */
  program.begin = now ().time;
  program.loop = g_main_loop_new (NULL, FALSE);
  g_timeout_add (100, tick, &program);
  g_main_loop_run (program.loop);
  fflush (stdout);
  _exit (0); /* what sanitizers do at the end is no wait of the loop's */
}
