// SPDX-License-Identifier: GPL-3.0-or-later

/* The walker in the kernel among tables, mappings and lists that are written over while it
 * reads them, and stacks that lead nowhere: each of its records is whole and says why it ends,
 * and everybody lives. */

#include "truth-compare.h"

#include "perf/events/event.h"
#include "perf/session.h"
#include "util/util.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENOUGH_SAMPLES 4000
#define MOST_SECONDS   30
#define FREQUENCY      4000
#define N_PAGES        64 /* of the directory, that mappings refer to */
#define N_THREADS      4  /* of the program */
#define MOST_LISTED    64 /* mappings */

typedef struct
{
  uint64_t n_samples;
  uint64_t n_reasons[WALK_REASONS];
} Seen;

/* Layout: perf_event_open(2), PERF_RECORD_SAMPLE with PERF_DECODE_SAMPLE_TYPE and
 * PERF_SAMPLE_RAW. */
static void
check_record (const struct perf_event_header *record, void *data)
{
  const uint64_t *words = (const uint64_t *) (const void *) (record + 1);
  const uint8_t *end = (const uint8_t *) record + record->size;
  Seen *seen = data;
  const uint8_t *raw;
  uint32_t size;
  WalkRecord head;

  if (record->type != PERF_RECORD_SAMPLE)
    return;

  raw = (const uint8_t *) &words[4 + words[3]];
  g_assert_true (raw + sizeof size <= end);
  memcpy (&size, raw, sizeof size);
  raw += sizeof size;
  g_assert_cmpuint (size, <=, (size_t) (end - raw));
  g_assert_cmpuint (size, >=, WALK_RECORD_SIZE (0));
  memcpy (&head, raw, WALK_RECORD_SIZE (0));
  g_assert_cmpuint (head.reason, >, WALK_RUNNING);
  g_assert_cmpuint (head.reason, <, WALK_REASONS);
  g_assert_cmpuint (head.n, <=, WALK_MOST_ADDRESSES);
  g_assert_cmpuint (WALK_RECORD_SIZE (head.n), <=, size);
  if ((head.used & WALK_HAS_REST) != 0)
    {
      WalkRest rest;

      g_assert_cmpuint (size, >=, WALK_RECORD_SIZE (head.n) + sizeof rest);
      memcpy (&rest, raw + WALK_RECORD_SIZE (head.n), sizeof rest);
      g_assert_cmpuint (rest.size, <=, WALK_REST_SIZE);
      g_assert_cmpuint (WALK_RECORD_SIZE (head.n) + sizeof rest + rest.size, <=, size);
    }
  seen->n_samples++;
  seen->n_reasons[head.reason]++;
}

/* --- tables that lie --- */

typedef struct
{
  UnwindIndex *index;
  uint8_t *slab;
  UnwindProcess *process;
  UnwindMapping mapping[MOST_LISTED]; /* as they are */
  UnwindFileSlot file[MOST_LISTED];   /* what is mapped there */
  unsigned n;
  bool by_lists;
  GRand *random;
} Liar;

static void
read_mappings (Liar *self, pid_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/maps", pid);
  g_autofree char *maps = NULL;

  g_assert_true (g_file_get_contents (path, &maps, NULL, NULL));
  for (char *line = maps; line != NULL && *line != '\0' && self->n < MOST_LISTED;)
    {
      char *rest;
      uint64_t start = g_ascii_strtoull (line, &rest, 16);
      uint64_t end = g_ascii_strtoull (rest + 1, &rest, 16);

      if (rest[3] == 'x' && end >> 63 == 0)
        {
          unsigned major = 0, minor = 0;
          uint64_t inode = 0;

          g_assert_cmpint (
              sscanf (rest + 5, "%*x %x:%x %" G_GUINT64_FORMAT, &major, &minor, &inode), ==, 3);
          self->file[self->n] = (UnwindFileSlot){
            .inode = inode != 0 ? inode : FILE_VDSO_INODE,
            .size = FILE_ANY_SIZE,
            .device = inode != 0 ? UNWIND_DEVICE (major, minor) : FILE_VDSO_DEVICE,
            .list = PROCESS_LIST (self->n, 1),
          };
          self->mapping[self->n++] =
              self->by_lists ? (UnwindMapping){ start, end, start, 0, N_PAGES }
                             : (UnwindMapping){ 0, UINT64_C (1) << 40, 0, 0, N_PAGES };
        }
      line = strchr (line, '\n');
      line = line != NULL ? line + 1 : NULL;
    }
  g_assert_cmpuint (self->n, >, 0);
}

