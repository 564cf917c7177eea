// SPDX-License-Identifier: GPL-3.0-or-later

/* Waits in known ways, and prints each wait with its thread, time and purpose: lines "NAME TID
 * BEGIN END NUMBER…", times in ns of CLOCK_MONOTONIC. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MSEC      INT64_C (1000000)
#define FILE_SIZE (1u << 20)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t priority_mutex;
static int to_main[2];
static int to_other[2];
static volatile int other_tid;

static int64_t
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C (1000000000) + time.tv_nsec;
}

static void
sleep_nsec (int64_t nsec)
{
  const struct timespec time = { nsec / 1000000000, nsec % 1000000000 };

  nanosleep (&time, NULL);
}

static int
own_tid (void)
{
  return (int) syscall (SYS_gettid);
}

static void
say (const char *name, int64_t begin, uint64_t first, uint64_t second)
{
  printf ("%s %d %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 "\n", name, own_tid (), begin,
          now (), first, second);
  fflush (stdout); /* whatever ends it */
}

static void
send_byte (int fd)
{
  if (write (fd, "", 1) != 1)
    abort ();
}

static void
receive_byte (int fd)
{
  char byte;

  if (read (fd, &byte, 1) != 1)
    abort ();
}

/* Does the work that the main thread waits for, each time that it is woken. */
static void *
run_other (void *unused)
{
  prctl (PR_SET_NAME, "other");
  other_tid = own_tid ();
  send_byte (to_main[1]);

  receive_byte (to_other[0]);
  pthread_mutex_lock (&mutex);
  send_byte (to_main[1]);
  sleep_nsec (200 * MSEC);
  pthread_mutex_unlock (&mutex);

  receive_byte (to_other[0]);
  pthread_mutex_lock (&priority_mutex);
  send_byte (to_main[1]);
  sleep_nsec (100 * MSEC);
  pthread_mutex_unlock (&priority_mutex);

  receive_byte (to_other[0]);
  sleep_nsec (150 * MSEC);
  send_byte (to_main[1]);
  return NULL;
}

static void
wait_for_lock (const char *name, pthread_mutex_t *lock)
{
  int64_t begin;

  send_byte (to_other[1]);
  receive_byte (to_main[0]);
  begin = now ();
  pthread_mutex_lock (lock);
  say (name, begin, (uint64_t) (uintptr_t) lock, (uint64_t) other_tid);
  pthread_mutex_unlock (lock);
}

static void
wait_for_disk (const char *path)
{
  int fd = open (path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  char *bytes = malloc (FILE_SIZE);
  volatile char *mapped;
  int64_t begin;

  memset (bytes, 1, FILE_SIZE);
  if (fd < 0 || write (fd, bytes, FILE_SIZE) != FILE_SIZE)
    abort ();
  begin = now ();
  fsync (fd);
  say ("fsync", begin, SYS_fsync, 0);

  posix_fadvise (fd, 0, FILE_SIZE, POSIX_FADV_DONTNEED);
  mapped = mmap (NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED)
    abort ();
  madvise ((void *) mapped, FILE_SIZE, MADV_RANDOM);
  begin = now ();
  for (unsigned i = 0; i < FILE_SIZE; i += 4096)
    (void) mapped[i];
  say ("fault", begin, 0, 0);
  free (bytes);
}

static void
wait_for_child (void)
{
  int64_t begin = now ();
  pid_t child = fork ();

  if (child == 0)
    {
      sleep_nsec (100 * MSEC);
      _exit (0);
    }
  waitpid (child, NULL, 0);
  say ("child", begin, (uint64_t) child, 0);
}

static void
burn (void)
{
  int64_t begin = now ();

  while (now () < begin + 300 * MSEC)
    continue;
  say ("burn", begin, 0, 0);
}

int
main (int argc, char **argv)
{
  pthread_mutexattr_t inherits;
  pthread_t other;
  int64_t begin = now ();

  /* Until its tables are there. */
  sleep_nsec (500 * MSEC);
  say ("sleep", begin, 500 * MSEC, 0);

  pthread_mutexattr_init (&inherits);
  pthread_mutexattr_setprotocol (&inherits, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init (&priority_mutex, &inherits);
  if (argc < 2 || pipe (to_main) != 0 || pipe (to_other) != 0 ||
      pthread_create (&other, NULL, run_other, NULL) != 0)
    return 1;
  receive_byte (to_main[0]);

  wait_for_lock ("lock", &mutex);
  wait_for_lock ("inheriting-lock", &priority_mutex);

  send_byte (to_other[1]);
  begin = now ();
  receive_byte (to_main[0]);
  say ("pipe", begin, SYS_read, (uint64_t) other_tid);
  pthread_join (other, NULL);

  /* As a main loop that has nothing to do. */
  begin = now ();
  poll (NULL, 0, 250);
  say ("idle", begin, SYS_poll, 0);

  wait_for_disk (argv[1]);
  wait_for_child ();
  burn ();
  _exit (0); /* what sanitizers do at the end is no step */
}
