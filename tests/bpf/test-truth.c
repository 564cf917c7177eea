// SPDX-License-Identifier: GPL-3.0-or-later

/* Stacks that the walker finds in a program compiled without frame pointers, compared with the list that the program itself
 * keeps of its active functions and that this build of the walker copies in the same moment.
 *
 * A function is active a little before it is on its list and a little behind: one more at the inner end is right. Two
 * where a signal came in such a moment: the handler and the function that it came upon. */

#include "truth.h"

#include "elf/elf.h"
#include "record/perf/event.h"
#include "record/perf/session.h"
#include "record/unwinder/unwinder.h"
#include "util/util.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <poll.h>

#define ENOUGH_SAMPLES 8000
#define MOST_SECONDS   60
#define FREQUENCY      4000
#define MOST_ADDRESS   (8 << 20) /* of a function in the file */
#define MOST_FUNCTIONS 6000      /* listed ones on one stack */

typedef struct
{
  uint64_t start;
  uint64_t end;
  unsigned id;
} Function;

typedef struct
{
  Function function[TRUTH_FUNCTIONS_END]; /* addresses of the running process */
  unsigned n_functions;
  uint64_t n_samples;
  uint64_t n_unsettled;
  uint64_t n_whole;
  uint64_t n_unequal;
  uint64_t n_deep; /* more than 5000 functions */
  uint64_t n_reasons[WALK_REASONS];
} Comparison;

/* --- where the functions are --- */

static const char *const names[TRUTH_FUNCTIONS_END] = {
#define NAME(name, number) [number] = #name,
  TRUTH_FUNCTIONS (NAME)
};

static uint64_t
find_bias (pid_t pid, const char *program, ElfImage *image)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/maps", pid);
  g_autofree char *maps = NULL;
  uint64_t start, address;
  char *line;

  /* Its first mapping is of the file's first bytes. */
  g_assert_true (g_file_get_contents (path, &maps, NULL, NULL));
  line = strstr (maps, program);
  g_assert_nonnull (line);
  while (line > maps && line[-1] != '\n')
    line--;
  start = g_ascii_strtoull (line, NULL, 16);
  g_assert_cmpint (sysprof_elf_image_address_of_offset (image, 0, &address), ==, ELF_OK);
  return start - address;
}

static void
find_functions (Comparison *self, const char *program, pid_t pid)
{
  autofd fd = open (program, O_RDONLY | O_CLOEXEC);
  ElfImage *image;
  ElfSymbols *symbols;
  uint64_t bias;
  ElfSymbol symbol;

  g_assert_cmpint (sysprof_elf_image_open (fd, &image), ==, ELF_OK);
  g_assert_cmpint (sysprof_elf_symbols_load (image, &symbols), ==, ELF_OK);
  bias = find_bias (pid, program, image);
  for (uint64_t at = 0; at < MOST_ADDRESS; at++)
    {
      if (!sysprof_elf_symbols_find (symbols, at, &symbol) || symbol.start != at)
        continue;
      for (unsigned id = 1; id < TRUTH_FUNCTIONS_END; id++)
        if (g_str_equal (symbol.name, names[id]))
          self->function[self->n_functions++] =
              (Function){ symbol.start + bias, symbol.end + bias, id };
    }
  g_assert_cmpuint (self->n_functions, ==, TRUTH_FUNCTIONS_END - 1);
  sysprof_elf_symbols_free (symbols);
  sysprof_elf_image_free (image);
}

static unsigned
id_at (const Comparison *self, uint64_t address)
{
  for (unsigned i = 0; i < self->n_functions; i++)
    if (address >= self->function[i].start && address < self->function[i].end)
      return self->function[i].id;
  return 0;
}

/* --- one sample --- */

typedef struct
{
  WalkReason reason;
  unsigned n;
  const uint64_t *address; /* [n] */
  TruthCopy truth;
} TruthSample;

