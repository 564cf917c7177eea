// SPDX-License-Identifier: GPL-3.0-or-later

/* Restrictions of the child that parses ELF files, tried from inside; its crash must affect
 * one file only. */

#include "inspect/elf-sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef TEST_PROGRAM
#  error "TEST_PROGRAM: an ELF file with symbols"
#endif

typedef void (*StepFunc) (void);

static void
step_nowhere (void)
{
  char *memory = malloc (8 << 20);

  if (memory == NULL)
    _exit (3);
  memset (memory, 1, 8 << 20);
  free (memory);
}

static void
step_open (void)
{
  (void) open ("/etc/passwd", O_RDONLY);
}

/* With flags that make it look like fstat(). */
static void
step_stat (void)
{
  struct stat info;

  (void) syscall (SYS_newfstatat, AT_FDCWD, "/etc/passwd", &info, 0x1000 /* AT_EMPTY_PATH */);
}

static void
step_socket (void)
{
  (void) socket (AF_INET, SOCK_STREAM, 0);
}

static void
step_exec (void)
{
  (void) execl ("/bin/true", "true", NULL);
}

static void
step_fork (void)
{
  (void) fork ();
}

static void
step_kill (void)
{
  (void) kill (getppid (), 0);
}

static void
step_trace (void)
{
  (void) syscall (SYS_ptrace, 16, getppid (), 0, 0);
}

