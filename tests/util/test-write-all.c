// SPDX-License-Identifier: GPL-3.0-or-later

/* Writing all bytes in spite of interruptions. */

#include "util/write-all.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#define SIZE ((size_t) 1 << 20) /* more than a pipe holds */

typedef struct
{
  int fd;
  pthread_t writer;
  GByteArray *read;
} Reader;

static void
on_signal (int number)
{
}

/* Interrupts the writer whenever there is room: it has written a part then, or nothing yet. */
static void *
read_and_interrupt (void *data)
{
  Reader *reader = data;
  uint8_t bytes[5000];
  ssize_t n;

  while (reader->read->len < SIZE && (n = read (reader->fd, bytes, sizeof bytes)) > 0)
    {
      g_byte_array_append (reader->read, bytes, (guint) n);
      if (reader->read->len < SIZE / 2)
        (void) pthread_kill (reader->writer, SIGUSR1);
    }
  return NULL;
}

static void
test_goes_on_after_interruptions (void)
{
  struct sigaction action = { .sa_handler = on_signal }; /* without SA_RESTART */
  g_autofree uint8_t *bytes = g_malloc (SIZE);
  g_autoptr (GByteArray) read = g_byte_array_new ();
  pthread_t thread;
  int fds[2];
  Reader reader;

  for (size_t i = 0; i < SIZE; i++)
    bytes[i] = (uint8_t) (i * 7 + i / 256);
  g_assert_cmpint (sigaction (SIGUSR1, &action, NULL), ==, 0);
  g_assert_cmpint (pipe2 (fds, O_CLOEXEC), ==, 0);
  reader = (Reader){ fds[0], pthread_self (), read };
  g_assert_cmpint (pthread_create (&thread, NULL, read_and_interrupt, &reader), ==, 0);

  g_assert_true (sysprof_write_all (fds[1], bytes, SIZE));
  close (fds[1]);
  g_assert_cmpint (pthread_join (thread, NULL), ==, 0);
  close (fds[0]);
  g_assert_cmpmem (bytes, SIZE, read->data, read->len);
}

static void
test_tells_why_not (void)
{
  int fd = open ("/dev/full", O_WRONLY | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  g_assert_false (sysprof_write_all (fd, "abc", 3));
  g_assert_cmpint (errno, ==, ENOSPC);
  g_assert_true (sysprof_write_all (fd, "", 0));
  close (fd);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/write-all/goes-on-after-interruptions", test_goes_on_after_interruptions);
  g_test_add_func ("/write-all/tells-why-not", test_tells_why_not);
  return g_test_run ();
}
