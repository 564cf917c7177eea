// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the options of a selection on a small capture. */

#include "document/document.h"

#include <sysprof-capture.h>

#define BEGIN 1000000 /* ns */

static Store *
open_capture (void)
{
  int fd = sysprof_memfd_create ("selection");
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (fd, 0);
  g_autoptr (GError) error = NULL;
  autofd copy = dup (fd);
  Store *store;

  /* 10 was a shell and became make; 20 is a program with directories and arguments; 30 has a blank in its name. */
  sysprof_capture_writer_add_process (writer, BEGIN, -1, 10, "/bin/sh -c make");
  sysprof_capture_writer_add_process (writer, BEGIN + 10, -1, 10, "make");
  sysprof_capture_writer_add_process (writer, BEGIN, -1, 20,
                                      "/usr/bin/gnome-shell --wayland /bin/x");
  sysprof_capture_writer_add_process (writer, BEGIN, -1, 30, "/usr/lib/firefox");
  sysprof_capture_writer_add_process (writer, BEGIN + 10, -1, 30, "Web Content");
  sysprof_capture_writer_add_process (writer, BEGIN, -1, 40, "gnome-terminal");
  for (int i = 0; i < 10; i++)
    sysprof_capture_writer_add_sample (writer, BEGIN + 100 * i, i % 4, 10, 10,
                                       &(uint64_t){ 0x1000 }, 1);
  sysprof_capture_writer_unref (writer);

  store = sysprof_store_open_fd (copy, "selection", NULL, &error);
  g_assert_no_error (error);
  return store;
}

static int
compare_pids (gconstpointer a, gconstpointer b)
{
  return *(const int32_t *) a - *(const int32_t *) b;
}

/* The selected pids, ascending, as a text. *(full)* */
static char *
selected_pids (const Store *store, const Selection *selection)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GArray) pids = g_array_new (FALSE, FALSE, sizeof (int32_t));
  ResolvedSelection resolved;
  g_autoptr (GError) error = NULL;

  g_assert_true (sysprof_selection_resolve (selection, store, &resolved, &error));
  g_assert_no_error (error);
  g_assert_true (resolved.filter.has_processes);
  for (uint32_t i = 0; i < resolved.filter.n_processes; i++)
    g_array_append_val (pids, store->processes.row[resolved.filter.processes[i]].pid);
  g_array_sort (pids, compare_pids);
  for (guint i = 0; i < pids->len; i++)
    g_string_append_printf (text, "%d ", g_array_index (pids, int32_t, i));
  sysprof_resolved_selection_clear (&resolved);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
test_finds_processes (void)
{
  static const struct
  {
    const char *names[3];
    const char *pids;
  } cases[] = {
    { { "10" }, "10 " },
    { { "make" }, "10 " },
    { { "sh" }, "10 " },
    { { "gnome-shell" }, "20 " },
    { { "x" }, "" },
    { { "gnome-*" }, "20 40 " },
    { { "gnome" }, "" },
    { { "Web Content" }, "30 " },
    { { "firefox" }, "30 " },
    { { "make", "40" }, "10 40 " },
    { { "make", "sh" }, "10 " },
    { { "99" }, "" },
    { { "[mw]ake" }, "10 " },
  };
  g_autoptr (Store) store = open_capture ();

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Selection selection = { .processes = (char **) cases[i].names };
      g_autofree char *pids = selected_pids (store, &selection);

      g_test_message ("%s", cases[i].names[0]);
      g_assert_cmpstr (pids, ==, cases[i].pids);
    }
}

/* 5 starts 50, which starts 51 and 52; 52 starts 53, which starts another
 * process with the number 5. 60 is not of them. */
static Store *
open_family (const char *pid, const char *command)
{
  int fd = sysprof_memfd_create ("family");
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (fd, 0);
  g_autoptr (GError) error = NULL;
  autofd copy = dup (fd);
  Store *store;

  sysprof_capture_writer_add_process (writer, BEGIN, -1, 5, "recorder");
  sysprof_capture_writer_add_process (writer, BEGIN, -1, 60, "make");
  sysprof_capture_writer_add_fork (writer, BEGIN + 1, -1, 5, 50);
  sysprof_capture_writer_add_fork (writer, BEGIN + 2, -1, 50, 51);
  sysprof_capture_writer_add_fork (writer, BEGIN + 2, -1, 50, 52);
  sysprof_capture_writer_add_fork (writer, BEGIN + 3, -1, 52, 53);
  sysprof_capture_writer_add_fork (writer, BEGIN + 4, -1, 53, 5);
  sysprof_capture_writer_add_process (writer, BEGIN + 2, -1, 50, "make -j 2");
  for (int32_t child = 51; child <= 53; child++)
    sysprof_capture_writer_add_process (writer, BEGIN + 4, -1, child, "cc");
  if (command != NULL)
    sysprof_capture_writer_add_metadata (writer, BEGIN, -1, -1, "spawnable.argv", command, -1);
  if (pid != NULL)
    sysprof_capture_writer_add_metadata (writer, BEGIN, -1, -1, "spawnable.pid", pid, -1);
  sysprof_capture_writer_unref (writer);

  store = sysprof_store_open_fd (copy, "family", NULL, &error);
  g_assert_no_error (error);
  return store;
}

