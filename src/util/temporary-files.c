// SPDX-License-Identifier: GPL-3.0-or-later

/* Temporary files: without a name, or removed when a signal ends the program. The signal
 * handler must only call what is safe in one: it reads atomics and calls unlink(). */

#include "util/temporary-files.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define MOST_FILES 8 /* a program has two at most */
#define N_RANDOM   6 /* letters of a name */
#define MOST_TRIES 4

/* An entry is used once only, so that the handler never sees half of a path. `exists`: release,
 * pairs with the acquire of the handler, which may run on any thread. */
typedef struct
{
  char path[PATH_MAX];
  atomic_bool exists;
} TemporaryFile;

static TemporaryFile files[MOST_FILES];
static unsigned n_files; /* main thread */
static pid_t owner; /* a forked child inherits the handler, and must not remove these files */

static const int ending_signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

void
sysprof_temporary_files_remove (void)
{
  if (getpid () != owner)
    return;
  for (size_t i = 0; i < MOST_FILES; i++)
    if (atomic_load_explicit (&files[i].exists, memory_order_acquire))
      (void) unlink (files[i].path); /* the program ends in any case */
}

static void
end (int number)
{
  sysprof_temporary_files_remove ();
  /* SA_RESETHAND has restored the default action: the program ends when this function
   * returns. */
  (void) raise (number);
}

void
sysprof_temporary_files_remove_on_signals (void)
{
  struct sigaction action = { .sa_handler = end, .sa_flags = (int) SA_RESETHAND };

  for (size_t i = 0; i < G_N_ELEMENTS (ending_signals); i++)
    {
      struct sigaction before;

      if (sigaction (ending_signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        (void) sigaction (ending_signals[i], &action, NULL); /* fails for wrong numbers only */
    }
}

void
sysprof_temporary_file_add (const char *path)
{
  TemporaryFile *file;

  if (n_files == MOST_FILES || strlen (path) >= sizeof files->path)
    return;
  owner = getpid ();
  file = &files[n_files++];
  strcpy (file->path, path);
  atomic_store_explicit (&file->exists, true, memory_order_release);
}

int
sysprof_temporary_file_create (char *path, int flags, mode_t permissions)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  size_t size = strlen (path);

  g_return_val_if_fail (size >= N_RANDOM, -1);

  /* Of 36^6 names, a random one is hardly ever taken unless another program creates them on
   * purpose. */
  for (unsigned i = 0; i < MOST_TRIES; i++)
    {
      int fd;

      for (size_t at = size - N_RANDOM; at < size; at++)
        path[at] = letters[g_random_int_range (0, sizeof letters - 1)];
      sysprof_temporary_file_add (path);
      fd = open (path, flags | O_CREAT | O_EXCL, permissions);
      if (fd >= 0)
        return fd;
      sysprof_temporary_file_forget (path);
      if (errno != EEXIST)
        return -1;
    }
  return -1;
}

void
sysprof_temporary_file_forget (const char *path)
{
  if (path == NULL)
    return;
  for (unsigned i = 0; i < n_files; i++)
    if (strcmp (files[i].path, path) == 0)
      atomic_store_explicit (&files[i].exists, false, memory_order_release);
}

int
sysprof_temporary_file_open_unnamed (void)
{
  int fd = open (g_get_tmp_dir (), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

  /* Not every file system supports O_TMPFILE. */
  if (fd < 0)
    {
      g_autofree char *path = g_build_filename (g_get_tmp_dir (), "sysprof-XXXXXX", NULL);

      fd = g_mkstemp_full (path, O_RDWR | O_CLOEXEC, 0600);
      if (fd >= 0)
        (void) g_unlink (path); /* if this fails, only an unused name is left */
    }
  return fd;
}