static uint32_t
any (Liar *self)
{
  return g_rand_int (self->random);
}

/* A block whose rows and rules are plausible enough to be followed, at a random place. */
static void
write_block (Liar *self)
{
  uint32_t offset = any (self) % (UNWIND_SLAB_SIZE / 2) & ~3u;
  uint8_t *block = self->slab + offset;
  uint32_t *rules = (uint32_t *) (void *) (block + UNWIND_RULES_OFFSET);
  uint16_t *words = (uint16_t *) (void *) block;
  uint32_t n_rules = 1 + any (self) % UNWIND_MOST_RULES, n_rows = 1 + any (self) % 4096;

  for (unsigned i = 0; i <= UNWIND_BLOCKS; i++)
    words[i] =
        any (self) % 4 == 0 ? (uint16_t) any (self) : (uint16_t) (n_rows * i / UNWIND_BLOCKS);
  words[UNWIND_BLOCKS + 1] = (uint16_t) n_rules;
  for (unsigned i = 0; i < n_rules; i++)
    rules[i] = RULE_MAKE (any (self) % 16, any (self) % 64 * 8, any (self) % 32);
  for (unsigned i = 0; i < n_rows; i++)
    ((uint16_t *) (void *) (rules + n_rules))[i] = (uint16_t) any (self);
  self->index->page[any (self) % N_PAGES] = UNWIND_PAGE_MAKE (0, offset);
}

static UnwindFileSlot *
file_slot (Liar *self, unsigned i)
{
  const UnwindFileSlot *file = &self->file[i];

  return &self->index->file[sysprof_unwind_file_slot (file->inode, file->device)];
}

static void
lie (Liar *self)
{
  uint32_t i = any (self) % self->n;
  UnwindMapping *mapping = &self->index->mapping[i];

  /* Some walks end immediately, for reasons that rarely occur. */
  switch (any (self) % 1024 == 0 ? any (self) % 4 : 4 + any (self) % 4)
    {
    case 0:
      self->process->list = (uint64_t) any (self) << 32 | any (self);
      file_slot (self, i)->list = self->process->list;
      break;
    case 1:
      mapping->start = (uint64_t) any (self) << 32 | any (self);
      mapping->end = (uint64_t) any (self) << 32 | any (self);
      break;
    case 2:
      mapping->first_page = any (self);
      mapping->n_pages = any (self);
      break;
    case 3:
      mapping->origin = (uint64_t) any (self) << 32 | any (self);
      break;
    case 4:
      self->index->page[any (self) % N_PAGES] = any (self);
      break;
    case 5:
      self->slab[any (self) % UNWIND_SLAB_SIZE] = (uint8_t) any (self);
      break;
    default:
      write_block (self);
    }
}

/* Back to mappings that lead to tables, that are never the same. */
static void
tell_mappings (Liar *self, pid_t pid)
{
  memcpy (self->index->mapping, self->mapping, self->n * sizeof *self->mapping);
  for (unsigned i = 0; i < self->n && !self->by_lists; i++)
    *file_slot (self, i) = self->file[i];
  self->process->generation = 1;
  self->process->list = PROCESS_LIST (0, self->n);
  self->process->pid = (uint32_t) pid;
}

/* --- the test --- */

static void *
map (int fd, size_t size)
{
  void *bytes = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

  g_assert_true (bytes != MAP_FAILED);
  return bytes;
}