static void
test_finds_descendants (void)
{
  static const struct
  {
    const char *trees[3];
    const char *processes[3];
    const char *pids;
  } cases[] = {
    { { "52" }, { NULL }, "5 50 51 52 53 " }, /* 5 was used twice, so all descend from 52 */
    { { "51" }, { NULL }, "51 " },
    { { "60" }, { NULL }, "60 " },
    { { "51" }, { "60" }, "" },
    { { "52" }, { "c*" }, "51 52 53 " },
    { { "99" }, { NULL }, "" },
  };
  g_autoptr (Store) store = open_family (NULL, NULL);

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Selection selection = {
        .process_trees = (char **) cases[i].trees,
        .processes = cases[i].processes[0] ? (char **) cases[i].processes : NULL,
      };
      g_autofree char *pids = selected_pids (store, &selection);

      g_test_message ("%s", cases[i].trees[0]);
      g_assert_cmpstr (pids, ==, cases[i].pids);
    }
}

static void
test_finds_command (void)
{
  static const struct
  {
    const char *pid;
    const char *command;
    int32_t found; /* 0 = none */
  } cases[] = {
    { "51", "'make' '-j' '2' ", 51 },
    { NULL, "'make' '-j' '2' ", 50 },
    { NULL, "make", 60 },
    { NULL, "'gcc' ", 0 },
    { NULL, "'unfinished", 0 },
    { NULL, NULL, 0 },
    { "99", "'make' ", 0 },
    { "x", "'make' ", 60 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Store) store = open_family (cases[i].pid, cases[i].command);
      ProcessId found = sysprof_store_find_command (store);
      Selection selection = { 0 }, whole = { .all = TRUE };

      g_assert_cmpint (found != 0 ? store->processes.row[found].pid : 0, ==, cases[i].found);
      sysprof_selection_default_to_command (&selection, store);
      g_assert_cmpint (selection.command, ==, cases[i].found != 0);
      sysprof_selection_default_to_command (&whole, store);
      g_assert_false (whole.command);
    }
}

static void
test_finds_threads (void)
{
  g_autoptr (Store) store = open_capture ();
  Selection selection = { .threads = (char *[]){ "77", "make", NULL } };
  ResolvedSelection resolved;

  g_assert_true (sysprof_selection_resolve (&selection, store, &resolved, NULL));
  g_assert_true (resolved.filter.has_tids);
  g_assert_cmpuint (resolved.filter.n_tids, ==, 2);
  g_assert_cmpint (resolved.filter.tids[0], ==, 77);
  g_assert_cmpint (resolved.filter.tids[1], ==, 10);
  sysprof_resolved_selection_clear (&resolved);
}

/* How many of the ten samples, 100 ns apart, the first at the start, are within the times. */
static uint64_t
count_in_times (const Store *store, char **times)
{
  Selection selection = { .times = times };
  ResolvedSelection resolved;
  StackWeights weights = { 0 };
  g_autoptr (GError) error = NULL;
  uint64_t total;

  sysprof_selection_resolve (&selection, store, &resolved, &error);
  g_assert_no_error (error);
  sysprof_stack_weights_fold (&weights, store, NULL, &resolved.filter, false);
  total = weights.total;
  sysprof_stack_weights_clear (&weights);
  sysprof_resolved_selection_clear (&resolved);
  return total;
}

static void
test_takes_times (void)
{
  static const struct
  {
    const char *times[3];
    uint64_t n;
  } cases[] = {
    { { ".." }, 10 },
    { { "0..1s" }, 10 },
    { { "100ns..300ns" }, 2 },
    { { "0.1us..0.3us" }, 2 },
    { { "0.0000001s..0.00000031s" }, 3 },
    { { "0.0000001..0.00000031" }, 3 },
    { { "0.0003ms..0.0003ms" }, 0 },
    { { "500ns.." }, 5 },
    { { "..500ns" }, 5 },
    { { "..99999999999999999s" }, 10 },
    { { "900ns..", "..100ns" }, 2 },
    { { "0..300ns", "200ns..400ns" }, 4 },
    { { "0..100ns", "100ns..200ns" }, 2 },
    { { "5s.." }, 0 },
  };
  g_autoptr (Store) store = open_capture ();

  g_assert_cmpint (store->begin, ==, BEGIN);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("%s", cases[i].times[0]);
      g_assert_cmpuint (count_in_times (store, (char **) cases[i].times), ==, cases[i].n);
    }
}

