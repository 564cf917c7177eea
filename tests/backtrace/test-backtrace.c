// SPDX-License-Identifier: GPL-3.0-or-later

/* Our walk beside glibc's backtrace(), which has another unwinder, at the same place; and
 * beside what recursive functions know of their callers. BACKTRACE_PLUGIN and BACKTRACE_THROWS
 * are libraries to be loaded. */

#include "backtrace/inside.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MOST  512
#define DEPTH 200

/* A separate function for each call, in the order of the source. */
#ifdef __clang__
#  define BESIDE __attribute__ ((noinline, optnone))
#else
#  define BESIDE __attribute__ ((noinline, noclone, optimize ("no-optimize-sibling-calls")))
#endif

static unsigned n_compared;

/* Aborts without a message: it is called where nothing may be allocated. */
static void
check (bool is_right)
{
  if (!is_right)
    abort ();
}

/* The address sanitizer stands between us and glibc, and is on the stack. */
#ifdef __SANITIZE_ADDRESS__
#  define N_BETWEEN 1
#else
#  define N_BETWEEN 0
#endif

/* Both walks from here. They differ in their first address, which is where each of them was
 * called. */
BESIDE static void
compare (void)
{
  uint64_t ours[MOST];
  void *theirs[MOST];
  size_t n = sysprof_backtrace (ours, MOST);
  int n_theirs = backtrace (theirs, MOST);

  check (n > 2 && n + N_BETWEEN == (size_t) n_theirs);
  for (size_t i = 1; i < n; i++)
    check (ours[i] == (uint64_t) (uintptr_t) theirs[i + N_BETWEEN]);
  __atomic_fetch_add (&n_compared, 1, __ATOMIC_RELAXED);
}

static void
assert_compared (unsigned n)
{
  g_assert_cmpuint (n_compared, ==, n);
  n_compared = 0;
}

/* --- calls of all kinds --- */

BESIDE static unsigned
fall (unsigned depth, uint64_t *known, unsigned n)
{
  unsigned char large[64];

  memset (large, (int) depth, sizeof large);
  known[n] = (uint64_t) (uintptr_t) __builtin_return_address (0);
  if (depth > 0)
    return fall (depth - 1, known, n + 1) + large[depth % sizeof large];

  {
    uint64_t ours[MOST];

    check (sysprof_backtrace (ours, MOST) > n + 1);
    for (unsigned i = 0; i <= n; i++)
      check (ours[i + 1] == known[n - i]);
  }
  compare ();
  return 0;
}

static void
test_recursion (void)
{
  uint64_t known[DEPTH + 1];

  (void) fall (DEPTH, known, 0);
  assert_compared (1);
}

BESIDE static void
allocate_and_compare (size_t size)
{
  char *bytes = __builtin_alloca (size);

  memset (bytes, 1, size);
  compare ();
  check (bytes[size - 1] == 1);
}

static void
test_variable_frames (void)
{
  allocate_and_compare (100);
  allocate_and_compare (100000);
  assert_compared (2);
}

static int
compare_and_order (const void *a, const void *b)
{
  compare ();
  return *(const int *) a - *(const int *) b;
}

static void
test_callback_of_libc (void)
{
  int numbers[] = { 3, 1, 2 };

  qsort (numbers, G_N_ELEMENTS (numbers), sizeof numbers[0], compare_and_order);
  g_assert_cmpint (numbers[0], ==, 1);
  g_assert_cmpuint (n_compared, >=, 2);
  n_compared = 0;
}

static void *
compare_in_thread (void *data)
{
  uint64_t known[DEPTH + 1];

  for (unsigned i = 0; i < 100; i++)
    (void) fall (i % DEPTH, known, 0);
  return data;
}

static void
test_threads (void)
{
  pthread_t thread[4];

  for (unsigned i = 0; i < G_N_ELEMENTS (thread); i++)
    g_assert_cmpint (pthread_create (&thread[i], NULL, compare_in_thread, NULL), ==, 0);
  for (unsigned i = 0; i < G_N_ELEMENTS (thread); i++)
    g_assert_cmpint (pthread_join (thread[i], NULL), ==, 0);
  assert_compared (400);
}

