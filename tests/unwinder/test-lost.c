// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel had no room for a mapping record: a process has another file at an address with a
 * known table, and the recorder does not know it. Its stacks may be truncated, but none may be
 * reported as complete by the earlier table. */

#include "tests/unwind/make-elf.h"
#include "unwinder/unwinder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CODE \
  UINT64_C (0x550000000000) /* where the file is that changes; sanitizers leave this free */
#define ELSEWHERE (CODE + (1 << 24))
#define PAGE      4096
#define MOST      20000 /* mappings, each told with 100 bytes and more; there is room for 64 KiB */
#define HOUR      INT64_C (3600000000000) /* ns */

/* One function that does not return: with it a stack is complete. */
static const uint8_t frames[] = {
  0x14, 0, 0, 0,    0,    0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, /* absolute addresses */
  0x0c, 7, 8, 0x07, 16,   0, 0, /* CFA = RSP + 8, no return address */
  0x1c, 0, 0, 0,    0x1c, 0, 0, 0, 0, 0,   1,   0, 0, 0,    0,  0, /* TEXT */
  0,    0, 4, 0,    0,    0, 0, 0, 0, 0,   0,   0, 0, 0,    0,  0, /* TEXT_SIZE */
  0,    0, 0, 0,
};

typedef struct
{
  char *folder;
  size_t text; /* where the code is, in a file */
  size_t size; /* of one with rules */
  int told;    /* files: with rules, and without */
  int untold;
  pid_t pid;
  int to_child;
  int from_child;
  Unwinder *unwinder;
  PerfDecoder decoder;
  ProcessLog log;
} Fixture;

static int
make_file (Fixture *self, const char *name, const void *bytes, size_t size)
{
  g_autofree char *path = g_build_filename (self->folder, name, NULL);

  g_assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
  return g_open (path, O_RDONLY | O_CLOEXEC, 0);
}

static void
make_files (Fixture *self)
{
  size_t size;
  uint8_t *bytes = make_elf (NULL, frames, sizeof frames, 0, EM_X86_64, &self->size);

  self->text = self->size - TEXT_SIZE;
  self->folder = g_dir_make_tmp ("lost-XXXXXX", NULL);
  self->told = make_file (self, "with-rules", bytes, self->size);
  free (bytes);
  bytes = make_elf (NULL, NULL, 0, 0, EM_X86_64, &size);
  self->untold = make_file (self, "without", bytes, size);
  free (bytes);
  g_assert_cmpint (self->told, >=, 0);
  g_assert_cmpint (self->untold, >=, 0);
}

/* --- the process --- */

static void
map (int fd, uint64_t at, size_t size)
{
  if (mmap ((void *) (uintptr_t) at, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
            0) == MAP_FAILED)
    _exit (1);
}

/* On one CPU, whose ring fills. */
_Noreturn static void
run_child (const Fixture *self, int commands, int answers)
{
  cpu_set_t cpus;
  char command = 0;

  (void) prctl (PR_SET_PDEATHSIG, SIGKILL);
  CPU_ZERO (&cpus);
  CPU_SET (sched_getcpu (), &cpus);
  (void) sched_setaffinity (0, sizeof cpus, &cpus);
  map (self->told, CODE, self->size);
  while (write (answers, &command, 1) == 1 && read (commands, &command, 1) == 1)
    {
      for (unsigned i = 0; command == 'o' && i < MOST; i++)
        map (self->told, ELSEWHERE, PAGE);
      map (command == 'o' ? self->untold : self->told, command == 'o' ? CODE : ELSEWHERE,
           command == 'o' ? self->size : PAGE);
    }
  _exit (0);
}

static void
wait_for_child (Fixture *self)
{
  char answer;

  g_assert_cmpint (read (self->from_child, &answer, 1), ==, 1);
}

static void
command (Fixture *self, char what)
{
  g_assert_cmpint (write (self->to_child, &what, 1), ==, 1);
  wait_for_child (self);
}

static void
start_child (Fixture *self)
{
  int commands[2], answers[2];

  g_assert_cmpint (pipe2 (commands, O_CLOEXEC), ==, 0);
  g_assert_cmpint (pipe2 (answers, O_CLOEXEC), ==, 0);
  self->pid = fork ();
  if (self->pid == 0)
    run_child (self, commands[0], answers[1]);
  g_assert_cmpint (self->pid, >, 0);
  (void) close (commands[0]);
  (void) close (answers[1]);
  self->to_child = commands[1];
  self->from_child = answers[0];
  wait_for_child (self);
}

/* --- the unwinder's thread, kept from reading --- */

static sem_t is_kept, may_go_on;

static void
keep (int number)
{
  int saved = errno;

  (void) sem_post (&is_kept);
  while (sem_wait (&may_go_on) != 0)
    continue;
  errno = saved;
}