static void
test_takes_cpus (void)
{
  g_autoptr (Store) store = open_capture ();
  Selection selection = { .cpus = (char *[]){ "3,0-1", "1", NULL } };
  ResolvedSelection resolved;

  g_assert_true (sysprof_selection_resolve (&selection, store, &resolved, NULL));
  g_assert_true (resolved.filter.has_cpus);
  g_assert_cmpuint (resolved.filter.n_cpus, ==, 3);
  g_assert_cmpint (resolved.filter.cpus[0], ==, 0);
  g_assert_cmpint (resolved.filter.cpus[1], ==, 1);
  g_assert_cmpint (resolved.filter.cpus[2], ==, 3);
  sysprof_resolved_selection_clear (&resolved);
}

static void
test_refuses (void)
{
  char *const times[] = { "2s",   "3s..2s", "a..b",   "-1s..",
                          "1m..", "1s...",  "..1.s1", "99999999999999999999ns.." };
  char *const cpus[] = { "", "x", "1-", "3-1", "0,,1", "-1", "99999", "1 2" };
  char *const terms[] = { "", "!" };
  g_autoptr (Store) store = open_capture ();
  struct
  {
    const char *option;
    char *const *values;
    size_t n;
    size_t member;
  } cases[] = {
    { "--time ", times, G_N_ELEMENTS (times), G_STRUCT_OFFSET (Selection, times) },
    { "--cpu ", cpus, G_N_ELEMENTS (cpus), G_STRUCT_OFFSET (Selection, cpus) },
    { "--symbol ", terms, G_N_ELEMENTS (terms), G_STRUCT_OFFSET (Selection, symbols) },
    { "--binary ", terms, G_N_ELEMENTS (terms), G_STRUCT_OFFSET (Selection, binaries) },
    { "--process ", terms, 1, G_STRUCT_OFFSET (Selection, processes) },
    { "--thread ", terms, 1, G_STRUCT_OFFSET (Selection, threads) },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    for (size_t j = 0; j < cases[i].n; j++)
      {
        Selection selection = { 0 };
        ResolvedSelection resolved;
        g_autoptr (GError) error = NULL;
        char *values[] = { cases[i].values[j], NULL };

        G_STRUCT_MEMBER (char **, &selection, cases[i].member) = values;
        g_test_message ("%s%s", cases[i].option, values[0]);
        g_assert_false (sysprof_selection_resolve (&selection, store, &resolved, &error));
        g_assert_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED);
        /* The option as given, and what it should look like. */
        g_assert_true (g_str_has_prefix (error->message, cases[i].option));
        g_assert_nonnull (strstr (error->message, values[0]));
        g_assert_nonnull (strstr (error->message, ": give "));
      }
}

static void
test_reads_options (void)
{
  Selection selection = { 0 };
  ResolvedSelection resolved;
  g_autofree GOptionEntry *entries = sysprof_selection_option_entries (&selection);
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = open_capture ();
  g_auto (GStrv) arguments = g_strdupv (
      (char *[]){ "program", "--symbol", "a", "--symbol=!b", "--binary", "libc", "--focus",
                  "main", "--bottom-up", "--left-heavy", "--no-kernel", "--fold-recursion",
                  "--threads", "--merge-processes", "--process", "make", NULL });

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_parse_strv (context, &arguments, &error);
  g_assert_no_error (error);
  g_assert_true (sysprof_selection_resolve (&selection, store, &resolved, NULL));
  g_assert_cmpstr (resolved.filter.symbol_terms[0], ==, "a");
  g_assert_cmpstr (resolved.filter.symbol_terms[1], ==, "!b");
  g_assert_cmpstr (resolved.filter.binary_terms[0], ==, "libc");
  g_assert_cmpstr (resolved.shape.focus, ==, "main");
  g_assert_true (resolved.shape.bottom_up && resolved.shape.no_kernel &&
                 resolved.shape.fold_recursion && resolved.shape.threads &&
                 resolved.shape.merge_processes && selection.left_heavy);
  g_assert_false (resolved.filter.has_tids || resolved.filter.has_cpus);
  g_assert_null (resolved.filter.times);
  sysprof_resolved_selection_clear (&resolved);
  sysprof_selection_clear (&selection);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/selection/finds-processes", test_finds_processes);
  g_test_add_func ("/selection/finds-descendants", test_finds_descendants);
  g_test_add_func ("/selection/finds-command", test_finds_command);
  g_test_add_func ("/selection/finds-threads", test_finds_threads);
  g_test_add_func ("/selection/takes-times", test_takes_times);
  g_test_add_func ("/selection/takes-cpus", test_takes_cpus);
  g_test_add_func ("/selection/refuses", test_refuses);
  g_test_add_func ("/selection/reads-options", test_reads_options);
  return g_test_run ();
}
