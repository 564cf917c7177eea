// SPDX-License-Identifier: GPL-3.0-or-later

/* `sysprof-cli mark GROUP NAME [MESSAGE] [-- COMMAND]`: writes a mark into the recording that
 * this process is a part of. It must not change how COMMAND runs, and runs it without a
 * recorder, too. */

#include "cli/mark.h"

#include "util/util.h"

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysprof-capture.h>

#define MAX_WORDS 3 /* GROUP NAME MESSAGE */

/* The statuses of a shell */
#define CANNOT_RUN 126
#define NOT_FOUND  127
#define BY_SIGNAL  128 /* plus its number */

extern char **environ;

static const char usage[] =
    "Usage: sysprof-cli mark GROUP NAME [MESSAGE] [-- COMMAND [ARGUMENT...]]\n";

static const char description[] =
    "\nWrite a mark into the recording that this program runs in (sysprof-cli -- PROGRAM).\n"
    "With a command the mark lasts as long as the command, and the exit status is that of\n"
    "the command. Without a recording only the command runs.\n"
    "\n"
    "Example:\n"
    "  sysprof-cli mark build compile -- make -j8\n";

/* A terminal sends these to the command, too. */
static const int ignored[] = { SIGINT, SIGQUIT };
/* These are sent to this process alone. */
static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };

static volatile sig_atomic_t command_pid;

static void
forward (int number)
{
  int saved = errno;

  (void) kill ((pid_t) command_pid, number); /* it may have ended */
  errno = saved;
}

static bool
is_ignored (int number)
{
  struct sigaction action;

  return sigaction (number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Starts the command with the signals that this process was started with. Returns an errno. */
static int
start (char **command, pid_t *pid)
{
  posix_spawnattr_t attributes;
  sigset_t defaults, mask, before;
  int error;

  sigemptyset (&defaults);
  sigemptyset (&mask);
  for (size_t i = 0; i < G_N_ELEMENTS (ignored); i++)
    if (!is_ignored (ignored[i]))
      {
        sigaddset (&defaults, ignored[i]);
        (void) signal (ignored[i], SIG_IGN); /* fails only for invalid numbers */
      }
  for (size_t i = 0; i < G_N_ELEMENTS (forwarded); i++)
    sigaddset (&mask, forwarded[i]);
  (void) signal (SIGCHLD, SIG_DFL); /* else there is no exit status */
  sigprocmask (SIG_BLOCK, &mask, &before);

  posix_spawnattr_init (&attributes);
  posix_spawnattr_setsigdefault (&attributes, &defaults);
  posix_spawnattr_setsigmask (&attributes, &before);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  error = posix_spawnp (pid, command[0], NULL, &attributes, command, environ);
  posix_spawnattr_destroy (&attributes);

  if (error == 0)
    {
      command_pid = *pid;
      for (size_t i = 0; i < G_N_ELEMENTS (forwarded); i++)
        if (!is_ignored (forwarded[i]))
          (void) signal (forwarded[i], forward); /* fails only for invalid numbers */
    }
  sigprocmask (SIG_SETMASK, &before, NULL);
  return error;
}

static int
wait_for (pid_t pid)
{
  int status;

  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return BY_SIGNAL << 8; /* no process of ours */

  return status;
}

/* Ends this process in the way in which the command ended. */
static int
end_like (int status)
{
  const struct rlimit no_core = { 0, 0 }; /* the command has written one */
  sigset_t mask;
  int number;

  if (WIFEXITED (status))
    return WEXITSTATUS (status);

  number = WTERMSIG (status);
  (void) setrlimit (RLIMIT_CORE, &no_core); /* a core file more does no harm */
  sigemptyset (&mask);
  sigaddset (&mask, number);
  (void) signal (number, SIG_DFL);
  sigprocmask (SIG_UNBLOCK, &mask, NULL);
  (void) raise (number);
  return BY_SIGNAL + number;
}

int
sysprof_cli_mark (int argc, char **argv)
{
  char **words = argv + 1;
  char **command = NULL;
  int n_words = 0;
  int64_t begin;
  int status = 0;
  pid_t pid;
  int error;

  if (argc == 2 && (strcmp (words[0], "--help") == 0 || strcmp (words[0], "-h") == 0))
    {
      printf ("%s%s", usage, description);
      return EXIT_SUCCESS;
    }
  while (words[n_words] != NULL && strcmp (words[n_words], "--") != 0)
    n_words++;
  if (words[n_words] != NULL)
    command = words + n_words + 1;
  if (n_words < 2 || n_words > MAX_WORDS || (command != NULL && command[0] == NULL))
    {
      fprintf (stderr, "sysprof-cli: mark: give a group, a name and at most one message; a "
                       "command follows after --. See sysprof-cli mark --help.\n");
      return EXIT_FAILURE;
    }

  sysprof_collector_init ();
  begin = SYSPROF_CAPTURE_CURRENT_TIME;
  if (command != NULL)
    {
      error = start (command, &pid);
      if (error != 0)
        {
          fprintf (stderr,
                   "sysprof-cli: mark: Cannot run '%s': %s. Check its name and that it may be "
                   "executed.\n",
                   command[0], g_strerror (error));
          return error == ENOENT ? NOT_FOUND : CANNOT_RUN;
        }
      status = wait_for (pid);
    }
  sysprof_collector_mark (begin, command != NULL ? SYSPROF_CAPTURE_CURRENT_TIME - begin : 0,
                          words[0], words[1], n_words == MAX_WORDS ? words[2] : NULL);
  return command != NULL ? end_like (status) : EXIT_SUCCESS;
}
