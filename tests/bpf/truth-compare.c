// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares recorded stacks with the list that the workload keeps. See truth-compare.h. */

#include "truth-compare.h"

#include "elf/elf.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FUNCTIONS 6000 /* listed ones on one stack */

/* --- where the functions are --- */

static const char *const table[TRUTH_FUNCTIONS_END] = {
#define NAME(name, number) [number] = #name,
  TRUTH_FUNCTIONS (NAME)
};

/* Functions that a compiler makes from a listed function, or from a template for it, contain
 * the other's name, too. */
static bool
is_somebody_elses (const char *name)
{
  static const char *const signs[] = { "closure", ".func", "_ZZ", "_ZSt", "_ZNSt", "_gnu_cxx" };

  for (unsigned i = 0; i < G_N_ELEMENTS (signs); i++)
    if (strstr (name, signs[i]) != NULL)
      return true;
  return false;
}

static const char *
find_number (const char *name)
{
  const char *at = strstr (name, "listed");

  return at != NULL && g_ascii_isdigit (at[strlen ("listed")]) ? at + strlen ("listed") : NULL;
}

static bool
has_numbers (const ElfSymbols *symbols)
{
  for (size_t i = 0; i < sysprof_elf_symbols_count (symbols); i++)
    if (find_number (sysprof_elf_symbols_get (symbols, i).name) != NULL)
      return true;
  return false;
}

/* 0: not listed. Parts that a compiler split off belong to their function. */
static unsigned
id_of_name (const char *name, bool has_number)
{
  const char *number = find_number (name);

  if (has_number)
    return number == NULL || is_somebody_elses (name) ? 0 : (unsigned) atoi (number);
  for (unsigned id = 1; id < TRUTH_FUNCTIONS_END; id++)
    if (g_str_equal (name, table[id]))
      return id;
  return 0;
}

/* The functions in which stacks of Go's runtime end. */
static const char *const go_tops[] = {
  "runtime.mcall",       "runtime.mstart",           "runtime.mstart.abi0",
  "runtime.rt0_go",      "runtime.rt0_go.abi0",      "runtime.goexit",
  "runtime.goexit.abi0", "runtime.morestack",        "runtime.morestack.abi0",
  "runtime.systemstack", "runtime.systemstack.abi0", NULL
};

static bool
is_top (const Comparison *self, const char *name)
{
  return self->tops != NULL && g_strv_contains (self->tops, name);
}

/* A program without symbols is next to the program from which it was made. */
#define STRIPPED "-stripped"

/* Of the file whose first bytes are mapped at `start`. */
static void
add_functions (Comparison *self, const char *path, uint64_t start)
{
  const char *suffix = g_str_has_suffix (path, STRIPPED) ? STRIPPED : "";
  g_autofree char *named = g_strndup (path, strlen (path) - strlen (suffix));
  autofd fd = open (named, O_RDONLY | O_CLOEXEC);
  ElfImage *image;
  ElfSymbols *symbols;
  uint64_t bias, address;
  bool has_number;

  g_assert_cmpint (sysprof_elf_image_open (fd, &image), ==, ELF_OK);
  g_assert_cmpint (sysprof_elf_symbols_load (image, &symbols), ==, ELF_OK);
  g_assert_cmpint (sysprof_elf_image_address_of_offset (image, 0, &address), ==, ELF_OK);
  bias = start - address;
  has_number = has_numbers (symbols);
  for (size_t i = 0; i < sysprof_elf_symbols_count (symbols); i++)
    {
      ElfSymbol symbol = sysprof_elf_symbols_get (symbols, i);
      Function function = { symbol.start + bias, symbol.end + bias,
                            id_of_name (symbol.name, has_number) };

      if (function.id == 0 && !is_top (self, symbol.name))
        continue;
      g_assert_cmpuint (function.id, <, TRUTH_IDS);
      g_array_append_val (self->functions, function);
      if (function.id != 0 && self->name[function.id] == NULL)
        self->name[function.id] = g_strdup (symbol.name);
    }
  sysprof_elf_symbols_free (symbols);
  sysprof_elf_image_free (image);
}

/* Of the program and of the libraries that were built with it. */
void
find_functions (Comparison *self, const char *program, pid_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/maps", pid);
  g_autofree char *absolute = g_canonicalize_filename (program, NULL);
  g_autofree char *directory = g_path_get_dirname (absolute);
  g_autofree char *maps = NULL;
  g_auto (GStrv) lines = NULL;

  if (strstr (program, "truth-go") != NULL || strstr (program, "truth-cgo") != NULL)
    self->tops = go_tops;
  self->functions = g_array_new (false, false, sizeof (Function));
  g_assert_true (g_file_get_contents (path, &maps, NULL, NULL));
  lines = g_strsplit (maps, "\n", 0);
  for (unsigned i = 0; lines[i] != NULL; i++)
    {
      const char *file = strchr (lines[i], '/');

      if (file != NULL && g_str_has_prefix (file, directory) &&
          strstr (lines[i], " 00000000 ") != NULL)
        add_functions (self, file, g_ascii_strtoull (lines[i], NULL, 16));
    }
  g_assert_cmpuint (self->functions->len, >, 0);
}