/* Layout: perf_event_open(2), PERF_RECORD_SAMPLE with PERF_DECODE_SAMPLE_TYPE and PERF_SAMPLE_RAW. */
static bool
parse_sample (TruthSample *self, const struct perf_event_header *record)
{
  const uint64_t *words = (const uint64_t *) (const void *) (record + 1);
  uint64_t n_kernel = words[3];
  const uint8_t *raw = (const uint8_t *) &words[4 + n_kernel] + sizeof (uint32_t);

  if (record->type != PERF_RECORD_SAMPLE)
    return false;

  self->reason = raw[0];
  self->n = raw[2] | raw[3] << 8;
  self->address = (const uint64_t *) (const void *) (raw + 4);
  memcpy (&self->truth, self->address + self->n, sizeof self->truth);
  return self->n > 0;
}

/* The listed functions of the walk, outermost first. */
static unsigned
list_walked (const Comparison *self, const TruthSample *sample, unsigned short *ids)
{
  unsigned n = 0;

  for (unsigned i = sample->n; i > 0; i--)
    {
      uint64_t address = sample->address[i - 1];
      unsigned id = id_at (self, i == 1 ? address : address - 1);

      /* Where a signal came in, the address is that of the instruction itself. */
      if (id == 0)
        id = id_at (self, address);
      if (id != 0 && n < MOST_FUNCTIONS)
        ids[n++] = (unsigned short) id;
    }
  return n;
}

static bool
has_handler (const unsigned short *ids, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    if (g_str_equal (names[ids[i]], "handler") || g_str_equal (names[ids[i]], "on_other_stack"))
      return true;
  return false;
}

/* Takes out the functions that a signal came upon before they were on the list, or when they were off again. */
static bool
is_equal (const unsigned short *walked, unsigned n_walked, const TruthCopy *truth)
{
  unsigned n = truth->head.n, first = n > TRUTH_COPIED ? n - TRUTH_COPIED : 0;
  unsigned extra = has_handler (walked, n_walked) ? 2 : 1;
  unsigned at = first;

  if (n_walked < n || n_walked > n + extra)
    return false;

  for (unsigned i = first; i < n_walked; i++)
    if (at < n && walked[i] == truth->id[at - first])
      at++;
    else if (i - at >= extra)
      return false;
  return at == n;
}

static void
tell (const TruthSample *sample, const unsigned short *walked, unsigned n_walked)
{
  g_autoptr (GString) text = g_string_new ("walked");
  unsigned n = sample->truth.head.n, first = n > TRUTH_COPIED ? n - TRUTH_COPIED : 0;

  if (first > 0)
    g_string_append (text, " …");
  for (unsigned i = first; i < n_walked; i++)
    g_string_append_printf (text, " %s", names[walked[i]]);
  g_string_append (text, "; truth");
  for (unsigned i = first; i < n; i++)
    g_string_append_printf (text, " %s",
                            names[sample->truth.id[i - first] % TRUTH_FUNCTIONS_END]);
  g_test_message ("%s (%u and %u)", text->str, n_walked, n);
}

static void
compare_sample (const struct perf_event_header *record, void *data)
{
  static unsigned short walked[MOST_FUNCTIONS];
  Comparison *self = data;
  TruthSample sample;
  unsigned n_walked;

  if (!parse_sample (&sample, record))
    return;

  self->n_samples++;
  self->n_reasons[sample.reason]++;
  if (sample.truth.head.is_unsettled || sample.truth.head.n == 0)
    {
      self->n_unsettled++;
      return;
    }
  if (!sysprof_walk_reason_is_whole (sample.reason))
    return;

  self->n_whole++;
  self->n_deep += sample.truth.head.n > 5000;
  n_walked = list_walked (self, &sample, walked);
  if (!is_equal (walked, n_walked, &sample.truth) && self->n_unequal++ < 10)
    tell (&sample, walked, n_walked);
}

/* --- the test --- */

static GSubprocess *
start_program (const char *program)
{
  g_autoptr (GError) error = NULL;
  GSubprocess *process = g_subprocess_new (
      G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, program, NULL);
  char answer[6];

  g_assert_no_error (error);
  g_assert_true (g_input_stream_read_all (g_subprocess_get_stdout_pipe (process), answer,
                                          sizeof answer, NULL, NULL, &error));
  g_assert_no_error (error);
  return process;
}