static void
step_map_code (void)
{
  (void) mmap (NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void
step_map_file (void)
{
  (void) mmap (NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0);
}

static void
step_become_root (void)
{
  (void) setuid (0);
}

static void
step_perf (void)
{
  (void) syscall (SYS_perf_event_open, NULL, 0, -1, -1, 0);
}

static const struct
{
  const char *name;
  StepFunc step;
  bool is_allowed;
} steps[] = {
  { "memory", step_nowhere, true },     { "open", step_open, false },
  { "socket", step_socket, false },     { "exec", step_exec, false },
  { "fork", step_fork, false },         { "kill", step_kill, false },
  { "ptrace", step_trace, false },      { "map-code", step_map_code, false },
  { "map-file", step_map_file, false }, { "become-root", step_become_root, false },
  { "perf-event", step_perf, false },   { "stat", step_stat, false },
};

static void
test_step (const void *data)
{
  size_t step = GPOINTER_TO_SIZE (data);
  pid_t child = fork ();
  int status;

  if (child == 0)
    {
      if (!sysprof_confine ())
        _exit (2);
      steps[step].step ();
      _exit (0);
    }

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  if (steps[step].is_allowed)
    {
      g_assert_true (WIFEXITED (status));
      g_assert_cmpint (WEXITSTATUS (status), ==, 0);
    }
  else
    {
      g_assert_true (WIFSIGNALED (status));
      g_assert_cmpint (WTERMSIG (status), ==, SIGSYS);
    }
}

static uint64_t
offset_of_main (int fd)
{
  uint64_t offset = 0;
  ElfImage *image;
  ElfSymbols *symbols;

  /* Finds main by looking up every offset. */
  g_assert_cmpint (sysprof_elf_image_open (fd, &image), ==, ELF_OK);
  g_assert_cmpint (sysprof_elf_symbols_load (image, &symbols), ==, ELF_OK);
  for (uint64_t at = 0; at < 1 << 20 && offset == 0; at++)
    {
      uint64_t address;
      ElfSymbol symbol;

      if (sysprof_elf_image_address_of_offset (image, at, &address) == ELF_OK &&
          sysprof_elf_symbols_find (symbols, address, &symbol) &&
          strcmp (symbol.name, "main") == 0)
        offset = at;
    }
  sysprof_elf_symbols_free (symbols);
  sysprof_elf_image_free (image);
  g_assert_cmpuint (offset, !=, 0);
  return offset;
}

static ElfStatus
open_in (ElfSandbox *sandbox, int fd, ElfFacts *facts)
{
  autofd envelope = sysprof_envelope_seal (fd);
  struct stat info;

  g_assert_cmpint (envelope, >=, 0);
  g_assert_cmpint (fstat (fd, &info), ==, 0);
  return sysprof_elf_sandbox_open (sandbox, envelope, &info, false, facts);
}

static void
assert_names_main (ElfSandbox *sandbox, int fd, uint64_t offset)
{
  ElfFacts facts;
  ElfAnswers answers;

  g_assert_cmpint (open_in (sandbox, fd, &facts), ==, ELF_OK);
  g_assert_cmpuint (facts.build_id_size, ==, 20);
  g_assert_cmpint (sysprof_elf_sandbox_resolve (
                       sandbox, &(ElfQuery){ .offsets = &offset, .n = 1 }, &answers),
                   ==, ELF_OK);
  g_assert_cmpstr (answers.text + answers.symbol[0].name, ==, "main");
  sysprof_elf_answers_clear (&answers);
}

static void
test_death_costs_one_file (void)
{
  ElfSandbox sandbox = ELF_SANDBOX_INIT;
  int fd = open (TEST_PROGRAM, O_RDONLY | O_CLOEXEC);
  uint64_t offset = offset_of_main (fd);
  ElfAnswers answers;
  ElfFacts facts;
  pid_t first;

  assert_names_main (&sandbox, fd, offset);
  first = sandbox.pid;
  assert_names_main (&sandbox, fd, offset);
  g_assert_cmpint (sandbox.pid, ==, first);

  g_assert_cmpint (kill (first, SIGKILL), ==, 0);
  g_assert_cmpint (sysprof_elf_sandbox_resolve (
                       &sandbox, &(ElfQuery){ .offsets = &offset, .n = 1 }, &answers),
                   ==, ELF_GIVEN_UP);
  g_assert_cmpint (sandbox.pid, ==, 0);
  g_assert_cmpint (sysprof_elf_sandbox_resolve (
                       &sandbox, &(ElfQuery){ .offsets = &offset, .n = 1 }, &answers),
                   ==, ELF_GIVEN_UP);
  g_assert_cmpint (
      sysprof_elf_sandbox_resolve (&sandbox, &(ElfQuery){ .kind = ELF_CODE }, &answers), ==,
      ELF_GIVEN_UP);

  assert_names_main (&sandbox, fd, offset);
  g_assert_cmpint (sandbox.pid, !=, first);

  /* A pipe is no file: the child reports this and continues. */
  {
    int ends[2];

    g_assert_cmpint (pipe (ends), ==, 0);
    g_assert_cmpint (open_in (&sandbox, ends[0], &facts), ==, ELF_NOT_ELF);
    close (ends[0]);
    close (ends[1]);
  }
  assert_names_main (&sandbox, fd, offset);

  sysprof_confined_child_end (&sandbox);
  close (fd);
}

/* The child does not inherit the parent's descriptors: it has only the socket, and
 * descriptors that are passed over it. */
static void
test_child_has_no_descriptors (void)
{
  ElfSandbox sandbox = ELF_SANDBOX_INIT;
  int fd = open (TEST_PROGRAM, O_RDONLY | O_CLOEXEC);
  g_autofree char *path = NULL;
  g_autoptr (GDir) dir = NULL;
  unsigned n = 0;

  assert_names_main (&sandbox, fd, offset_of_main (fd));
  path = g_strdup_printf ("/proc/%d/fd", (int) sandbox.pid);
  dir = g_dir_open (path, 0, NULL);
  if (dir == NULL)
    {
      g_test_skip ("only root may look at a process that is not dumpable");
    }
  else
    {
      while (g_dir_read_name (dir) != NULL)
        n++;
      g_assert_cmpuint (n, ==, 2);
    }

  sysprof_confined_child_end (&sandbox);
  close (fd);
}

static void
test_child_is_nobody (void)
{
  ElfSandbox sandbox = ELF_SANDBOX_INIT;
  int fd = open (TEST_PROGRAM, O_RDONLY | O_CLOEXEC);
  g_autofree char *path = NULL;
  g_autofree char *status = NULL;

  if (geteuid () != 0)
    {
      g_test_skip ("needs root");
      close (fd);
      return;
    }

  assert_names_main (&sandbox, fd, offset_of_main (fd));
  path = g_strdup_printf ("/proc/%d/status", (int) sandbox.pid);
  g_assert_true (g_file_get_contents (path, &status, NULL, NULL));
  g_assert_nonnull (strstr (status, "\nUid:\t65534\t65534\t65534\t65534\n"));
  g_assert_nonnull (strstr (status, "\nGid:\t65534\t65534\t65534\t65534\n"));
  g_assert_nonnull (strstr (status, "\nGroups:\t \n"));
  g_assert_nonnull (strstr (status, "\nCapEff:\t0000000000000000\n"));
  g_assert_nonnull (strstr (status, "\nCapPrm:\t0000000000000000\n"));
  g_assert_nonnull (strstr (status, "\nNoNewPrivs:\t1\n"));
  g_assert_nonnull (strstr (status, "\nSeccomp:\t2\n"));

  sysprof_confined_child_end (&sandbox);
  close (fd);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autofree char *path = g_strconcat ("/sandbox/step/", steps[i].name, NULL);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_step);
    }
  g_test_add_func ("/sandbox/death-costs-one-file", test_death_costs_one_file);
  g_test_add_func ("/sandbox/child-has-no-descriptors", test_child_has_no_descriptors);
  g_test_add_func ("/sandbox/child-is-nobody", test_child_is_nobody);
  return g_test_run ();
}
