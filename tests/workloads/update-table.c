// SPDX-License-Identifier: GPL-3.0-or-later

/* Four threads update one table under one mutex. Most of their time, three of them wait in
 * update_table for the fourth. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define N_THREADS 4
#define N_UPDATES 2000 /* of each thread */
#define N_ROUNDS  6
#define N_ROWS    50000

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t table[N_ROWS];

__attribute__ ((noinline)) static void
update_table (uint64_t key)
{
  pthread_mutex_lock (&table_lock);
  for (int round = 0; round < N_ROUNDS; round++)
    for (size_t i = 0; i < N_ROWS; i++)
      table[i] = (table[i] ^ key) * 0x9e3779b97f4a7c15u;
  pthread_mutex_unlock (&table_lock);
}

static void *
run_thread (void *first_key)
{
  for (uint64_t i = 0; i < N_UPDATES; i++)
    update_table (*(uint64_t *) first_key + i);
  return NULL;
}

int
main (void)
{
  pthread_t threads[N_THREADS];
  uint64_t keys[N_THREADS];

  for (uint64_t i = 0; i < N_THREADS; i++)
    {
      keys[i] = i * N_UPDATES;
      pthread_create (&threads[i], NULL, run_thread, &keys[i]);
    }
  for (int i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
  printf ("%llx\n", (unsigned long long) table[0]);
  return 0;
}
