// SPDX-License-Identifier: GPL-3.0-or-later

#include "util/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define MOST_UNFINISHED 8 /* a program has two at the most */
#define N_RANDOM        6 /* letters of a name */
#define MOST_TRIES      4

/* A place is taken once and never again, so that the handler does not see half of a path. `is_there`: release, pairs with the
 * acquire of the handler, which may run on any thread. */
typedef struct
{
  char path[PATH_MAX];
  atomic_bool is_there;
} Unfinished;

static Unfinished places[MOST_UNFINISHED];
static unsigned n_places; /* main thread */
static pid_t owner;       /* a child that was forked has the handler, too */

static const int ending_signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

void
sysprof_unfinished_remove (void)
{
  if (getpid () != owner)
    return;
  for (size_t i = 0; i < MOST_UNFINISHED; i++)
    if (atomic_load_explicit (&places[i].is_there, memory_order_acquire))
      (void) unlink (places[i].path); /* we end, whatever comes of it */
}

static void
end (int number)
{
  sysprof_unfinished_remove ();
  (void) raise (
      number); /* what it does is the default again: the program ends when this returns */
}

void
sysprof_unfinished_watch_signals (void)
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
sysprof_unfinished_add (const char *path)
{
  Unfinished *place;

  if (n_places == MOST_UNFINISHED || strlen (path) >= sizeof places->path)
    return;
  owner = getpid ();
  place = &places[n_places++];
  strcpy (place->path, path);
  atomic_store_explicit (&place->is_there, true, memory_order_release);
}

int
sysprof_unfinished_create (char *path, int flags, mode_t permissions)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  size_t size = strlen (path);

  g_return_val_if_fail (size >= N_RANDOM, -1);

  /* A name that is taken comes once in a thousand million times, if nobody makes them on purpose. */
  for (unsigned i = 0; i < MOST_TRIES; i++)
    {
      int fd;

      for (size_t at = size - N_RANDOM; at < size; at++)
        path[at] = letters[g_random_int_range (0, sizeof letters - 1)];
      sysprof_unfinished_add (path);
      fd = open (path, flags | O_CREAT | O_EXCL, permissions);
      if (fd >= 0)
        return fd;
      sysprof_unfinished_forget (path);
      if (errno != EEXIST)
        return -1;
    }
  return -1;
}

void
sysprof_unfinished_forget (const char *path)
{
  if (path == NULL)
    return;
  for (unsigned i = 0; i < n_places; i++)
    if (strcmp (places[i].path, path) == 0)
      atomic_store_explicit (&places[i].is_there, false, memory_order_release);
}