static void
keep_unwinder (void)
{
  g_autoptr (GDir) tasks = g_dir_open ("/proc/self/task", 0, NULL);
  const char *tid;
  bool is_found = false;

  while (!is_found && (tid = g_dir_read_name (tasks)) != NULL)
    {
      g_autofree char *path = g_build_filename ("/proc/self/task", tid, "comm", NULL);
      g_autofree char *name = NULL;

      is_found = g_file_get_contents (path, &name, NULL, NULL) &&
                 strcmp (name, "sysprof-unwind\n") == 0;
      if (is_found)
        g_assert_cmpint (syscall (SYS_tgkill, getpid (), atoi (tid), SIGUSR1), ==, 0);
    }
  g_assert_true (is_found);
  while (sem_wait (&is_kept) != 0)
    continue;
}

/* --- samples --- */

static void
take_sample (Fixture *self, int64_t time)
{
  static const uint8_t stack[64];
  const WalkRest rest = { .ip = CODE + self->text + 0x100,
                          .sp = 0x7000,
                          .flags = WALK_REST_IS_EXACT | WALK_REST_HAS_REGISTERS,
                          .size = sizeof stack };
  const WalkedSample sample = { .pid = self->pid,
                                .tid = self->pid,
                                .time = time,
                                .user = &rest.ip,
                                .n_user = 1,
                                .reason = WALK_OVERLOAD,
                                .rest = &rest,
                                .stack = stack };

  g_assert_true (sysprof_unwinder_take_pending (&sample, self->unwinder));
}

static uint64_t
n_written (Fixture *self)
{
  uint64_t n = 0;

  sysprof_unwinder_write_finished (self->unwinder, &self->decoder);
  for (unsigned i = 0; i < WALK_REASONS; i++)
    n += self->decoder.n_walks[i];
  return n;
}

static void
wait_for_samples (Fixture *self, uint64_t n)
{
  while (n_written (self) < n)
    (void) sched_yield ();
}

static int64_t
now_nsec (void)
{
  return g_get_monotonic_time () * 1000;
}

static void
test_nothing_is_whole_by_what_was_there_before (void)
{
  autofd fd = memfd_create ("lost", MFD_CLOEXEC);
  Privilege *privilege = sysprof_privilege_new ();
  g_autoptr (GError) error = NULL;
  Fixture self = { 0 };
  UnwinderStatus status;

  make_files (&self);
  start_child (&self);
  self.decoder = (PerfDecoder){
    .writer = sysprof_capture_writer_new_from_fd (fcntl (fd, F_DUPFD_CLOEXEC, 3), 0),
    .log = &self.log,
    .has_chains = true,
    .has_copies = true,
  };
  self.unwinder = sysprof_unwinder_new_for_copies (privilege, &error);
  g_assert_no_error (error);
  if (!sysprof_unwinder_start_for_tasks (self.unwinder, &self.pid, 1, &self.pid, 1, &error))
    {
      g_test_skip (error->message);
      goto end;
    }

  sysprof_unwinder_wait_until_ready (self.unwinder, -1);
  take_sample (&self, now_nsec ());
  wait_for_samples (&self, 1);
  g_assert_cmpuint (self.decoder.n_walks[WALK_END], ==, 1);

  /* The mappings at the time of the first sample are unknown; a later sample is unwound with
   * the current mappings. */
  keep_unwinder ();
  command (&self, 'o');
  take_sample (&self, now_nsec ());
  take_sample (&self, now_nsec () + HOUR);
  (void) sem_post (&may_go_on);
  wait_for_samples (&self, 3);
  g_assert_cmpuint (self.decoder.n_walks[WALK_END], ==, 1);
  g_assert_cmpuint (self.decoder.n_walks[WALK_NO_PROCESS], ==, 1);
  g_assert_cmpuint (self.decoder.n_walks[WALK_BAD_FP], ==, 1);

  /* With the next record that finds room the kernel says how many had none. */
  command (&self, 'n');
  sysprof_unwinder_stop (self.unwinder, &status);
  g_assert_cmpuint (status.n_lost, >, 0);
  g_assert_cmpuint (status.n_lost, <=, MOST + 1);

end:
  sysprof_unwinder_free (self.unwinder);
  sysprof_privilege_unref (privilege);
  sysprof_capture_writer_unref (self.decoder.writer);
  sysprof_process_log_clear (&self.log);
  (void) close (self.to_child);
  (void) close (self.from_child);
  (void) kill (self.pid, SIGKILL);
  g_assert_cmpint (waitpid (self.pid, NULL, 0), ==, self.pid);
  (void) close (self.told);
  (void) close (self.untold);
  for (unsigned i = 0; i < 2; i++)
    {
      g_autofree char *path =
          g_build_filename (self.folder, i == 0 ? "with-rules" : "without", NULL);

      (void) g_unlink (path);
    }
  (void) g_rmdir (self.folder);
  g_free (self.folder);
}

int
main (int argc, char **argv)
{
  const struct sigaction action = { .sa_handler = keep };

  (void) sem_init (&is_kept, 0, 0);
  (void) sem_init (&may_go_on, 0, 0);
  g_assert_cmpint (sigaction (SIGUSR1, &action, NULL), ==, 0);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/unwinder/lost/nothing-is-whole",
                   test_nothing_is_whole_by_what_was_there_before);
  return g_test_run ();
}
