// SPDX-License-Identifier: GPL-3.0-or-later

/* Four threads that wait for each other: at a mutex of the program's data, at one of its heap,
 * and for a condition. The main thread only joins them. */

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define N_THREADS 4
#define N_ROUNDS  30

static pthread_mutex_t hot_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t *heap_lock;
static unsigned n_queued;
static pthread_barrier_t starts;

/* While it sleeps, the others come to the lock. */
static void
sleep_msec (long msec)
{
  nanosleep (&(struct timespec){ .tv_nsec = msec * 1000000 }, NULL);
}

static __attribute__ ((noinline)) void
update_total (void)
{
  pthread_mutex_lock (&hot_lock);
  sleep_msec (4);
  pthread_mutex_unlock (&hot_lock);
}

static __attribute__ ((noinline)) void
append_to_heap (void)
{
  pthread_mutex_lock (heap_lock);
  sleep_msec (4);
  pthread_mutex_unlock (heap_lock);
}

static __attribute__ ((noinline)) void
take_from_queue (void)
{
  pthread_mutex_lock (&queue_lock);
  while (n_queued == 0)
    pthread_cond_wait (&queue_filled, &queue_lock);
  n_queued--;
  pthread_mutex_unlock (&queue_lock);
}

static __attribute__ ((noinline)) void
put_into_queue (void)
{
  pthread_mutex_lock (&queue_lock);
  n_queued++;
  pthread_cond_signal (&queue_filled);
  pthread_mutex_unlock (&queue_lock);
}

static void *
work (void *locked_work)
{
  void (**work_of_thread) (void) = locked_work;

  pthread_barrier_wait (&starts);
  for (unsigned i = 0; i < N_ROUNDS; i++)
    (*work_of_thread) ();
  take_from_queue ();
  return NULL;
}

int
main (void)
{
  void (*works[]) (void) = { update_total, append_to_heap };
  pthread_t threads[N_THREADS];

  heap_lock = malloc (sizeof *heap_lock);
  if (heap_lock == NULL || pthread_mutex_init (heap_lock, NULL) != 0 ||
      pthread_barrier_init (&starts, NULL, N_THREADS) != 0)
    return 1;
  for (unsigned i = 0; i < N_THREADS; i++)
    if (pthread_create (&threads[i], NULL, work, &works[i % 2]) != 0)
      return 1;
  sleep_msec (900);
  for (unsigned i = 0; i < N_THREADS; i++)
    {
      sleep_msec (50);
      put_into_queue ();
    }
  for (unsigned i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
  free (heap_lock);
  return 0;
}