void
clear_comparison (Comparison *self)
{
  g_array_unref (self->functions);
  for (unsigned i = 0; i < TRUTH_IDS; i++)
    g_free (self->name[i]);
}

static const Function *
function_at (const Comparison *self, uint64_t address)
{
  for (unsigned i = 0; i < self->functions->len; i++)
    {
      const Function *function = &g_array_index (self->functions, Function, i);

      if (address >= function->start && address < function->end)
        return function;
    }
  return NULL;
}

static unsigned
id_at (const Comparison *self, uint64_t address)
{
  const Function *function = function_at (self, address);

  return function != NULL ? function->id : 0;
}

/* --- one sample --- */

/* Layout: perf_event_open(2), PERF_RECORD_SAMPLE with PERF_DECODE_SAMPLE_TYPE and
 * PERF_SAMPLE_RAW. */
bool
parse_truth (TruthSample *self, const struct perf_event_header *record)
{
  const uint64_t *words = (const uint64_t *) (const void *) (record + 1);
  uint64_t n_kernel = words[3];
  const uint8_t *raw = (const uint8_t *) &words[4 + n_kernel] + sizeof (uint32_t);

  if (record->type != PERF_RECORD_SAMPLE)
    return false;

  self->reason = raw[0];
  self->used = raw[1];
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

      /* At a signal, the address is that of the interrupted instruction itself. */
      if (id == 0)
        id = id_at (self, address);
      if (id != 0 && n < MOST_FUNCTIONS)
        ids[n++] = (unsigned short) id;
    }
  return n;
}

static bool
has_handler (const Comparison *self, const unsigned short *ids, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    if (strstr (self->name[ids[i]], "handler") != NULL)
      return true;
  return false;
}

/* Takes out the functions that a signal came upon before they were on the list, or when they
 * were off again. */
