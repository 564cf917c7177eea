// SPDX-License-Identifier: GPL-3.0-or-later

/* That the kernel this runs on accepts the program; says which kernel, and how much its
 * verifier looked at. */

#include "bpf/bpf.h"

#include <errno.h>
#include <glib.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Of 1,000,000 that the verifier follows. A kernel that prunes less than ours must have room,
 * too. */
#define MOST_INSTRUCTIONS 50000

/* FALSE where it cannot be tried: the test is skipped then. */
static bool
load_or_skip (WalkProgram *program, const WalkProgramOptions *options)
{
  if (sysprof_walk_program_make_maps (program) && sysprof_walk_program_load (program, options))
    return true;

  if (errno == ENOSYS || errno == EPERM)
    {
      g_test_skip (errno == ENOSYS ? "built without BPF" : "not permitted: run as root");
      return false;
    }
  g_test_message ("%s", options != NULL && options->log != NULL ? options->log : "");
  g_error ("The kernel refuses the program: %s", g_strerror (errno));
}

static void
test_is_accepted (void)
{
  static char log[1 << 16];
  WalkProgram program;
  WalkProgramOptions options = { .log = log, .log_size = sizeof log };
  struct utsname kernel;
  const char *processed;
  int64_t began = g_get_monotonic_time ();

  if (!load_or_skip (&program, &options))
    return;

  g_assert_cmpint (uname (&kernel), ==, 0);
  g_test_message ("accepted by %s %s %s, in %.1f ms with its maps: %s", kernel.sysname,
                  kernel.release, kernel.machine,
                  (double) (g_get_monotonic_time () - began) / 1000, log);
  processed = strstr (log, "processed ");
  g_assert_nonnull (processed);
  g_assert_cmpint (atoi (processed + strlen ("processed ")), <, MOST_INSTRUCTIONS);
  sysprof_walk_program_clear (&program);
}

static void
test_tables_can_be_written (void)
{
  WalkProgram program;
  UnwindIndex *index;
  uint8_t *slab;
  int fd;

  if (!load_or_skip (&program, NULL))
    return;

  index = mmap (NULL, sizeof *index, PROT_READ | PROT_WRITE, MAP_SHARED, program.index_fd, 0);
  g_assert_true (index != MAP_FAILED);
  index->page[UNWIND_MOST_PAGES - 1] = 1;

  fd = sysprof_walk_program_add_slab (&program, UNWIND_MOST_SLABS - 1);
  g_assert_cmpint (fd, >=, 0);
  slab = mmap (NULL, UNWIND_SLAB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  g_assert_true (slab != MAP_FAILED);
  slab[UNWIND_SLAB_SIZE - 1] = 1;

  g_assert_cmpint (sysprof_walk_program_add_slab (&program, UNWIND_MOST_SLABS), ==, -1);
  g_assert_cmpint (munmap (slab, UNWIND_SLAB_SIZE), ==, 0);
  g_assert_cmpint (munmap (index, sizeof *index), ==, 0);
  close (fd);
  sysprof_walk_program_clear (&program);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bpf/loader/is-accepted", test_is_accepted);
  g_test_add_func ("/bpf/loader/tables-can-be-written", test_tables_can_be_written);
  return g_test_run ();
}
