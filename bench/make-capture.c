// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes a capture with the shape of a recording of a busy machine. Equal arguments give equal
 * bytes.
 *
 *     make-capture SAMPLES STACKS PROCESSES FILE [MARKS VALUES]
 *
 * Stacks share their outer parts, as real ones do: each new stack branches off an earlier one
 * and adds seven calls to the tree of all stacks, as in a recording of compilers and
 * interpreters at work. A few stacks are hot and most are rare. Every third enters the kernel.
 * CPUs write in turns of some milliseconds, as rings are drained, so the file is nearly but not
 * quite in order of time. User addresses are inside mappings of this program, so that symbols
 * are found. Marks of 20 names and values of a counter per CPU follow if they are wanted. */

#include <sysprof-capture.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_CPUS          8
#define MOST_DEPTH      64
#define MOST_KERNEL     16
#define FIRST_STACKS    100 /* that share nothing but where their processes begin */
#define MOST_LEFT       12  /* calls of another stack that a new one does not make */
#define MOST_ADDED      9
#define N_FUNCTIONS     4096
#define FIRST_PID       1000
#define START           1000000000000
#define MARKER(context) ((SysprofCaptureAddress) (context))

typedef struct
{
  SysprofCaptureAddress address[MOST_DEPTH + MOST_KERNEL + 2];
  unsigned n;
  unsigned n_user; /* the last ones of `address` */
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

/* One of the addresses in `function` from which it calls others. */
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

/* Any number, but always the same for the same place. */
static unsigned
function_at (SysprofCaptureAddress address)
{
  return (unsigned) (address * 0x9e3779b97f4a7c15 >> 40) % N_FUNCTIONS;
}

/* The user part of `stack`: the outer calls of `from`, if there is one, and calls of its own. */
static void
make_user_part (Stack *stack, const Stack *from, const Mapping *mappings, unsigned n_mappings)
{
  SysprofCaptureAddress user[MOST_DEPTH]; /* outermost first */
  unsigned n = 0, n_added = 1 + (unsigned) draw (MOST_ADDED);
  unsigned function = (unsigned) stack->pid % 20;

  if (from != NULL)
    {
      unsigned left = (unsigned) draw (MOST_LEFT);

      for (; n + left < from->n_user && n + MOST_ADDED < MOST_DEPTH; n++)
        user[n] = from->address[from->n - 1 - n];
      if (n > 0)
        function = callee (function_at (user[n - 1]));
    }
  else
    n_added += 20;

  while (n_added-- > 0)
    {
      user[n++] = call_site (mappings, n_mappings, function);
      function = callee (function + (unsigned) stack->pid % 20);
    }
  stack->n_user = n;
  while (n > 0)
    stack->address[stack->n++] = user[--n];
}

/* The first ones begin processes; others leave one of those before them. */
static void
make_stack (Stack *stacks,
            unsigned number,
            const Mapping *mappings,
            unsigned n_mappings,
            unsigned n_processes)
{
  Stack *stack = &stacks[number];
  const Stack *from = number < FIRST_STACKS ? NULL : &stacks[draw (number)];
  unsigned n_kernel = draw (3) == 0 ? 3 + (unsigned) draw (4) : 0;
  unsigned function = (unsigned) draw (64);

  stack->pid = from != NULL
                   ? from->pid
                   : FIRST_PID + (int) (draw (n_processes) * draw (n_processes) / n_processes);
  stack->n = 0;
  if (n_kernel > 0)
    stack->address[stack->n++] = MARKER (-128);
  for (; n_kernel > 0; n_kernel--)
    {
      stack->address[stack->n++] =
          0xffffffff81000000 + function * 4096 + (draw (4) == 0 ? 9 : 0);
      function = callee (function);
    }
  stack->address[stack->n++] = MARKER (-512);
  make_user_part (stack, from, mappings, n_mappings);
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

static void
write_marks (SysprofCaptureWriter *writer, unsigned n, int64_t duration)
{
  for (unsigned i = 0; i < n; i++)
    {
      int64_t time = START + duration / n * i;
      char name[32], message[64];

      snprintf (name, sizeof name, "step %u", i % 20);
      snprintf (message, sizeof message, "part %u of the work", i);
      sysprof_capture_writer_add_mark (writer, time, (int) (i % N_CPUS),
                                       FIRST_PID + (int) (i % 4), draw (4000000), "worker",
                                       name, message);
    }
}

static void
write_counters (SysprofCaptureWriter *writer, unsigned n, int64_t duration)
{
  SysprofCaptureCounter counters[N_CPUS] = { 0 };
  unsigned ids[N_CPUS], first = sysprof_capture_writer_request_counter (writer, N_CPUS);

  for (unsigned i = 0; i < N_CPUS; i++)
    {
      ids[i] = counters[i].id = (first + i) & 0xffffff;
      counters[i].type = SYSPROF_CAPTURE_COUNTER_DOUBLE;
      snprintf (counters[i].category, sizeof counters[i].category, "CPU Percent");
      snprintf (counters[i].name, sizeof counters[i].name, "Total CPU %u", i);
    }
  sysprof_capture_writer_define_counters (writer, START, -1, -1, counters, N_CPUS);
  for (unsigned i = 0; i < n / N_CPUS; i++)
    {
      SysprofCaptureCounterValue values[N_CPUS];

      for (unsigned cpu = 0; cpu < N_CPUS; cpu++)
        values[cpu].vdbl = (double) (draw (100) * draw (100) / 100);
      sysprof_capture_writer_set_counters (writer, START + duration / (n / N_CPUS) * i, -1, -1,
                                           ids, values, N_CPUS);
    }
}

int
main (int argc, char **argv)
{
  unsigned n_samples, n_stacks, n_processes, n_mappings;
  int64_t duration;
  Mapping mappings[64];
  Stack *stacks;
  SysprofCaptureWriter *writer;

  if ((argc != 5 && argc != 7) || (n_samples = (unsigned) atoi (argv[1])) == 0 ||
      (n_stacks = (unsigned) atoi (argv[2])) == 0 ||
      (n_processes = (unsigned) atoi (argv[3])) == 0)
    {
      fprintf (stderr, "Usage: make-capture SAMPLES STACKS PROCESSES FILE [MARKS VALUES]\n");
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
    make_stack (stacks, i, mappings, n_mappings, n_processes);

  write_processes (writer, mappings, n_mappings, n_processes);
  for (unsigned i = 0; i < n_samples; i++)
    {
      /* Each stack once, so that there are as many as requested; then some more often than
       * others. */
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

  duration = (int64_t) n_samples / N_CPUS * 1000000;
  if (argc == 7)
    {
      write_marks (writer, (unsigned) atoi (argv[5]), duration);
      write_counters (writer, (unsigned) atoi (argv[6]), duration);
    }
  sysprof_capture_writer_flush (writer);
  sysprof_capture_writer_unref (writer);
  free (stacks);
  return 0;
}
