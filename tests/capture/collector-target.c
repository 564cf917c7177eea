// SPDX-License-Identifier: BSD-2-Clause

/* A program that reports through the collector: run by tests under several recorders, linked
 * with this library and with others of the same interface.
 *
 * usage: collector-target WHAT [N]…; exits 0 when it came through unharmed.
 */

#include <sysprof-capture.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int
three_addresses (SysprofCaptureAddress *addrs, unsigned int n_addrs, void *user_data)
{
  (void) user_data;
  if (n_addrs < 3)
    return -1;
  addrs[0] = 0x401000;
  addrs[1] = 0x402000;
  addrs[2] = 0x403000;

  return 3;
}

static int
nested (SysprofCaptureAddress *addrs, unsigned int n_addrs, void *user_data)
{
  /* As a hook of malloc would, when the unwinder allocates. */
  sysprof_collector_allocate (1, 1, three_addresses, NULL);

  return three_addresses (addrs, n_addrs, user_data);
}

static int
no_addresses (SysprofCaptureAddress *addrs, unsigned int n_addrs, void *user_data)
{
  (void) addrs;
  (void) n_addrs;
  (void) user_data;

  return -1;
}

/* One frame of each kind, with texts and numbers that the test knows. */
static int
emit_all (void)
{
  SysprofCaptureCounter counters[10];
  SysprofCaptureCounterValue values[10];
  unsigned int ids[10];
  unsigned int first;

  sysprof_collector_init ();
  if (!sysprof_collector_is_active ())
    return 3;
  sysprof_collector_mark (1000, 2000, "group", "name", "message");
  sysprof_collector_mark (1001, 0, NULL, NULL, NULL);
  sysprof_collector_mark (1002, 0, "a group that is longer than its field",
                          "a name that is longer than the forty bytes of its field", "m");
  sysprof_collector_mark_printf (1003, 5, "group", "printf", "%s %d", "number", 42);
  sysprof_collector_log (16, "domain", "warning");
  sysprof_collector_log_printf (64, "domain", "%05d", 7);
  sysprof_collector_sample (three_addresses, NULL);
  sysprof_collector_sample (no_addresses, NULL);
  sysprof_collector_allocate (0xdead000, 4096, three_addresses, NULL);
  sysprof_collector_allocate (0xdead000, 0, NULL, NULL);

  first = sysprof_collector_request_counters (10);
  memset (counters, 0, sizeof counters);
  for (unsigned int i = 0; i < 10; i++)
    {
      strcpy (counters[i].category, "category");
      (void) snprintf (counters[i].name, sizeof counters[i].name, "counter %u", i);
      counters[i].id = (first + i) & 0xffffff;
      counters[i].type = SYSPROF_CAPTURE_COUNTER_INT64;
      ids[i] = first + i;
      values[i].v64 = 100 + (int) i;
    }
  sysprof_collector_define_counters (counters, 10);
  sysprof_collector_set_counters (ids, values, 10);

  return first != 0 ? 0 : 4;
}

static void *
emit_marks (void *data)
{
  unsigned int n = *(unsigned int *) data;

  for (unsigned int i = 0; i < n; i++)
    sysprof_collector_mark (i, 0, "thread", "mark", "message");

  return NULL;
}

static int
emit_from_threads (unsigned int n_threads, unsigned int n_marks)
{
  pthread_t *threads = calloc (n_threads, sizeof *threads);

  for (unsigned int i = 0; i < n_threads; i++)
    if (pthread_create (&threads[i], NULL, emit_marks, &n_marks) != 0)
      return 5;
  for (unsigned int i = 0; i < n_threads; i++)
    pthread_join (threads[i], NULL);
  free (threads);

  return 0;
}

static int
emit_around_fork (void)
{
  char text[32];
  int status;
  pid_t child;

  sysprof_collector_mark (1, 0, "fork", "before", "");
  child = fork ();
  if (child == 0)
    {
      (void) snprintf (text, sizeof text, "%d", (int) getpid ());
      sysprof_collector_mark (2, 0, "fork", "child", text);
      _exit (0);
    }
  if (waitpid (child, &status, 0) != child || status != 0)
    return 6;
  (void) snprintf (text, sizeof text, "%d", (int) getpid ());
  sysprof_collector_mark (3, 0, "fork", "parent", text);

  return 0;
}

static int
emit_long_messages (int n_lengths, char **lengths)
{
  for (int i = 0; i < n_lengths; i++)
    {
      size_t length = strtoul (lengths[i], NULL, 10);
      char *text = malloc (length + 1);

      memset (text, 'x', length);
      text[length] = '\0';
      sysprof_collector_mark (i, 0, "long", "mark", text);
      sysprof_collector_mark_printf (i, 0, "long", "printf", "%s", text);
      sysprof_collector_log (0, "long", text);
      sysprof_collector_log_printf (0, "long", "%s", text);
      free (text);
    }

  return 0;
}

