// SPDX-License-Identifier: GPL-3.0-or-later

/* Raises the soft limit of open files during a recording, and restores it for spawned programs
 * (see descriptor-limit.h). */

#include "access/descriptor-limit.h"

#include <pthread.h>
#include <sys/param.h>
#include <sys/resource.h>

#define SPARE 256 /* for descriptors that are not reserved */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the rest */
static unsigned long asked_for;
static rlim_t original; /* soft limit; 0 = unchanged */
static unsigned n_lowered;

/* Sets the limit to the value needed now. If that fails, open() reports an error later. */
static void
adjust (void)
{
  struct rlimit limit;
  rlim_t wanted;

  if (getrlimit (RLIMIT_NOFILE, &limit) != 0)
    return;
  if (original == 0)
    original = limit.rlim_cur;

  wanted = original;
  if (n_lowered == 0 && asked_for > 0)
    wanted = MAX (original, MIN ((rlim_t) asked_for + SPARE, limit.rlim_max));
  if (wanted != limit.rlim_cur)
    {
      limit.rlim_cur = wanted;
      (void) setrlimit (RLIMIT_NOFILE, &limit);
    }
  if (asked_for == 0)
    original = 0; /* others may change the limit until the next recording */
}

void
sysprof_descriptor_limit_ask (unsigned long n)
{
  pthread_mutex_lock (&lock);
  asked_for += n;
  adjust ();
  pthread_mutex_unlock (&lock);
}

void
sysprof_descriptor_limit_give_back (unsigned long n)
{
  pthread_mutex_lock (&lock);
  asked_for -= n;
  adjust ();
  pthread_mutex_unlock (&lock);
}

void
sysprof_descriptor_limit_restore (void)
{
  pthread_mutex_lock (&lock);
  n_lowered++;
  adjust ();
  pthread_mutex_unlock (&lock);
}

void
sysprof_descriptor_limit_raise_again (void)
{
  pthread_mutex_lock (&lock);
  n_lowered--;
  adjust ();
  pthread_mutex_unlock (&lock);
}

bool
sysprof_descriptor_limit_is_near (int fd)
{
  struct rlimit limit;

  return getrlimit (RLIMIT_NOFILE, &limit) == 0 &&
         (rlim_t) fd >= limit.rlim_cur - MIN (limit.rlim_cur / 2, SPARE);
}
