// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs a command behind a filter of system calls. */

#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DENY_LENGTH(filter) ((unsigned short) (sizeof (filter) / sizeof *(filter)))

/* The command is all of `argv` but the first word. Returns, with a status to end with, only where it cannot be run. */
static inline int
deny (struct sock_filter *filter, unsigned short n, int argc, char **argv)
{
  struct sock_fprog program = { n, filter };

  if (argc < 2)
    {
      fprintf (stderr, "usage: %s COMMAND [ARGUMENT...]\n", argv[0]);
      return EXIT_FAILURE;
    }
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
      prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
    {
      perror (argv[0]);
      return EXIT_FAILURE;
    }
  execvp (argv[1], argv + 1);
  perror (argv[1]);
  return EXIT_FAILURE;
}