static int
emit_wide_characters (void)
{
  char *text = malloc (3 * 30000 + 1);

  for (unsigned int i = 0; i < 30000; i++)
    memcpy (text + (size_t) 3 * i, "\xe2\x87\x92", 3);
  text[3 * 30000] = '\0';
  sysprof_collector_mark (0, 0, "wide", "mark", text);
  sysprof_collector_mark_printf (0, 0, "wide", "printf", "%s", text);
  sysprof_collector_log (0, "wide", text);
  free (text);

  return 0;
}

static int
emit_from_back_trace (void)
{
  errno = 77;
  sysprof_collector_sample (nested, NULL);
  sysprof_collector_allocate (2, 2, nested, NULL);

  return errno == 77 ? 0 : 7;
}

/* With a fork that shares the memory of the parent until exec(). */
static int
emit_around_exec (char **argv)
{
  char *words[] = { argv[0], argv[0], "marks", "3", NULL };
  int status;
  pid_t child;

  sysprof_collector_mark (1, 0, "exec", "before", "");
  child = vfork ();
  if (child == 0)
    {
      (void) execv (words[0], words + 1);
      _exit (9);
    }
  if (waitpid (child, &status, 0) != child || status != 0)
    return 6;
  sysprof_collector_mark (3, 0, "exec", "after", "");

  return 0;
}

/* One signal soon. A periodic timer would leave a slow program no time beside its handler. */
static int
request_signal (void)
{
  const struct itimerval soon = { { 0, 0 }, { 0, 100 } };

  return setitimer (ITIMER_REAL, &soon, NULL);
}

static void
emit_from_handler (int number)
{
  (void) number;
  sysprof_collector_mark (0, 0, "handler", "mark", "from a signal handler");
  (void) request_signal ();
}

static int
emit_around_signals (unsigned int n)
{
  (void) signal (SIGALRM, emit_from_handler);
  if (request_signal () != 0)
    return 8;
  for (unsigned int i = 0; i < n; i++)
    {
      sysprof_collector_mark (i, 0, "thread", "mark", "message");
      if (i % 10 == 0)
        (void) raise (SIGALRM); /* the timer interrupts the other calls */
    }

  return 0;
}

static void *
emit_for_ever (void *has_begun)
{
  for (int64_t i = 0;; i++)
    {
      sysprof_collector_mark (i, 0, "endless", "mark", "message");
      if (i == 0)
        (void) sem_post (has_begun);
    }

  return NULL;
}

/* Ends in the middle of writing, with SIGKILL. */
static int
die_while_writing (unsigned int n)
{
  pthread_t thread;
  sem_t has_begun;

  emit_marks (&n);
  if (sem_init (&has_begun, 0, 0) != 0)
    return 5;
  for (unsigned int i = 0; i < 4; i++)
    if (pthread_create (&thread, NULL, emit_for_ever, &has_begun) != 0)
      return 5;
  for (unsigned int i = 0; i < 4; i++)
    while (sem_wait (&has_begun) != 0)
      ;
  emit_marks (&n);
  (void) kill (getpid (), SIGKILL);

  return 9;
}

/* Kills the recorder, which is the parent, and writes on. */
static int
outlive_recorder (unsigned int n)
{
  sysprof_collector_mark (0, 0, "outlive", "before", "");
  if (kill (getppid (), SIGKILL) != 0)
    return 9;
  emit_marks (&n);
  if (emit_from_threads (20, 10) != 0)
    return 5;
  (void) puts ("alive");

  return 0;
}

/* Waits until the recorder closes the socket; then threads write their first frame. */
static int
start_late (void)
{
  const char *number = getenv ("SYSPROF_CONTROL_FD");
  struct pollfd socket = { .fd = number != NULL ? atoi (number) : -1, .events = 0 };

  sysprof_collector_mark (0, 0, "late", "before", "");
  if (poll (&socket, 1, 60000) != 1)
    return 9;

  return emit_from_threads (20, 10);
}

int
main (int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  unsigned int n = argc > 2 ? (unsigned int) strtoul (argv[2], NULL, 10) : 1;
  unsigned int m = argc > 3 ? (unsigned int) strtoul (argv[3], NULL, 10) : 1;

  if (strcmp (what, "all") == 0)
    return emit_all ();
  if (strcmp (what, "threads") == 0)
    return emit_from_threads (n, m);
  if (strcmp (what, "fork") == 0)
    return emit_around_fork ();
  if (strcmp (what, "long") == 0)
    return emit_long_messages (argc - 2, argv + 2);
  if (strcmp (what, "wide") == 0)
    return emit_wide_characters ();
  if (strcmp (what, "exec") == 0)
    return emit_around_exec (argv);
  if (strcmp (what, "signals") == 0)
    return emit_around_signals (n);
  if (strcmp (what, "killed") == 0)
    return die_while_writing (n);
  if (strcmp (what, "outlive") == 0)
    return outlive_recorder (n);
  if (strcmp (what, "late") == 0)
    return start_late ();
  if (strcmp (what, "nested") == 0)
    return emit_from_back_trace ();
  if (strcmp (what, "marks") == 0)
    {
      emit_marks (&n);
      return 0;
    }
  if (strcmp (what, "active") == 0)
    {
      sysprof_collector_mark (0, 0, "g", "n", "m");
      (void) printf ("%d\n", sysprof_collector_is_active ());
      return 0;
    }

  return 2;
}