/* --- signals --- */

static void
compare_in_handler (int number)
{
  compare ();
}

static void
catch_signal (int flags)
{
  const struct sigaction action = { .sa_handler = compare_in_handler, .sa_flags = flags };

  g_assert_cmpint (sigaction (SIGUSR1, &action, NULL), ==, 0);
}

static void
test_signals (void)
{
  const stack_t before = { .ss_flags = SS_DISABLE };
  stack_t stack = { .ss_size = 1 << 16 };

  catch_signal (0);
  raise (SIGUSR1);

  stack.ss_sp = g_malloc (stack.ss_size);
  g_assert_cmpint (sigaltstack (&stack, NULL), ==, 0);
  catch_signal (SA_ONSTACK);
  raise (SIGUSR1);
  g_assert_cmpint (sigaltstack (&before, NULL), ==, 0);
  g_free (stack.ss_sp);
  assert_compared (2);
}

/* Wherever a thread happens to be: also in the first instruction of a function. */
static volatile sig_atomic_t n_ticks;

static void
compare_at_tick (int number)
{
  compare ();
  n_ticks++;
}

static void
test_interrupted_anywhere (void)
{
  struct sigaction action = { .sa_handler = compare_at_tick, .sa_flags = SA_RESTART };
  struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
  const struct itimerspec every = { { 0, 500000 }, { 0, 500000 } };
  uint64_t known[DEPTH + 1];
  timer_t timer;

  g_assert_cmpint (sigaction (SIGPROF, &action, NULL), ==, 0);
  g_assert_cmpint (timer_create (CLOCK_THREAD_CPUTIME_ID, &event, &timer), ==, 0);
  g_assert_cmpint (timer_settime (timer, 0, &every, NULL), ==, 0);
  while (n_ticks < 50)
    (void) fall (20, known, 0);
  g_assert_cmpint (timer_delete (timer), ==, 0);
  n_compared = 0;
}

/* --- other stacks --- */

static ucontext_t outside, inside;

static void
compare_in_coroutine (void)
{
  uint64_t ours[MOST];

  /* glibc's walk does not end where a context begins; ours is to find the two functions, and to
   * come back. */
  check (sysprof_backtrace (ours, MOST) >= 1);
  n_compared++;
}

static void
test_coroutine (void)
{
  size_t size = 1 << 16;
  void *stack = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  g_assert_true (stack != MAP_FAILED);
  g_assert_cmpint (getcontext (&inside), ==, 0);
  inside.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = size };
  inside.uc_link = &outside;
  makecontext (&inside, compare_in_coroutine, 0);
  g_assert_cmpint (swapcontext (&outside, &inside), ==, 0);
  g_assert_cmpint (munmap (stack, size), ==, 0);
  assert_compared (1);
}

/* A library in C++, which stays. */
static void
test_exceptions (void)
{
  const char *path = g_getenv ("BACKTRACE_THROWS");
  void *library = path != NULL ? dlopen (path, RTLD_NOW) : NULL;
  void (*throw_and_catch) (unsigned depth, void (*func) (void));

  if (path == NULL)
    {
      g_test_skip ("built without a compiler of C++");
      return;
    }
  g_assert_nonnull (library);
  throw_and_catch =
      (void (*) (unsigned, void (*) (void))) dlsym (library, "backtrace_throw_and_catch");
  g_assert_nonnull (throw_and_catch);
  g_assert_true (sysprof_backtrace_update ());
  throw_and_catch (5, compare);
  assert_compared (5 + 1); /* a destructor each, and the handler */
}

/* --- libraries that come and go --- */

typedef void (*Through) (void (*func) (void));

static void
test_loaded_later (void)
{
  uint64_t ours[MOST];

  for (unsigned i = 0; i < 20; i++)
    {
      void *library = dlopen (g_getenv ("BACKTRACE_PLUGIN"), RTLD_NOW);
      Through through;

      g_assert_nonnull (library);
      through = (Through) dlsym (library, "backtrace_plugin_through");
      g_assert_nonnull (through);
      g_assert_true (sysprof_backtrace_update ());
      through (compare);
      g_assert_cmpint (dlclose (library), ==, 0);
    }
  assert_compared (20);
  g_assert_true (sysprof_backtrace_update ());
  g_assert_cmpuint (sysprof_backtrace (ours, MOST), >, 2);
  g_assert_false (sysprof_backtrace_is_outdated ());
}

