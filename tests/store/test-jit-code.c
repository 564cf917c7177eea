// SPDX-License-Identifier: GPL-3.0-or-later

/* Code that programs recorded in jitdumps: which code is read, for which process, and that the
 * number of CPUs that read a capture makes no difference. */

#include "capture/capture.h"
#include "check-store.h"
#include "use-cpus.h"

#include <sched.h>
#include <sys/mman.h>

#define N_SAMPLES 40000 /* enough for two threads */
#define IN_USER   ((uint64_t) -512)
#define PARENT    10
#define CHILD     11
#define CODE      UINT64_C (0x7f0000001000)
#define CODE_SIZE UINT64_C (0x1000)

static int
make_file (void)
{
  int fd = memfd_create ("jit-code", MFD_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  return fd;
}

/* Over a copy of `fd`. */
static SysprofCaptureWriter *
make_writer (int fd)
{
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (dup (fd), 0);

  g_assert_nonnull (writer);
  return writer;
}

static void
add_file (SysprofCaptureWriter *writer, const char *path, const char *text)
{
  g_assert_true (sysprof_capture_writer_add_file (writer, 1, -1, -1, path, true,
                                                  (const uint8_t *) text, strlen (text)));
}

static void
add_map (SysprofCaptureWriter *writer, int32_t pid)
{
  g_assert_true (sysprof_capture_writer_add_map (writer, 1, -1, pid, CODE, CODE + CODE_SIZE, 0,
                                                 0, "//anon"));
}

/* `caller` 0 = none. */
static void
add_sample (SysprofCaptureWriter *writer,
            int32_t pid,
            int64_t time,
            uint64_t address,
            uint64_t caller)
{
  const SysprofCaptureAddress addresses[] = { IN_USER, address, caller };

  g_assert_true (sysprof_capture_writer_add_sample (writer, time, 0, pid, pid, addresses,
                                                    caller != 0 ? 3 : 2));
}

static Store *
open_written (SysprofCaptureWriter *writer, int fd)
{
  g_autoptr (GError) error = NULL;
  Store *store;

  g_assert_true (sysprof_capture_writer_flush (writer));
  sysprof_capture_writer_unref (writer);
  store = sysprof_store_open_fd (fd, "jit-code", NULL, &error);
  g_assert_no_error (error);
  check_store (store);
  return store;
}

static const char *
name_of (const Store *store, AddressId address)
{
  JitCodeId code = sysprof_address_table_get_code (&store->addresses, address);

  return code != 0 ? sysprof_store_string (store, store->jit_code[code].name) : NULL;
}

static const char *
name_of_leaf (const Store *store, uint32_t sample)
{
  return name_of (store, store->stacks.address[store->samples.stack[sample]]);
}

static void
check_fork (void)
{
  autofd fd = make_file ();
  SysprofCaptureWriter *writer = make_writer (fd);
  g_autoptr (Store) store = NULL;

  add_file (writer, "/proc/10/jit-code", "7f0000001000 100 5 told\n7f0000001100 100 15 late\n");
  add_map (writer, PARENT);
  g_assert_true (sysprof_capture_writer_add_fork (writer, 10, 0, PARENT, CHILD));
  for (uint32_t i = 0; i < N_SAMPLES; i++)
    add_sample (writer, i % 2 == 0 ? PARENT : CHILD, 20 + i, CODE + i % 0x200, 0);
  store = open_written (writer, fd);

  g_assert_cmpuint (store->samples.n, ==, N_SAMPLES);
  for (uint32_t i = 0; i < N_SAMPLES; i++)
    if (i % 0x200 < 0x100)
      g_assert_cmpstr (name_of_leaf (store, i), ==, "told");
    else /* behind the fork */
      g_assert_cmpstr (name_of_leaf (store, i), ==,
                       store->samples.pid[i] == PARENT ? "late" : NULL);
}

static void
test_fork (void)
{
  cpu_set_t allowed;

  g_assert_no_errno (sched_getaffinity (0, sizeof allowed, &allowed));
  use_cpus (&allowed, 1);
  check_fork ();
  if (use_cpus (&allowed, 2) == 2)
    check_fork ();
  else
    g_test_skip ("there is but one CPU");
  g_assert_no_errno (sched_setaffinity (0, sizeof allowed, &allowed));
}

static void
test_names (void)
{
  static const char first[] = "7f0000001000 10 0 first\n",
                    other[] = "7f0000001000 10 0 other\n";
  static const struct
  {
    const char *path[2]; /* "first" is in the one, "other" in the other */
    const char *name;
  } cases[] = {
    { { "/proc/10/jit-code", "x" }, "first" },
    { { "x", "/proc/10/jit-code" }, "other" },
    { { "/proc/10/jit-code", "/proc/010/jit-code" }, "first" },
    { { "/proc/010/jit-code", "/proc/10/jit-codes" }, NULL },
    { { "/proc/10/jit-code.gz", "/proc/10/jit-code" }, "other" },
    { { "/proc/10/jit-code", "/proc/10/jit-code" }, NULL }, /* of several captures */
    { { "/proc/11/jit-code", "/proc/12/jit-code" }, NULL },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      autofd fd = make_file ();
      SysprofCaptureWriter *writer = make_writer (fd);
      g_autoptr (Store) store = NULL;

      add_file (writer, cases[i].path[0], first);
      add_file (writer, cases[i].path[1], other);
      add_map (writer, PARENT);
      add_sample (writer, PARENT, 20, CODE, 0);
      store = open_written (writer, fd);
      g_assert_cmpstr (name_of_leaf (store, 0), ==, cases[i].name);
    }
}

/* A call at the end of one function returns to where the next one begins. */
static void
test_next_function (void)
{
  autofd fd = make_file ();
  SysprofCaptureWriter *writer = make_writer (fd);
  g_autoptr (Store) store = NULL;
  StackId caller;

  add_file (writer, "/proc/10/jit-code", "7f0000001000 10 0 calls\n7f0000001010 10 0 next\n");
  add_map (writer, PARENT);
  add_sample (writer, PARENT, 20, CODE + 0x14, CODE + 0x10);
  add_sample (writer, PARENT, 21, CODE + 0x10, 0);
  store = open_written (writer, fd);
  caller = store->stacks.parent[store->samples.stack[0]];
  g_assert_cmpstr (name_of_leaf (store, 0), ==, "next");
  g_assert_cmpstr (name_of (store, store->stacks.address[caller]), ==, "calls");
  g_assert_cmpstr (name_of_leaf (store, 1), ==, "next");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store/jit-code/fork", test_fork);
  g_test_add_func ("/store/jit-code/names", test_names);
  g_test_add_func ("/store/jit-code/next-function", test_next_function);
  return g_test_run ();
}
