// SPDX-License-Identifier: GPL-3.0-or-later

/* Code with every kind of frame that compilers and the C library make, to be stopped anywhere
 * in it: compiled without frame pointers. */

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#if __has_attribute(noclone)
#  define KEEP __attribute__ ((noinline, noclone))
#else
#  define KEEP __attribute__ ((noinline))
#endif

static volatile unsigned sink;
static jmp_buf back;

KEEP static unsigned
leaf (unsigned x)
{
  return sink += x * 7 + 1;
}

KEEP static unsigned
many_registers (unsigned a,
                unsigned b,
                unsigned c,
                unsigned d,
                unsigned e,
                unsigned f,
                unsigned g,
                unsigned h)
{
  unsigned i = leaf (a) ^ b, j = leaf (b) ^ c, k = leaf (c) ^ d, l = leaf (d) ^ e,
           m = leaf (e) ^ f;

  return leaf (i + j) + leaf (k + l) + m + g + h;
}

KEEP static unsigned
variable_frame (unsigned n)
{
  char *bytes = alloca (n);

  memset (bytes, (int) n, n);
  return leaf ((unsigned char) bytes[n / 2]) + many_registers (n, 2, 3, 4, 5, 6, 7, 8);
}

KEEP static unsigned
aligned_frame (unsigned n)
{
  _Alignas(64) char bytes[256];

  memset (bytes, (int) n, sizeof bytes);
  return variable_frame (n) + (unsigned char) bytes[n % 256];
}

KEEP static unsigned
aligned_and_variable (unsigned n)
{
  _Alignas(32) char bytes[64];
  char *more = alloca (n + 16);

  memset (more, 1, n);
  memset (bytes, 2, sizeof bytes);
  return aligned_frame (n) + (unsigned char) bytes[n % 64] + (unsigned char) more[0];
}

KEEP static unsigned
large_frame (unsigned n)
{
  volatile char bytes[300000];

  bytes[n] = 1;
  bytes[200000 + n] = 2;
  return aligned_and_variable (n) + (unsigned char) bytes[n];
}

KEEP static unsigned
recurse (unsigned depth)
{
  if (depth == 0)
    return large_frame (40);
  return recurse (depth - 1) + leaf (depth);
}

KEEP static unsigned
tail (unsigned n)
{
  return recurse (n % 20);
}

static int
compare (const void *a, const void *b)
{
  unsigned x = *(const unsigned *) a, y = *(const unsigned *) b;

  leaf (x);
  return x < y ? -1 : x > y;
}

KEEP static void
sort (void)
{
  unsigned numbers[12] = { 9, 1, 8, 2, 7, 3, 6, 4, 5, 0, 11, 10 };

  qsort (numbers, 12, sizeof numbers[0], compare);
}

static void
on_signal (int number)
{
  (void) number;
  leaf (1);
  tail (3);
}

static void
on_jump (int number)
{
  (void) number;
  longjmp (back, 1);
}

KEEP static void
jumped (void)
{
  leaf (2);
}

KEEP static void
signals (void)
{
  signal (SIGUSR1, on_signal);
  raise (SIGUSR1);
  signal (SIGUSR2, on_jump);
  if (setjmp (back) == 0)
    raise (SIGUSR2);
  jumped ();
}

static ucontext_t main_context, other_context;

static void
other_stack (void)
{
  tail (2);
  swapcontext (&other_context, &main_context);
}

KEEP static void
contexts (void)
{
  static char stack[512 * 1024];

  getcontext (&other_context);
  other_context.uc_stack.ss_sp = stack;
  other_context.uc_stack.ss_size = sizeof stack;
  other_context.uc_link = &main_context;
  makecontext (&other_context, other_stack, 0);
  swapcontext (&main_context, &other_context);
}

KEEP static void
library_calls (void)
{
  char text[64];
  void *libm = dlopen ("libm.so.6", RTLD_LAZY);
  double (*cosine) (double) = NULL;

  if (libm != NULL)
    *(void **) &cosine = dlsym (libm, "cos");
  snprintf (text, sizeof text, "%f %s", cosine != NULL ? cosine (1.0) : 0.0, "text");
  sink += (unsigned) strtoul (text, NULL, 10) + (unsigned) getppid ();
  free (strdup (text));
}

int
main (void)
{
  tail (5);
  sort ();
  signals ();
  contexts ();
  library_calls ();
  return 0;
}
