// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes a capture shaped like a recording of a busy machine, the same bytes for the same arguments.
 *
 *   make-capture SAMPLES STACKS PROCESSES FILE
 *
 * Stacks are paths through a tree of calls, so that they share their outer parts as real ones do; a few are
 * hot and most are rare. Every third enters the kernel. CPUs write in turns of some milliseconds, as rings are
 * drained, so that the file is nearly but not quite in order of time. User addresses lie in what this
 * program itself has mapped, so that there are symbols to find. */

#include <sysprof-capture.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_CPUS          8
#define MOST_DEPTH      64
#define N_FUNCTIONS     4096
#define FIRST_PID       1000
#define START           1000000000000
#define MARKER(context) ((SysprofCaptureAddress) (context))

typedef struct
{
  SysprofCaptureAddress address[2 * MOST_DEPTH + 2];
  unsigned n;
  int pid;
} Stack;

typedef struct
{
  uint64_t start, end, offset, inode;
  char path[256];
} Mapping;

static uint64_t state = 88172645463325252;

static uint64_t
draw (uint64_t below)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 11) % below;
}

/* Executable mappings of this program. */
static unsigned
read_mappings (Mapping *mappings, unsigned most)
{
  FILE *maps = fopen ("/proc/self/maps", "re");
  char line[512];
  unsigned n = 0;

  while (maps != NULL && n < most && fgets (line, sizeof line, maps) != NULL)
    {
      Mapping *mapping = &mappings[n];

      if (sscanf (line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64 " %*s %" SCNu64 " %255s",
                  &mapping->start, &mapping->end, &mapping->offset, &mapping->inode,
                  mapping->path) == 5 &&
          mapping->path[0] == '/')
        n++;
    }

  if (maps != NULL)
    fclose (maps);
  return n;
}

/* One of the places in `function` from which it calls others. */
static SysprofCaptureAddress
call_site (const Mapping *mappings, unsigned n_mappings, unsigned function)
{
  const Mapping *mapping = &mappings[function % n_mappings];
  uint64_t start = function * 0x2545f4914f6cdd1d % (mapping->end - mapping->start - 64);

  return mapping->start + start / 16 * 16 + 5 + (draw (4) == 0 ? 9 : 0);
}

/* Each function calls only a few others, and one of them far more often. */
static unsigned
callee (unsigned caller)
{
  uint64_t which = draw (3) == 0 ? draw (4) * draw (4) : 0;

  return (unsigned) ((caller * 0x9e3779b97f4a7c15 >> 40) + which) % N_FUNCTIONS;
}

static void
make_stack (Stack *stack, const Mapping *mappings, unsigned n_mappings, unsigned n_processes)
{
  SysprofCaptureAddress user[MOST_DEPTH], kernel[MOST_DEPTH];
  unsigned n_user = 4 + (unsigned) draw (10) + (unsigned) draw (24), n_kernel = 0;
  unsigned function = 0;

  stack->pid = FIRST_PID + (int) (draw (n_processes) * draw (n_processes) / n_processes);
  for (unsigned i = 0; i < n_user; i++)
    {
      user[i] = call_site (mappings, n_mappings, function);
      function = callee (function + (unsigned) stack->pid % 20);
    }
  if (draw (3) == 0)
    n_kernel = 3 + (unsigned) draw (12);
  for (unsigned i = 0; i < n_kernel; i++)
    {
      kernel[i] = 0xffffffff81000000 + function * 4096 + (draw (4) == 0 ? 9 : 0);
      function = callee (function);
    }

  stack->n = 0;
  if (n_kernel > 0)
    stack->address[stack->n++] = MARKER (-128);
  while (n_kernel > 0)
    stack->address[stack->n++] = kernel[--n_kernel];
  stack->address[stack->n++] = MARKER (-512);
  while (n_user > 0)
    stack->address[stack->n++] = user[--n_user];
}

static void
write_processes (SysprofCaptureWriter *writer,
                 const Mapping *mappings,
                 unsigned n_mappings,
                 unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    {
      int pid = FIRST_PID + (int) i;
      char text[64];

      snprintf (text, sizeof text, "/usr/bin/worker-%u --number %u --quiet", i % 20, i);
      sysprof_capture_writer_add_process (writer, START - 1000, -1, pid, text);
      for (unsigned m = 0; m < n_mappings; m++)
        sysprof_capture_writer_add_map (writer, START - 1000, -1, pid, mappings[m].start,
                                        mappings[m].end, mappings[m].offset, mappings[m].inode,
                                        mappings[m].path);
    }
}

int
main (int argc, char **argv)
{
  unsigned n_samples, n_stacks, n_processes, n_mappings;
  Mapping mappings[64];
  Stack *stacks;
  SysprofCaptureWriter *writer;

  if (argc != 5 || (n_samples = (unsigned) atoi (argv[1])) == 0 ||
      (n_stacks = (unsigned) atoi (argv[2])) == 0 ||
      (n_processes = (unsigned) atoi (argv[3])) == 0)
    {
      fprintf (stderr, "Usage: make-capture SAMPLES STACKS PROCESSES FILE\n");
      return 2;
    }

  n_mappings = read_mappings (mappings, 64);
  stacks = calloc (n_stacks, sizeof *stacks);
  writer = sysprof_capture_writer_new (argv[4], 0);
  if (n_mappings == 0 || stacks == NULL || writer == NULL)
    {
      perror (argv[4]);
      return 1;
    }

  for (unsigned i = 0; i < n_stacks; i++)
    make_stack (&stacks[i], mappings, n_mappings, n_processes);

  write_processes (writer, mappings, n_mappings, n_processes);
  for (unsigned i = 0; i < n_samples; i++)
    {
      /* Each stack once, so that there are as many as asked for; then some more often than others. */
      unsigned which =
          i < n_stacks ? i : (unsigned) (draw (n_stacks) * draw (n_stacks) / n_stacks);
      const Stack *stack = &stacks[which];
      int cpu = (int) (i / 64 % N_CPUS);
      int64_t time =
          START + ((int64_t) (i / (64 * N_CPUS)) * 64 + i % 64) * 1000000 + cpu * 1000;

      if (!sysprof_capture_writer_add_sample (writer, time, cpu, stack->pid, stack->pid,
                                              stack->address, stack->n))
        {
          perror (argv[4]);
          return 1;
        }
    }

  sysprof_capture_writer_flush (writer);
  sysprof_capture_writer_unref (writer);
  free (stacks);
  return 0;
}
