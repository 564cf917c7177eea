// SPDX-License-Identifier: GPL-3.0-or-later

/* A program that knows its own stack: compiled without frame pointers, it keeps a list of the
 * functions that are active. Prints "ready" and runs until its standard input ends. */

#include "truth-list.h"

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define N_THREADS 2

#define ID(name, number) ID_##name = number,
enum
{
  TRUTH_FUNCTIONS (ID)
};

static volatile unsigned sink;
static volatile int is_over;
static pthread_barrier_t have_lists;

#define ENTER(name)         TRUTH_ENTER (ID_##name)
#define ENTER_HANDLER(name) TRUTH_ENTER_HANDLER (ID_##name)

KEEP static unsigned
leaf (unsigned x)
{
  ENTER (leaf);
  for (unsigned i = 0; i < 50; i++)
    sink += x * 7 + i;
  LEAVE ();
  return sink;
}

KEEP static unsigned
many_registers (unsigned a, unsigned b, unsigned c, unsigned d)
{
  unsigned i, j, k, l;

  ENTER (many_registers);
  i = leaf (a) ^ b;
  j = leaf (b) ^ c;
  k = leaf (c) ^ d;
  l = leaf (d) ^ a;
  i += leaf (i + j) + leaf (k + l) + a + b + c + d;
  LEAVE ();
  return i;
}

KEEP static unsigned
variable_frame (unsigned n)
{
  char *bytes;
  unsigned result;

  ENTER (variable_frame);
  bytes = alloca (n);
  memset (bytes, (int) n, n);
  result = leaf ((unsigned char) bytes[n / 2]) + many_registers (n, 2, 3, 4);
  LEAVE ();
  return result;
}

KEEP static unsigned
aligned_frame (unsigned n)
{
  _Alignas(64) char bytes[256];
  unsigned result;

  ENTER (aligned_frame);
  memset (bytes, (int) n, sizeof bytes);
  result = variable_frame (n) + (unsigned char) bytes[n % 256];
  LEAVE ();
  return result;
}

KEEP static unsigned
large_frame (unsigned n)
{
  char bytes[200000];
  unsigned result;

  ENTER (large_frame);
  memset (bytes + n, (int) n, 64);
  __asm__ volatile("" : : "r"(bytes) : "memory");
  result = aligned_frame (n) + (unsigned char) bytes[n];
  LEAVE ();
  return result;
}

KEEP static unsigned
recurse (unsigned depth)
{
  unsigned result;

  ENTER (recurse);
  result = depth == 0 ? leaf (1) : recurse (depth - 1) + 1;
  LEAVE ();
  return result;
}

KEEP static unsigned
recurse_deep (unsigned depth)
{
  unsigned result = 0;

  ENTER (recurse_deep);
  if (depth > 0)
    result = recurse_deep (depth - 1) + depth;
  else
    for (unsigned i = 0; i < 1000; i++)
      result += many_registers (i, 2, 3, 4);
  LEAVE ();
  return result;
}

KEEP static int
compare (const void *a, const void *b)
{
  int result;

  ENTER (compare);
  leaf (*(const unsigned *) a);
  result = *(const unsigned *) a < *(const unsigned *) b ? -1 : 1;
  LEAVE ();
  return result;
}

KEEP static unsigned
sort (void)
{
  unsigned numbers[64];
  unsigned result;

  ENTER (sort);
  for (unsigned i = 0; i < 64; i++)
    numbers[i] = i * 2654435761u;
  qsort (numbers, 64, sizeof *numbers, compare);
  result = numbers[3];
  LEAVE ();
  return result;
}

KEEP static unsigned
call_kernel (void)
{
  char bytes[64];
  int fds[2];
  unsigned result = 0;

  ENTER (call_kernel);
  if (pipe (fds) == 0)
    {
      for (unsigned i = 0; i < 20; i++)
        if (write (fds[1], bytes, 1) == 1 && read (fds[0], bytes, sizeof bytes) == 1)
          result += (unsigned) getppid ();
      close (fds[0]);
      close (fds[1]);
    }
  LEAVE ();
  return result;
}

KEEP static unsigned
ask_time (void)
{
  struct timespec now;
  unsigned result = 0;

  ENTER (ask_time);
  for (unsigned i = 0; i < 100; i++)
    {
      clock_gettime (CLOCK_MONOTONIC, &now);
      result += (unsigned) now.tv_nsec;
    }
  LEAVE ();
  return result;
}

KEEP static void
handler (int number)
{
  ENTER_HANDLER (handler);
  many_registers ((unsigned) number, 1, 2, 3);
  LEAVE_HANDLER ();
}

KEEP static unsigned
raise_signal (void)
{
  unsigned result;

  ENTER (raise_signal);
  raise (SIGUSR1);
  result = leaf (3);
  LEAVE ();
  return result;
}

KEEP static unsigned
through_pointer (unsigned (*function) (unsigned))
{
  unsigned result;

  ENTER (through_pointer);
  result = function (12) + 1;
  LEAVE ();
  return result;
}

/* The compiler is not to see that it never returns. */
KEEP static void
jump_from (jmp_buf *back, unsigned depth)
{
  ENTER (jump_from);
  if (depth > 0)
    jump_from (back, depth - 1);
  leaf (depth);
  UNSETTLE ();
  longjmp (*back, 1);
}

