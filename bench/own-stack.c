// SPDX-License-Identifier: GPL-3.0-or-later

/* usage: bench-own-stack DEPTH ROUNDS
 *
 * Nanoseconds per walk of a program's own stack, by each walker in turns: a line "NAME NANOSECONDS ADDRESSES" per round and walker,
 * from a stack of DEPTH functions and main. And once each: "update", until all tables are there; "look", where nothing has changed. */

#include "backtrace/backtrace.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_LIBUNWIND
#  define UNW_LOCAL_ONLY
#  include <libunwind.h>
#endif

#define MOST  1024
#define WALKS 2000

typedef size_t (*WalkFunc) (void **addresses, size_t most);

static size_t
walk_ours (void **addresses, size_t most)
{
  return sysprof_backtrace ((uint64_t *) (void *) addresses, most);
}

/* The C library's own: libunwind has a function of the same name. */
static int (*glibc_backtrace) (void **addresses, int most);

static size_t
walk_glibc (void **addresses, size_t most)
{
  return (size_t) glibc_backtrace (addresses, (int) most);
}

#ifdef HAVE_LIBUNWIND
static size_t
walk_libunwind (void **addresses, size_t most)
{
  return (size_t) unw_backtrace (addresses, (int) most);
}
#endif

/* No contestant, but the lower limit of the cost: the compiler must have kept frame pointers
 * in all code. */
__attribute__ ((noinline)) static size_t
walk_frame_pointers (void **addresses, size_t most)
{
  void **frame = __builtin_frame_address (0);
  size_t n = 0;

  while (n < most && frame[0] > (void *) frame)
    {
      addresses[n++] = frame[1];
      frame = frame[0];
    }
  return n;
}

static const struct
{
  const char *name;
  WalkFunc walk;
} walkers[] = {
  { "sysprof_backtrace", walk_ours },
  { "backtrace", walk_glibc },
#ifdef HAVE_LIBUNWIND
  { "unw_backtrace", walk_libunwind },
#endif
  { "frame-pointers", walk_frame_pointers },
};

static uint64_t
now_nsec (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

static void
measure (unsigned n_rounds)
{
  static void *addresses[MOST];

  for (unsigned round = 0; round < n_rounds; round++)
    for (size_t i = 0; i < sizeof walkers / sizeof walkers[0]; i++)
      {
        uint64_t begin = now_nsec ();
        size_t n = 0;

        for (unsigned walk = 0; walk < WALKS; walk++)
          n = walkers[i].walk (addresses, MOST);
        printf ("%s %.1f %zu\n", walkers[i].name, (double) (now_nsec () - begin) / WALKS, n);
      }
}

__attribute__ ((noinline)) static unsigned
fall (unsigned depth, unsigned n_rounds)
{
  unsigned char some[48];

  memset (some, (int) depth, sizeof some);
  if (depth == 0)
    measure (n_rounds);
  else
    some[0] = (unsigned char) fall (depth - 1, n_rounds);
  return some[depth % sizeof some];
}

int
main (int argc, char **argv)
{
  void *warm[1];
  uint64_t begin;

  if (argc != 3)
    {
      fprintf (stderr, "usage: bench-own-stack DEPTH ROUNDS\n");
      return 2;
    }

  glibc_backtrace = (int (*) (void **, int)) dlsym (dlopen (LIBC_SO, RTLD_LAZY), "backtrace");
  if (glibc_backtrace == NULL)
    return 1;
  (void) glibc_backtrace (warm, 1);
  begin = now_nsec ();
  if (!sysprof_backtrace_update ())
    return 1;
  printf ("update %" PRIu64 "\n", now_nsec () - begin);
  begin = now_nsec ();
  (void) sysprof_backtrace_update ();
  printf ("look %" PRIu64 "\n", now_nsec () - begin);
  (void) fall ((unsigned) atoi (argv[1]), (unsigned) atoi (argv[2]));
  return 0;
}
