// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the values of options. The first byte of each line selects the option. The value must
 * be accepted, or refused with one line of valid text. */

#include "analyze/analyze.h"
#include "cli/numbers.h"
#include "document/document.h"
#include "fuzz/fuzz.h"
#include "perf/cpus.h"
#include "perf/events/event.h"
#include "util/util.h"

#include <sysprof-capture.h>

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MOST_WITH_LISTS 50 /* refusals of events */

/* A few of what can be selected. */
static Store *
make_store (void)
{
  int fd = memfd_create ("fuzz-options", MFD_CLOEXEC);
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (dup (fd), 0);
  Store *store;

  sysprof_capture_writer_add_process (writer, 1000, -1, 10, "/bin/sh -c make");
  sysprof_capture_writer_add_process (writer, 1000, -1, 20, "[x]*?");
  for (int i = 0; i < 10; i++)
    sysprof_capture_writer_add_sample (writer, 1000 + i, i % 4, 10 + i % 2 * 10, 10,
                                       &(uint64_t){ 0x1000 }, 1);
  sysprof_capture_writer_add_mark (writer, 1002, 1, 10, 5, "group", "name", "message");
  sysprof_capture_writer_unref (writer);
  store = sysprof_store_open_fd (fd, NULL, NULL, NULL);
  g_assert_nonnull (store);
  close (fd);
  return store;
}

static void
check_refusal (bool is_taken, GError *error)
{
  g_assert_true (is_taken == (error == NULL));
  if (is_taken)
    return;
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_null (strchr (error->message, '\n'));
  g_error_free (error);
}

static void
try_selection (const Store *store, char kind, char *text)
{
  char *texts[] = { text, NULL };
  Selection selection = { 0 };
  char ***const places[] = {
    &selection.times, &selection.processes, &selection.threads,  &selection.cpus,
    &selection.marks, &selection.symbols,   &selection.binaries, &selection.cgroups,
  };
  ResolvedSelection resolved;
  GError *error = NULL;
  bool is_taken;

  *places[(uint8_t) kind % G_N_ELEMENTS (places)] = texts;
  is_taken = sysprof_selection_resolve (&selection, store, &resolved, &error);
  check_refusal (is_taken, error);
  if (is_taken)
    sysprof_resolved_selection_clear (&resolved);
}

static void
try_numbers (const char *text)
{
  g_autoptr (GArray) cpus = g_array_new (FALSE, FALSE, sizeof (int));
  GArray *listed = sysprof_cpus_parse (text);
  uint64_t number;
  int64_t nsec;

  g_clear_pointer (&listed, g_array_unref);
  if (sysprof_cli_read_number (text, 5, 500, &number))
    g_assert_true (number >= 5 && number <= 500);
  if (sysprof_cli_read_duration (text, &nsec))
    g_assert_cmpint (nsec, >=, 0);
  if (sysprof_cli_read_size (text, &number))
    g_assert_cmpuint (number, >, 0);
  if (sysprof_cli_read_cpu_list (text, 64, cpus))
    for (guint i = 0; i < cpus->len; i++)
      g_assert_true (g_array_index (cpus, int, i) >= 0 && g_array_index (cpus, int, i) < 64);
}

/* A refusal lists what the machine has, and asks the kernel for each: 70 ms. Later ones get no descriptor to ask with. */
static void
limit_descriptors (rlim_t most)
{
  struct rlimit limit;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  limit.rlim_cur = MIN (most, limit.rlim_max);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
}

static void
try_event (const char *text)
{
  static unsigned n_tried;
  static Privilege *privilege;
  PerfEvent event = { 0 };
  GError *error = NULL;
  bool is_taken;

  if (privilege == NULL)
    privilege = sysprof_privilege_new ();
  if (n_tried++ >= MOST_WITH_LISTS)
    limit_descriptors (0);
  is_taken = sysprof_perf_event_parse (&event, text, privilege, &error);
  limit_descriptors (1024);

  check_refusal (is_taken, error);
}

static void
try_query (const char *text)
{
  g_autoptr (TextQuery) query = sysprof_text_query_new (text);
  TextFields fields = { { "gtk_widget_snapshot", "libgtk-4.so.1", "Größe" } };

  g_assert_true (!sysprof_text_query_is_empty (query) ||
                 sysprof_text_query_fit (query, &fields) == TEXT_DOES_NOT_FIT);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static Store *store;
  Text text = { (const char *) bytes, (const char *) bytes + size };
  Text line;

  if (store == NULL)
    store = make_store ();
  while (sysprof_text_next_line (&text, &line))
    {
      g_autofree char *word = NULL;

      if (sysprof_text_size (line) == 0)
        continue;
      word = g_strndup (line.at + 1, sysprof_text_size (line) - 1);
      /* GOption refuses text that is not valid UTF-8. */
      if (!g_utf8_validate (word, -1, NULL))
        continue;
      try_selection (store, line.at[0], word);
      try_numbers (word);
      try_event (word);
      try_query (word);
    }
  return 0;
}