KEEP static unsigned
jump_back (void)
{
  jmp_buf back;
  volatile unsigned n;

  ENTER (jump_back);
  n = mine->head.n;
  if (setjmp (back) == 0)
    jump_from (&back, 5);
  mine->head.n = n;
  SETTLE ();
  leaf (n);
  LEAVE ();
  return n;
}

KEEP static unsigned
switch_cases (unsigned n)
{
  unsigned result = 0;

  ENTER (switch_cases);
  for (unsigned i = 0; i < 40; i++)
    switch ((n + i) % 7)
      {
      case 0:
        result += leaf (i);
        break;
      case 1:
        result ^= leaf (n);
        break;
      case 2:
        result += 3;
        break;
      case 3:
        result = result << 1 | leaf (2);
        break;
      case 4:
        result -= i;
        break;
      default:
        result += many_registers (result, i, n, 1);
      }
  LEAVE ();
  return result;
}

KEEP static unsigned
format (unsigned n)
{
  char text[128];
  unsigned result;

  ENTER (format);
  result = (unsigned) snprintf (text, sizeof text, "%u %s %.3f", n, "some text", n / 3.0);
  result += (unsigned) strlen (text) + (unsigned) strtoul (text, NULL, 10);
  LEAVE ();
  return result;
}

/* Functions that the C library has in several versions: a static program calls them through
 * stubs without call-frame information. Built with frame pointers, which skip the caller
 * there. */
KEEP static unsigned
call_chosen (unsigned n)
{
  char *bytes;
  unsigned result = 0;

  ENTER (call_chosen);
  bytes = alloca (n);
  for (unsigned i = 0; i < 500; i++)
    {
      memset (bytes, 'a' + (int) (i & 7), n - 1);
      bytes[n - 1] = 0;
      __asm__ volatile("" : : "r"(bytes) : "memory");
      result += (unsigned) strlen (bytes) + (unsigned) (strchr (bytes, 0) - bytes);
    }
  LEAVE ();
  return result;
}

KEEP static unsigned
fault_in (void)
{
  size_t size = 64 * 4096;
  char *bytes;
  unsigned result = 0;

  ENTER (fault_in);
  bytes = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t i = 0; bytes != MAP_FAILED && i < size; i += 4096)
    result += (unsigned char) (bytes[i] += 1);
  munmap (bytes, size);
  LEAVE ();
  return result;
}

KEEP static void
stack_handler (int number)
{
  ENTER_HANDLER (stack_handler);
  aligned_frame (300);
  LEAVE_HANDLER ();
}

KEEP static unsigned
one_round (unsigned round)
{
  unsigned result;

  ENTER (one_round);
  result = many_registers (round, 1, 2, 3);
  result += large_frame (300 + round % 100);
  result += recurse (60);
  result += sort ();
  result += call_kernel ();
  result += ask_time ();
  result += raise_signal ();
  raise (SIGUSR2);
  for (unsigned i = 0; i < 10; i++)
    result += through_pointer (leaf);
  result += jump_back ();
  result += switch_cases (round);
  result += format (round);
  result += fault_in ();
  result += call_chosen (8 + round % 8);
  if (round % 16 == 0)
    result += recurse_deep (600);
  if (round % 32 == 0)
    result += recurse_deep (5500);
  LEAVE ();
  return result;
}

KEEP static void *
run_thread (void *data)
{
  stack_t other = { .ss_sp = malloc (1 << 16), .ss_size = 1 << 16 };

  begin_list ();
  sigaltstack (&other, NULL);
  pthread_barrier_wait (&have_lists);
  ENTER (run_thread);
  for (unsigned round = 1; !is_over; round++)
    sink += one_round (round);
  LEAVE ();
  return NULL;
}

KEEP int
main (void)
{
  struct sigaction plain = { .sa_handler = handler };
  struct sigaction other = { .sa_handler = stack_handler, .sa_flags = SA_ONSTACK };
  struct itimerval timer = { { 0, 3000 }, { 0, 3000 } };
  pthread_t thread[N_THREADS];
  pthread_attr_t attributes;
  char byte;

  begin_list ();
  ENTER (main);
  pthread_barrier_init (&have_lists, NULL, N_THREADS + 1);
  sigaction (SIGUSR1, &plain, NULL);
  sigaction (SIGPROF, &plain, NULL);
  sigaction (SIGUSR2, &other, NULL);
  pthread_attr_init (&attributes);
  pthread_attr_setstacksize (&attributes, 8 << 20); /* musl gives less */
  for (unsigned i = 0; i < N_THREADS; i++)
    if (pthread_create (&thread[i], &attributes, run_thread, NULL) != 0)
      abort ();
  pthread_barrier_wait (&have_lists);
  setitimer (ITIMER_PROF, &timer, NULL);

  puts ("ready");
  fflush (stdout);
  while (read (0, &byte, 1) != 0)
    continue;
  is_over = 1;
  for (unsigned i = 0; i < N_THREADS; i++)
    pthread_join (thread[i], NULL);
  LEAVE ();
  return 0;
}