static void
run_among_lies (const char *workload, bool by_lists)
{
  const WalkProgramOptions walk = { .by_lists = by_lists };
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GArray) tasks = NULL;
  g_autoptr (GError) error = NULL;
  Privilege *privilege = sysprof_privilege_new ();
  WalkProgram program = WALK_PROGRAM_INIT;
  Seen seen = { 0 };
  Liar liar = { .by_lists = by_lists };
  PerfSessionOptions options = {
    .target = PERF_TARGET_TASKS,
    .cgroup_fd = -1,
    .samples = true,
    .frequency = FREQUENCY,
    .walker = &program,
    .func = check_record,
    .func_data = &seen,
  };
  PerfSession *session;
  autofd slab_fd = -1;
  unsigned n_kinds = 0;
  pid_t pid;

  if (!sysprof_walk_program_make_maps (&program) ||
      !sysprof_walk_program_load (&program, &walk))
    {
      skip_or_fail ();
      sysprof_walk_program_clear (&program);
      sysprof_privilege_unref (privilege);
      return;
    }

  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE, &error, workload, NULL);
  g_assert_no_error (error);
  pid = atoi (g_subprocess_get_identifier (process));
  for (tasks = list_threads (pid); tasks->len < N_THREADS; tasks = list_threads (pid))
    {
      (void) poll (NULL, 0, 1);
      g_clear_pointer (&tasks, g_array_unref);
    }

  slab_fd = sysprof_walk_program_add_slab (&program, 0);
  g_assert_cmpint (slab_fd, >=, 0);
  liar.index = map (program.index_fd, sizeof *liar.index);
  liar.slab = map (slab_fd, UNWIND_SLAB_SIZE);
  liar.process = &liar.index->process[sysprof_unwind_slot ((uint32_t) pid)];
  liar.random = g_rand_new_with_seed (1);
  read_mappings (&liar, pid);

  options.tasks = (const pid_t *) (void *) tasks->data;
  options.n_tasks = tasks->len;
  sysprof_perf_event_init_cpu_clock (&options.event);
  session = sysprof_perf_session_open (&options, privilege, &error);
  g_assert_no_error (error);
  sysprof_perf_session_enable (session);

  for (int64_t end = g_get_monotonic_time () + MOST_SECONDS * G_TIME_SPAN_SECOND;
       g_get_monotonic_time () < end && seen.n_samples < ENOUGH_SAMPLES;)
    {
      tell_mappings (&liar, pid);
      for (unsigned i = 0; i < 500; i++)
        lie (&liar);
      if (any (&liar) % 2 == 0) /* else what walks remember is of tables that are gone */
        liar.index->version++;
      sysprof_perf_session_drain (session);
      (void) poll (NULL, 0, 1); /* that others run, too */
    }

  sysprof_perf_session_disable (session);
  sysprof_perf_session_close (session);
  g_assert_true (g_output_stream_close (g_subprocess_get_stdin_pipe (process), NULL, NULL));
  g_assert_true (g_subprocess_wait_check (process, NULL, &error));
  g_assert_no_error (error);

  for (unsigned i = 0; i < WALK_REASONS; i++)
    if (seen.n_reasons[i] > 0)
      {
        g_test_message ("%s: %" G_GUINT64_FORMAT, sysprof_walk_reason_to_string (i),
                        seen.n_reasons[i]);
        n_kinds++;
      }
  g_assert_cmpuint (seen.n_samples, >=, ENOUGH_SAMPLES / 4);
  g_assert_cmpuint (n_kinds, >=, 6); /* the lies were believed and followed */

  g_rand_free (liar.random);
  g_assert_cmpint (munmap (liar.index, sizeof *liar.index), ==, 0);
  g_assert_cmpint (munmap (liar.slab, UNWIND_SLAB_SIZE), ==, 0);
  sysprof_walk_program_clear (&program);
  sysprof_privilege_unref (privilege);
}

/* Reasons about files: the kernel itself is queried for the mapped file. */
static void
test_nobody_is_hurt (const void *data)
{
  run_among_lies (data, !sysprof_walk_program_asks_kernel ());
}

static void
test_nobody_is_hurt_by_lists (const void *data)
{
  run_among_lies (data, true);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 2);
  g_test_add_data_func ("/bpf/hostile/kernel-survives", argv[1], test_nobody_is_hurt);
  g_test_add_data_func ("/bpf/hostile/kernel-survives-lists", argv[1],
                        test_nobody_is_hurt_by_lists);
  return g_test_run ();
}
