// SPDX-License-Identifier: GPL-3.0-or-later

/* Generates code, writes its name to a file, and runs it: `generated-code HOW SECONDS`.
 *
 *     map       in a perf map
 *     dump      in a jitdump; after half of the time it replaces the code at the same address
 *     link      in a perf map that is a symbolic link
 *     pipe      the perf map is a pipe
 *     stranger  in a perf map that belongs to another user (as root)
 *
 * Prints its process ID, and when the code was replaced (ns, CLOCK_MONOTONIC; 0 = never). */

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE 65536

/* Counts its argument down. */
#if defined(__x86_64__)
#  define MACHINE EM_X86_64
static const uint8_t spin[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#elif defined(__aarch64__)
#  define MACHINE EM_AARCH64
static const uint32_t spin[] = { 0xd1000400, 0xb5ffffe0, 0xd65f03c0 };
#else
#  define MACHINE EM_NONE
static const uint8_t spin[1];
#endif

static int64_t
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

static void
fail (const char *what)
{
  perror (what);
  exit (1);
}

static void
make_code (void *at)
{
  if (mprotect (at, PAGE, PROT_READ | PROT_WRITE) != 0)
    fail ("mprotect");
  memcpy (at, spin, sizeof spin);
  __builtin___clear_cache (at, (char *) at + sizeof spin);
  if (mprotect (at, PAGE, PROT_READ | PROT_EXEC) != 0)
    fail ("mprotect");
}

static void
run_until (void *code, int64_t end)
{
  void (*spin_for) (uint64_t) = (void (*) (uint64_t)) (uintptr_t) code;

  while (now () < end)
    spin_for (1000000);
}

static FILE *
open_map (const char *how)
{
  char path[64], target[80];
  FILE *file;

  (void) snprintf (path, sizeof path, "/tmp/perf-%d.map", getpid ());
  (void) snprintf (target, sizeof target, "%s.target", path);
  if (strcmp (how, "pipe") == 0)
    {
      if (mkfifo (path, 0600) != 0)
        fail (path);
      return NULL;
    }
  if (strcmp (how, "link") == 0 && symlink (target, path) != 0)
    fail (path);
  file = fopen (path, "w");
  if (file == NULL ||
      (strcmp (how, "stranger") == 0 && fchown (fileno (file), 12345, 12345) != 0))
    fail (path);
  return file;
}

static FILE *
open_dump (void)
{
  struct
  {
    uint32_t magic, version, size, machine, padding, pid;
    uint64_t time, flags;
  } header = { 0x4a695444, 1, 40, MACHINE, 0, (uint32_t) getpid (), (uint64_t) now (), 0 };
  char path[64];
  FILE *file;

  (void) snprintf (path, sizeof path, "jit-%d.dump", getpid ());
  file = fopen (path, "w+");
  if (file == NULL || fwrite (&header, sizeof header, 1, file) != 1 || fflush (file) != 0)
    fail (path);
  /* The mark by which it is found. */
  if (mmap (NULL, (size_t) sysconf (_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE,
            fileno (file), 0) == MAP_FAILED)
    fail (path);
  return file;
}

static void
dump_code (FILE *file, const void *code, uint64_t index, const char *name)
{
  struct
  {
    uint32_t kind, size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t address, code, code_size, index;
  } load = { 0,
             (uint32_t) (sizeof load + strlen (name) + 1 + sizeof spin),
             (uint64_t) now (),
             (uint32_t) getpid (),
             (uint32_t) getpid (),
             (uintptr_t) code,
             (uintptr_t) code,
             sizeof spin,
             index };

  if (fwrite (&load, sizeof load, 1, file) != 1 ||
      fwrite (name, strlen (name) + 1, 1, file) != 1 ||
      fwrite (code, sizeof spin, 1, file) != 1 || fflush (file) != 0)
    fail (name);
}

int
main (int argc, char **argv)
{
  int64_t half = argc > 2 ? (int64_t) (atof (argv[2]) * 5e8) : 0;
  int64_t replaced = 0;
  FILE *file = NULL;
  char *code;

  if (argc != 3 || sizeof spin == 1)
    return 77;

  code = mmap (NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED)
    fail ("mmap");
  if (strcmp (argv[1], "dump") == 0)
    {
      file = open_dump ();
      make_code (code);
      dump_code (file, code, 1, "first_code");
      run_until (code, now () + half);
      replaced = now ();
      make_code (code);
      dump_code (file, code, 2, "second_code");
      run_until (code, now () + half);
    }
  else
    {
      file = open_map (argv[1]);
      make_code (code);
      if (file != NULL)
        fprintf (file, "%lx %zx generated_code of a program\n",
                 (unsigned long) (uintptr_t) code, sizeof spin);
      if (file != NULL && fflush (file) != 0)
        fail ("write");
      run_until (code, now () + 2 * half);
    }

  printf ("%d %lld\n", getpid (), (long long) replaced);
  return 0;
}