/* Rules that were found before are kept by the low half of the list. */
static void
test_lists_do_not_come_again (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  uint64_t n_mappings = 0;

  while (n_mappings < 2 * (uint64_t) UNWIND_MOST_MAPPINGS)
    {
      void *library = dlopen (g_getenv ("BACKTRACE_PLUGIN"), RTLD_NOW);
      uint64_t list;

      g_assert_nonnull (library);
      g_assert_true (sysprof_backtrace_update ());
      list = sysprof_backtrace_get_list ();
      n_mappings += PROCESS_LIST_COUNT (list);
      g_assert_cmpuint (PROCESS_LIST_COUNT (list), >, 0);
      g_assert_true (g_hash_table_add (seen, GUINT_TO_POINTER ((uint32_t) list)));
      g_assert_cmpint (dlclose (library), ==, 0);
    }
  g_assert_true (sysprof_backtrace_update ());
  compare ();
  assert_compared (1);
}

static void
walk_from_unknown (void)
{
  uint64_t ours[MOST];

  /* Up to the library, and no further. */
  check (sysprof_backtrace (ours, MOST) == 2);
}

static void
test_tells_that_it_is_outdated (void)
{
  void *library;
  Through through;

  g_assert_true (sysprof_backtrace_update ());
  g_assert_false (sysprof_backtrace_is_outdated ());
  library = dlopen (g_getenv ("BACKTRACE_PLUGIN"), RTLD_NOW);
  g_assert_nonnull (library);
  through = (Through) dlsym (library, "backtrace_plugin_through");
  through (walk_from_unknown);
  g_assert_true (sysprof_backtrace_is_outdated ());
  g_assert_true (sysprof_backtrace_update ());
  g_assert_false (sysprof_backtrace_is_outdated ());
  through (compare);
  g_assert_cmpint (dlclose (library), ==, 0);
  assert_compared (1);
}

/* --- in a child --- */

static void
test_after_fork (void)
{
  pid_t child = fork ();
  int status;

  if (child == 0)
    {
      compare ();
      _exit (n_compared == 1 ? 0 : 1);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
}

static void
test_at_most (void)
{
  uint64_t ours[MOST] = { 0 };

  g_assert_cmpuint (sysprof_backtrace (ours, 0), ==, 0);
  g_assert_cmpuint (sysprof_backtrace (ours, 2), ==, 2);
  g_assert_cmpuint (ours[2], ==, 0);
}

int
main (int argc, char **argv)
{
  void *warm[1];
  uint64_t none[1];

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpuint (sysprof_backtrace (none, 1), ==, 0); /* before the first update */
  g_assert_true (sysprof_backtrace_update ());
  (void) backtrace (warm, 1); /* loads libgcc_s, which allocates */
  g_assert_true (sysprof_backtrace_update ());

  g_test_add_func ("/backtrace/recursion", test_recursion);
  g_test_add_func ("/backtrace/variable-frames", test_variable_frames);
  g_test_add_func ("/backtrace/callback-of-libc", test_callback_of_libc);
  g_test_add_func ("/backtrace/threads", test_threads);
  g_test_add_func ("/backtrace/signals", test_signals);
  g_test_add_func ("/backtrace/interrupted-anywhere", test_interrupted_anywhere);
  g_test_add_func ("/backtrace/coroutine", test_coroutine);
  g_test_add_func ("/backtrace/exceptions", test_exceptions);
  g_test_add_func ("/backtrace/loaded-later", test_loaded_later);
  g_test_add_func ("/backtrace/lists-do-not-come-again", test_lists_do_not_come_again);
  g_test_add_func ("/backtrace/tells-that-it-is-outdated", test_tells_that_it_is_outdated);
  g_test_add_func ("/backtrace/after-fork", test_after_fork);
  g_test_add_func ("/backtrace/at-most", test_at_most);
  return g_test_run ();
}