static PerfSession *
open_samples (Comparison *self, Unwinder *unwinder, Privilege *privilege, pid_t pid)
{
  g_autoptr (GArray) tasks = g_array_new (false, false, sizeof (pid_t));
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_strdup_printf ("/proc/%d/task", pid);
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  PerfSessionOptions options = {
    .target = PERF_TARGET_TASKS,
    .cgroup_fd = -1,
    .samples = true,
    .frequency = FREQUENCY,
    .walker = sysprof_unwinder_get_program (unwinder),
    .func = compare_sample,
    .func_data = self,
  };
  PerfSession *session;
  const char *name;

  while ((name = g_dir_read_name (directory)) != NULL)
    {
      pid_t tid = atoi (name);

      g_array_append_val (tasks, tid);
    }
  options.tasks = (const pid_t *) (void *) tasks->data;
  options.n_tasks = tasks->len;
  sysprof_perf_event_init_cpu_clock (&options.event);
  session = sysprof_perf_session_open (&options, privilege, &error);
  g_assert_no_error (error);
  return session;
}

static void
test_stacks_are_the_programs_own (const void *data)
{
  const char *program = data;
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree Comparison *self = g_new0 (Comparison, 1);
  Privilege *privilege = sysprof_privilege_new ();
  Unwinder *unwinder = sysprof_unwinder_new (privilege, 0, &error);
  PerfSession *session;
  UnwinderStatus status;
  pid_t pid;

  if (unwinder == NULL)
    {
      g_test_skip (error->message);
      sysprof_privilege_free (privilege);
      return;
    }

  process = start_program (program);
  pid = atoi (g_subprocess_get_identifier (process));
  find_functions (self, program, pid);
  g_assert_true (sysprof_unwinder_start (unwinder, &pid, 1, &error));
  g_assert_true (sysprof_unwinder_finish_loading (unwinder, &error));
  sysprof_unwinder_wait_until_ready (unwinder, MOST_SECONDS * 1000);

  session = open_samples (self, unwinder, privilege, pid);
  sysprof_perf_session_enable (session);
  for (int64_t end = g_get_monotonic_time () + MOST_SECONDS * G_TIME_SPAN_SECOND;
       g_get_monotonic_time () < end && self->n_samples < ENOUGH_SAMPLES;)
    {
      (void) poll (NULL, 0, 50); /* the rings fill */
      sysprof_perf_session_drain (session);
    }
  sysprof_perf_session_disable (session);
  sysprof_perf_session_close (session);
  sysprof_unwinder_stop (unwinder, &status);
  sysprof_unwinder_free (unwinder);
  sysprof_privilege_free (privilege);
  g_assert_true (g_output_stream_close (g_subprocess_get_stdin_pipe (process), NULL, NULL));
  g_assert_true (g_subprocess_wait (process, NULL, NULL));

  for (unsigned i = 0; i < WALK_REASONS; i++)
    if (self->n_reasons[i] > 0)
      g_test_message ("%s: %" G_GUINT64_FORMAT, sysprof_walk_reason_to_string (i),
                      self->n_reasons[i]);
  g_test_message (
      "%" G_GUINT64_FORMAT " samples, %" G_GUINT64_FORMAT " while jumping, %" G_GUINT64_FORMAT
      " compared, %" G_GUINT64_FORMAT " deeper than 5000, %" G_GUINT64_FORMAT " unequal",
      self->n_samples, self->n_unsettled, self->n_whole, self->n_deep, self->n_unequal);
  g_assert_cmpuint (self->n_samples, >=, 1000);
  g_assert_cmpuint (self->n_unequal, ==, 0);
  g_assert_cmpuint (self->n_unsettled, <, self->n_samples / 50);
  g_assert_cmpuint (self->n_whole * 1000, >=, (self->n_samples - self->n_unsettled) * 999);
  g_assert_cmpuint (self->n_deep, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (int i = 1; i < argc; i++)
    {
      g_autofree char *name = g_path_get_basename (argv[i]);
      g_autofree char *path = g_strdup_printf ("/bpf/truth/%s", name);

      g_test_add_data_func (path, argv[i], test_stacks_are_the_programs_own);
    }
  return g_test_run ();
}
