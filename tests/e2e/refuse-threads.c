// SPDX-License-Identifier: GPL-3.0-or-later

/* To be preloaded: the system refuses the threads of this process, but not those of others: from the one with the number in
 * REFUSE_THREADS on, counted from 0, or with REFUSE_ONCE in the environment that one alone. */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

typedef int (*Create) (pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);

__attribute__ ((visibility ("default"))) int
pthread_create (pthread_t *thread,
                const pthread_attr_t *attributes,
                void *(*func) (void *),
                void *data)
{
  static int n_threads;
  Create real = (Create) dlsym (RTLD_NEXT, "pthread_create");
  const char *refused = getenv ("REFUSE_THREADS");
  int number = __atomic_fetch_add (&n_threads, 1, __ATOMIC_RELAXED);

  if (refused != NULL &&
      (getenv ("REFUSE_ONCE") != NULL ? number == atoi (refused) : number >= atoi (refused)))
    return EAGAIN;
  return real (thread, attributes, func, data);
}