static bool
is_equal (const Comparison *self,
          const unsigned short *walked,
          unsigned n_walked,
          const TruthCopy *truth)
{
  unsigned n = truth->head.n, first = n > TRUTH_COPIED ? n - TRUTH_COPIED : 0;
  unsigned extra = has_handler (self, walked, n_walked) ? 2 : 1;
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

static const char *
name_of (const Comparison *self, unsigned id)
{
  return id < TRUTH_IDS && self->name[id] != NULL ? self->name[id] : "?";
}

static void
tell (const Comparison *self,
      const TruthSample *sample,
      const unsigned short *walked,
      unsigned n_walked)
{
  g_autoptr (GString) text = g_string_new ("walked");
  unsigned n = sample->truth.head.n, first = n > TRUTH_COPIED ? n - TRUTH_COPIED : 0;

  if (first > 0)
    g_string_append (text, " …");
  for (unsigned i = first; i < n_walked; i++)
    g_string_append_printf (text, " %s", name_of (self, walked[i]));
  g_string_append (text, "; truth");
  for (unsigned i = first; i < n; i++)
    g_string_append_printf (text, " %s", name_of (self, sample->truth.id[i - first]));
  g_string_append (text, "; addresses");
  for (unsigned i = 0; i < MIN (sample->n, 24); i++)
    g_string_append_printf (text, " %" G_GINT64_MODIFIER "x", sample->address[i]);
  g_test_message ("%s (%u and %u, %s, used %u)", text->str, n_walked, n,
                  sysprof_walk_reason_to_string (sample->reason), sample->used);
}

/* The stack of a runtime, which ends at functions of its own, while the program's waits. */
static bool
is_elsewhere (const Comparison *self, const TruthSample *sample, unsigned n_walked)
{
  const Function *function;

  if (n_walked > 0 || self->tops == NULL)
    return false;
  function = function_at (self, sample->address[sample->n - 1] - (sample->n > 1));
  return function != NULL && function->id == 0;
}

#define SHORT 64 /* functions */

static bool
has_far (const Comparison *self, const unsigned short *ids, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    if (strstr (name_of (self, ids[i]), "large_frame") != NULL ||
        strstr (name_of (self, ids[i]), "stack_handler") != NULL)
      return true;
  return false;
}

/* Whether a copy contains this complete stack. It does if there are few functions, none with a
 * large frame, all on one stack. Functions of a runtime that continues on the stack of the
 * program are not listed. */
static bool
is_short (const Comparison *self,
          const TruthCopy *truth,
          const unsigned short *walked,
          unsigned n_walked)
{
  return truth->head.n < SHORT && !(self->tops != NULL && n_walked == 0) &&
         !has_far (self, truth->id, truth->head.n) && !has_far (self, walked, n_walked);
}

void
compare_sample (Comparison *self, const TruthSample *sample)
{
  static unsigned short walked[MOST_FUNCTIONS];
  const TruthCopy *truth = &sample->truth;
  unsigned n_walked;

  self->n_samples++;
  self->n_reasons[sample->reason]++;
  n_walked = list_walked (self, sample, walked);
  if (truth->head.is_unsettled)
    {
      self->n_unsettled++;
      return;
    }
  if (!sysprof_walk_reason_is_whole (sample->reason))
    {
      bool has_all = is_short (self, truth, walked, n_walked);

      self->n_short += has_all;
      self->n_short_of[sample->reason] += has_all;
      if (self->n_broken++ < 5 || has_all)
        tell (self, sample, walked, n_walked);
      return;
    }
  if (truth->head.n == 0)
    {
      self->n_without++;
      return;
    }

  self->n_whole++;
  self->n_first_by_fp += (sample->used & WALK_USED_FP_FIRST) != 0;
  if (is_elsewhere (self, sample, n_walked))
    {
      self->n_elsewhere++;
      return;
    }
  self->n_deep += truth->head.n > 5000;
  if (!is_equal (self, walked, n_walked, truth))
    {
      if (self->n_unequal++ < 10)
        tell (self, sample, walked, n_walked);
    }
  else
    {
      for (unsigned i = 0; i < MIN (truth->head.n, TRUTH_COPIED); i++)
        self->is_seen[truth->id[i] % TRUTH_IDS] = true;
    }
}

/* That main() is waiting all the time. */
static bool
is_missing (const Comparison *self, unsigned id)
{
  return self->name[id] != NULL && !self->is_seen[id] && !g_str_equal (self->name[id], "main");
}

bool
has_seen_all (const Comparison *self)
{
  for (unsigned i = 0; i < TRUTH_IDS; i++)
    if (is_missing (self, i))
      return false;
  return true;
}

void
tell_comparison (const Comparison *self)
{
  for (unsigned i = 0; i < WALK_REASONS; i++)
    if (self->n_reasons[i] > 0)
      g_test_message ("%s: %" G_GUINT64_FORMAT, sysprof_walk_reason_to_string (i),
                      self->n_reasons[i]);
  for (unsigned i = 0; i < WALK_REASONS; i++)
    if (self->n_short_of[i] > 0)
      g_test_message ("short, %s: %" G_GUINT64_FORMAT, sysprof_walk_reason_to_string (i),
                      self->n_short_of[i]);
  g_test_message (
      "%" G_GUINT64_FORMAT " samples, %" G_GUINT64_FORMAT
      " between two stacks, %" G_GUINT64_FORMAT " broken (%" G_GUINT64_FORMAT
      " of them short), %" G_GUINT64_FORMAT " of threads without a list, %" G_GUINT64_FORMAT
      " compared (%" G_GUINT64_FORMAT " deeper than 5000, %" G_GUINT64_FORMAT
      " on a runtime's own stack, "
      "%" G_GUINT64_FORMAT " first step by frame pointer), %" G_GUINT64_FORMAT " unequal",
      self->n_samples, self->n_unsettled, self->n_broken, self->n_short, self->n_without,
      self->n_whole, self->n_deep, self->n_elsewhere, self->n_first_by_fp, self->n_unequal);
  for (unsigned i = 0; i < TRUTH_IDS; i++)
    if (is_missing (self, i))
      g_test_message ("never on a stack: %s", self->name[i]);
  g_assert_cmpuint (self->n_unequal, ==, 0);
}

/* --- the workload --- */

void
skip_or_fail (void)
{
  if (errno != ENOSYS && errno != EPERM && errno != EACCES)
    g_error ("The kernel refuses the program: %s", g_strerror (errno));
  g_test_skip (errno == ENOSYS ? "built without BPF" : "not permitted: run as root");
}

GSubprocess *
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

GArray *
list_threads (pid_t pid)
{
  GArray *tasks = g_array_new (false, false, sizeof (pid_t));
  g_autofree char *path = g_strdup_printf ("/proc/%d/task", pid);
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (directory)) != NULL)
    {
      pid_t tid = atoi (name);

      g_array_append_val (tasks, tid);
    }
  return tasks;
}
