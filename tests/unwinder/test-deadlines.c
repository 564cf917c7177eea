// SPDX-License-Identifier: GPL-3.0-or-later

/* Workers that never reply: each gets time in proportion to the size of its file and is
 * killed then. Its file has no table, and the reason is recorded. */

#include "tests/unwinder/builders.h"
#include "unwinder/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MB           (1 << 20)
#define STORED       (25 * MB)
#define PATIENCE     2500 /* ms, for so much */
#define MOST_SECONDS 120  /* of a child that is forgotten */

#define PID        4194303 /* which is not there */
#define CODE_START 0x400000
#define CODE_SIZE  0x10000

/* Descriptors of the next children. */
static atomic_bool are_to_stall;
static atomic_int *n_begun; /* of these; shared with them */
static atomic_int *stalled; /* pid of the first */

/* The first one hangs; later ones end at once, so that the test does not wait for them. */
static void
stall (void)
{
  if (!atomic_load (&are_to_stall))
    return;
  if (atomic_fetch_add (n_begun, 1) > 0)
    _exit (0);

  atomic_store (stalled, getpid ());
  (void) alarm (MOST_SECONDS);
  for (;;)
    (void) pause ();
}

typedef struct
{
  UnwindIndex *index;
  Privilege *privilege;
  UnwindPublisher *publisher;
  CodeFiles *files;
  CodeProcesses *processes;
  int wake_fd;
} Fixture;

static void
set_up (Fixture *self)
{
  self->index = g_new0 (UnwindIndex, 1);
  self->privilege = sysprof_privilege_new ();
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->publisher = sysprof_unwind_publisher_new (self->index, NULL, NULL);
  self->files =
      sysprof_code_files_new (self->publisher, self->privilege, NULL, self->wake_fd, NULL);
  self->processes =
      sysprof_code_processes_new (self->publisher, self->files, self->privilege, NULL);
}

static void
tear_down (Fixture *self)
{
  sysprof_code_processes_free (self->processes);
  sysprof_code_files_free (self->files);
  sysprof_unwind_publisher_free (self->publisher);
  sysprof_privilege_unref (self->privilege);
  (void) close (self->wake_fd);
  g_free (self->index);
}

static void
map (Fixture *self, int fd)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/fd/%d", getpid (), fd);
  struct stat info;

  g_assert_cmpint (fstat (fd, &info), ==, 0);
  sysprof_code_processes_apply (self->processes, &(TaskEvent){
                                                     .kind = TASK_MAPPED,
                                                     .pid = PID,
                                                     .time = 1,
                                                     .start = CODE_START,
                                                     .end = CODE_START + CODE_SIZE,
                                                     .inode = info.st_ino,
                                                     .device_major = major (info.st_dev),
                                                     .device_minor = minor (info.st_dev),
                                                     .path = path,
                                                 });
}

static void
wait_for_tables (Fixture *self)
{
  while (sysprof_code_files_get_status (self->files).n_waiting > 0)
    (void) sysprof_code_processes_publish (self->processes,
                                           collect_when_told (self->files, self->wake_fd),
                                           g_get_monotonic_time ());
}

/* How a walk ends that begins in that code, with nothing on its stack. */
static WalkReason
walk (Fixture *self)
{
  const uint8_t bytes[64] = { 0 };
  const UnwindStack stack = { 0x7000, bytes, sizeof bytes };
  const UnwindStart start = {
    .ip = CODE_START + 0x100, .sp = 0x7000, .is_exact = true, .is_arm64 = UNWIND_IS_ARM64
  };
  uint64_t addresses[8];

  return sysprof_unwind_walk (sysprof_unwind_publisher_get_memory (self->publisher), PID,
                              &start, &stack, addresses, G_N_ELEMENTS (addresses))
      .reason;
}

static void
test_killed_and_told (void)
{
  autofd fd = memfd_create ("stored", MFD_CLOEXEC);
  autofd other = memfd_create ("other", MFD_CLOEXEC);
  Fixture self;
  CodeFilesStatus status;
  int64_t begin;

  if (!can_find_builders ())
    {
      g_test_skip ("the kernel does not list children");
      return;
    }
  g_assert_cmpint (posix_fallocate (fd, 0, STORED), ==, 0);
  set_up (&self);
  atomic_store (&are_to_stall, true);
  kill_builders (); /* their successors stall */

  /* A file whose worker has died gets another worker, and a second one after that has timed
   * out. */
  begin = g_get_monotonic_time ();
  map (&self, fd);
  wait_for_tables (&self);
  g_assert_cmpint ((g_get_monotonic_time () - begin) / 1000, >=, PATIENCE);
  g_assert_cmpint (atomic_load (n_begun), ==, 2);
  g_assert_cmpint (kill (atomic_load (stalled), 0), !=, 0);
  g_assert_cmpint (errno, ==, ESRCH);

  status = sysprof_code_files_get_status (self.files);
  g_assert_cmpuint (status.n_failed, ==, 1);
  g_assert_cmpuint (status.n_without, ==, 1);
  g_assert_cmpuint (status.n_tables, ==, 0);
  g_assert_cmpint (walk (&self), ==, WALK_TABLE_FAILED);

  /* The next one has a worker that lives; in an empty file is nothing to make a table of, which is no failure. */
  atomic_store (&are_to_stall, false);
  map (&self, other);
  wait_for_tables (&self);
  status = sysprof_code_files_get_status (self.files);
  g_assert_cmpuint (status.n_failed, ==, 1);
  g_assert_cmpuint (status.n_without, ==, 2);
  g_assert_cmpint (walk (&self), ==, WALK_BAD_FP);
  tear_down (&self);
}

static void
test_time_by_size (void)
{
  const struct
  {
    off_t size;
    off_t stored;
    int64_t patience;
  } rows[] = {
    { 0, 0, 2000 },
    { MB - 1, MB, 2000 },
    { STORED, STORED, PATIENCE },
    { (off_t) 1 << 50, 4096, 2000 }, /* holes */
    { 4096, STORED, 2000 },          /* what was set aside for it is not read */
    { 900 * MB, 900 * MB, 20000 },   /* as long as it takes at most */
    { INT64_MAX, INT64_MAX / 512, 20000 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const struct stat info = { .st_size = rows[i].size, .st_blocks = rows[i].stored / 512 };

      g_assert_cmpint (sysprof_unwind_worker_patience (&info), ==, rows[i].patience);
    }
}

int
main (int argc, char **argv)
{
  atomic_int *shared = mmap (NULL, 2 * sizeof *shared, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

  g_assert_true (shared != MAP_FAILED);
  n_begun = &shared[0];
  stalled = &shared[1];
  g_assert_cmpint (pthread_atfork (NULL, NULL, stall), ==, 0);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/unwinder/deadlines/time-by-size", test_time_by_size);
  g_test_add_func ("/unwinder/deadlines/killed-and-told", test_killed_and_told);
  return g_test_run ();
}
