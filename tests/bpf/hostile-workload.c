// SPDX-License-Identifier: GPL-3.0-or-later

/* A program whose stacks and mappings are not what a walker expects: frames that point at each
 * other or at themselves, stacks that end at memory that is not there, code that is mapped,
 * executed and unmapped again and again. Runs until its standard input ends. For x86-64. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS   200000 /* of an empty loop: some tenths of a millisecond */
#define N_FRAMES 512

static atomic_bool stops;

/* Loops with another stack pointer and frame pointer than the compiler knows of. */
static void
spin_on (void *stack, void *frame)
{
  uint64_t rounds = ROUNDS;

  __asm__ volatile("mov %%rsp, %%r12\n\t"
                   "mov %%rbp, %%r13\n\t"
                   "mov %1, %%rsp\n\t"
                   "mov %2, %%rbp\n"
                   "1:\tdec %0\n\t"
                   "jnz 1b\n\t"
                   "mov %%r12, %%rsp\n\t"
                   "mov %%r13, %%rbp"
                   : "+a"(rounds)
                   : "d"(stack), "c"(frame)
                   : "r12", "r13", "memory", "cc");
}

/* Words that are frame pointers and return addresses at once: most lead to others, some to
 * code. */
static void *
point_at_each_other (void *data)
{
  static uint64_t words[2 * N_FRAMES];
  unsigned seed = (unsigned) (uintptr_t) data;

  while (!atomic_load (&stops))
    {
      for (unsigned i = 0; i < 2 * N_FRAMES; i += 2)
        {
          words[i] = (uint64_t) &words[2 * ((unsigned) rand_r (&seed) % N_FRAMES)];
          words[i + 1] = rand_r (&seed) % 2 == 0 ? (uint64_t) spin_on + 16 : words[i];
        }
      words[0] = (uint64_t) words;
      spin_on (words, words);
      spin_on (words + N_FRAMES, &words[2 * ((unsigned) rand_r (&seed) % N_FRAMES)]);
    }
  return NULL;
}

static void *
end_in_nothing (void *data)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  uint8_t *bytes =
      mmap (NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  (void) data;
  if (bytes == MAP_FAILED || munmap (bytes + page, page) != 0)
    exit (1);
  memset (bytes, 0, page);
  while (!atomic_load (&stops))
    {
      spin_on (bytes + page - 8, bytes + page - 16);
      spin_on (bytes + page, (void *) UINT64_C (0x7fffffffffff));
      spin_on ((void *) -8, (void *) -16);
      spin_on (NULL, (void *) 1);
    }
  return NULL;
}

/* mov $ROUNDS, %eax; 1: dec %eax; jnz 1b; ret */
static const uint8_t code[] = { 0xb8, 0x40, 0x0d, 0x03, 0x00, 0xff, 0xc8, 0x75, 0xfc, 0xc3 };

static void *
remap (void *data)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  uint8_t *where = NULL;

  (void) data;
  while (!atomic_load (&stops))
    {
      uint8_t *bytes = mmap (where, 4 * page, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      uint8_t *moved;

      if (bytes == MAP_FAILED)
        exit (1);
      memcpy (bytes + page, code, sizeof code);
      ((void (*) (void)) (void *) (bytes + page)) ();
      moved = mremap (bytes, 4 * page, 8 * page, MREMAP_MAYMOVE);
      if (moved == MAP_FAILED)
        exit (1);
      ((void (*) (void)) (void *) (moved + page)) ();
      (void) munmap (moved, 8 * page);
      where = moved + 16 * page;
    }
  return NULL;
}

int
main (void)
{
  pthread_t threads[3];
  char byte;

  if (pthread_create (&threads[0], NULL, point_at_each_other, (void *) 1) != 0 ||
      pthread_create (&threads[1], NULL, end_in_nothing, NULL) != 0 ||
      pthread_create (&threads[2], NULL, remap, NULL) != 0)
    return 1;

  while (read (STDIN_FILENO, &byte, 1) > 0)
    ;
  atomic_store (&stops, true);
  for (unsigned i = 0; i < 3; i++)
    pthread_join (threads[i], NULL);
  return 0;
}
