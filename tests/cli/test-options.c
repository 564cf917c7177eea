// SPDX-License-Identifier: GPL-3.0-or-later

/* Options of sysprof-cli: what people type, defaults, and one-line errors. */

#include "cli/options.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads a command line, its words separated by blanks. */
static gboolean
parse (CliOptions *options, const char *line, GError **error)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 0);

  return sysprof_cli_options_parse (options, (int) g_strv_length (words), words, error);
}

static void
test_words_behind_dashes_are_never_options (void)
{
  CliOptions options = { 0 };
  GError *error = NULL;

  parse (&options, "sysprof-cli -F 99 out.syscap -- ls -F --merge -- --version", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (options.sampler.frequency, ==, 99);
  g_assert_cmpstr (options.output, ==, "out.syscap");
  g_assert_false (options.merge);
  g_assert_false (options.version);
  g_assert_cmpuint (g_strv_length (options.command), ==, 5);
  g_assert_cmpstr (options.command[1], ==, "-F");
  g_assert_cmpstr (options.command[3], ==, "--");
  g_assert_cmpstr (options.command[4], ==, "--version");
  sysprof_cli_options_clear (&options);
}

static void
test_words_behind_dashes_win_over_command (void)
{
  CliOptions options = { 0 };
  GError *error = NULL;
  const char *both[] = { "sysprof-cli", "-c", "sh -c 'exit 3'", "--", "true", NULL };
  const char *alone[] = { "sysprof-cli", "-c", "sh -c 'exit 3'", NULL };

  sysprof_cli_options_parse (&options, 5, (char **) both, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (options.command), ==, 1);
  g_assert_cmpstr (options.command[0], ==, "true");
  sysprof_cli_options_clear (&options);

  sysprof_cli_options_parse (&options, 3, (char **) alone, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (options.command), ==, 3);
  g_assert_cmpstr (options.command[2], ==, "exit 3");
  sysprof_cli_options_clear (&options);
}

static void
test_options_stand_before_and_after_the_file (void)
{
  CliOptions options = { 0 };
  GError *error = NULL;

  parse (&options, "sysprof-cli -d 500ms run.syscap --force -p 1,1 --cpu 0", &error);
  g_assert_no_error (error);
  g_assert_cmpint (options.duration_nsec, ==, 500000000);
  g_assert_true (options.force);
  g_assert_cmpstr (options.output, ==, "run.syscap");
  g_assert_cmpuint (options.sampler.n_pids, ==, 2);
  g_assert_cmpint (options.sampler.pids[0], ==, 1);
  g_assert_cmpuint (options.sampler.n_cpus, ==, 1);
  sysprof_cli_options_clear (&options);
}

static void
test_defaults (void)
{
  CliOptions options = { 0 };
  GError *error = NULL;

  parse (&options, "sysprof-cli", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (options.output, ==, "capture.syscap");
  g_assert_cmpint (options.old_file, ==, OUTPUT_RENAME_OLD);
  g_assert_null (options.command);
  g_assert_false (options.no_decode);
  g_assert_cmpuint (options.sampler.frequency, ==, 0);
  sysprof_cli_options_clear (&options);
}

/* Every option of earlier generations, and those that only leave something out. */
static void
test_takes_what_people_type (void)
{
  static const char *const lines[] = {
    "sysprof-cli --no-battery --no-cpu --no-disk --no-memory --no-network --no-perf --no-decode",
    "sysprof-cli --debuginfod",
    "sysprof-cli --no-debuginfod --no-sysprofd --gtk --gjs --use-trace-fd --rapl --gnome-shell",
    "sysprof-cli --scheduler --session-bus --system-bus --monitor-bus unix:path=/x --monitor-bus unix:path=/y",
    "sysprof-cli --memprof --speedtrack -- true",
    "sysprof-cli --no-throttle",
    "sysprof-cli --power-profile=balanced --buffer-size 512 --stack-size 8192",
    "sysprof-cli --off-cpu --pressure --gpu --thermal --kernel-log",
    "sysprof-cli --no-off-cpu --no-pressure --no-gpu --no-thermal --no-kernel-log",
    "sysprof-cli --unwind auto --event cpu-clock --user-only --call-depth 32 --delay 1 --max-size 1M",
    "sysprof-cli --unwind copy --stack-size 65536",
    "sysprof-cli --unwind none --event sched:sched_switch:7 --event page-faults --kernel-only --follow-forks --user root",
    "sysprof-cli --quiet --json-status --report --flame x.svg --record-environment --runtime-names -e A=B -e C -f",
    "sysprof-cli --merge a b c",
    "sysprof-cli --exit-status -o - -- true",
    "sysprof-cli --version --merge",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      CliOptions options = { 0 };
      GError *error = NULL;

      g_test_message ("%s", lines[i]);
      parse (&options, lines[i], &error);
      g_assert_no_error (error);
      sysprof_cli_options_clear (&options);
    }
}

/* Whether the instrument that has the option is recorded. */
static bool
records (const CliOptions *options, const char *option)
{
  for (const InstrumentRow *const *row = sysprof_instrument_rows; *row != NULL; row++)
    for (size_t i = 0; i < INSTRUMENT_MAX_OPTIONS; i++)
      if (g_strcmp0 ((*row)->options[i].name, option) == 0)
        return sysprof_instrument_selection_includes (&options->instruments, *row);
  g_assert_not_reached ();
}

/* A switch removes instruments that are on by default. The others are recorded only if an
 * option requests them. */
static void
test_leaves_counters_out (void)
{
  CliOptions options = { 0 };
  GError *error = NULL;

  parse (&options, "sysprof-cli --no-gpu --no-pressure --thermal --no-thermal --no-battery",
         &error);
  g_assert_no_error (error);
  g_assert_false (records (&options, "gpu"));
  g_assert_false (records (&options, "pressure"));
  g_assert_false (records (&options, "no-battery"));
  g_assert_false (records (&options, "thermal"));
  sysprof_cli_options_clear (&options);

  parse (&options, "sysprof-cli --thermal --gpu", &error);
  g_assert_no_error (error);
  g_assert_true (records (&options, "gpu"));
  g_assert_true (sysprof_instrument_selection_has (&options.instruments, "gpu"));
  g_assert_true (records (&options, "thermal"));
  g_assert_false (records (&options, "rapl"));
  sysprof_cli_options_clear (&options);
}

static void
test_refuses_in_one_line_that_names_the_option (void)
{
  static const struct
  {
    const char *line;
    const char *named;
  } refused[] = {
    { "sysprof-cli --frequency 0", "--frequency 0" },
    { "sysprof-cli -F 50001", "--frequency 50001" },
    { "sysprof-cli -F fast", "--frequency fast" },
    { "sysprof-cli -d 0", "--duration 0" },
    { "sysprof-cli --duration -1", "--duration -1" },
    { "sysprof-cli --delay soon", "--delay soon" },
    { "sysprof-cli --max-size 0", "--max-size 0" },
    { "sysprof-cli --call-depth 0", "--call-depth 0" },
    { "sysprof-cli --buffer-size 0", "--buffer-size 0" },
    { "sysprof-cli --stack-size 100", "--stack-size 100" },
    { "sysprof-cli --stack-size 131072", "--stack-size 131072" },
    { "sysprof-cli -p 0", "--pid 0" },
    { "sysprof-cli -p -1", "--pid -1" },
    { "sysprof-cli -p 1 -p x", "--pid x" },
    { "sysprof-cli --tid 2147483647", "--tid 2147483647" },
    { "sysprof-cli --cpu 99999", "--cpu 99999" },
    { "sysprof-cli --user no-such-user-here", "--user no-such-user-here" },
    { "sysprof-cli --kernel-only --user-only", "--kernel-only" },
    { "sysprof-cli --follow-forks --no-follow-forks", "--no-follow-forks" },
    { "sysprof-cli --unwind magic", "--unwind magic" },
    { "sysprof-cli --host -oProxyCommand=x", "--host '-oProxyCommand=x'" },
    { "sysprof-cli --host=", "--host ''" },
    { "sysprof-cli --host there --merge a b", "--host" },
    { "sysprof-cli --host there --top", "ssh -t there" },
    { "sysprof-cli --host there -F 0", "--frequency 0" },
    { "sysprof-cli --memprof", "--memprof" },
    { "sysprof-cli --speedtrack", "--speedtrack" },
    { "sysprof-cli --exit-status", "--exit-status" },
    { "sysprof-cli --merge one", "--merge" },
    { "sysprof-cli --flame x.png", "--flame x.png" },
    { "sysprof-cli --power-profile turbo", "--power-profile turbo" },
    { "sysprof-cli -e =x", "--env =x" },
    { "sysprof-cli one two", "two" },
    { "sysprof-cli -o one two", "two" },
    { "sysprof-cli --", "--" },
    { "sysprof-cli -c", "-c" },
    { "sysprof-cli --no-such-option", "--no-such-option" },
    { "sysprof-cli --ofcpu", "Did you mean --off-cpu?" },
    { "sysprof-cli --freq 99", "Did you mean --frequency?" },
    { "sysprof-cli -g", "-g: call stacks are always recorded" },
    { "sysprof-cli -F 99 --call-graph dwarf -- ls", "--call-graph: call stacks are always" },
    { "sysprof-cli -fa", "-a: the whole machine is sampled" },
    { "sysprof-cli -n", "--no-perf" },
    { "sysprof-cli -e cycles -- ls", "--event cycles" },
    { "sysprof-cli -e cpu-clock", "--event cpu-clock" },
    { "sysprof-cli -p 1,x", "--pid 1,x" },
    { "sysprof-cli -p no-process-of-that-name", "no process has this name" },
    { "sysprof-cli -d 5x", "--duration 5x" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      CliOptions options = { 0 };
      g_autoptr (GError) error = NULL;

      g_assert_false (parse (&options, refused[i].line, &error));
      g_assert_nonnull (error);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, refused[i].named));
      g_assert_null (strchr (error->message, '\n'));
      sysprof_cli_options_clear (&options);
    }
}

static void
test_suggests_the_command_line_that_was_meant (void)
{
  static const struct
  {
    const char *line;
    const char *end;
  } cases[] = {
    { "sysprof-cli ls", ": sysprof-cli -- ls" },
    { "sysprof-cli ls -l --color", ": sysprof-cli -- ls -l --color" },
    { "sysprof-cli -fd 5 -o x ls -f", ": sysprof-cli -fd 5 -o x -- ls -f" },
    { "sysprof-cli record", ": sysprof-cli" },
    { "sysprof-cli record ls -a", ": sysprof-cli -- ls -a" },
    { "sysprof-cli record -F 99 -ag -g -e cycles -- sleep 10",
      ": sysprof-cli -F 99 -ag --event cycles -- sleep 10" },
    { "sysprof-cli record -a --call-graph dwarf ./prog", ": sysprof-cli -- ./prog" },
    { "sysprof-cli record --call-graph=fp -p 1", ": sysprof-cli -p 1" },
    { "sysprof-cli record -C 0 --max-stack=9 ./prog -C 1",
      ": sysprof-cli --cpu 0 --call-depth=9 -- ./prog -C 1" },
    { "sysprof-cli top", ": sysprof-cli --top" },
    { "sysprof-cli report", ": sysprof-report" },
    { "sysprof-cli stat ls", ": sysprof-cli --report -- COMMAND" },
  };
  /* Old habits: these are captures. */
  static const char *const taken[] = {
    "sysprof-cli ./ls",
    "sysprof-cli ls.syscap",
    "sysprof-cli record.syscap.zst",
    "sysprof-cli no-such-program",
    "sysprof-cli ls -- true",
    "sysprof-cli -c true ls",
    "sysprof-cli --merge ls make",
    "sysprof-cli -o ls",
    "sysprof-cli --top -o top",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases) + G_N_ELEMENTS (taken); i++)
    {
      bool is_refused = i < G_N_ELEMENTS (cases);
      CliOptions options = { 0 };
      g_autoptr (GError) error = NULL;

      g_assert_cmpint (parse (&options,
                              is_refused ? cases[i].line : taken[i - G_N_ELEMENTS (cases)],
                              &error),
                       ==, !is_refused);
      if (is_refused)
        g_test_message ("%s", error->message);
      g_assert_true (!is_refused || g_str_has_suffix (error->message, cases[i].end));
      sysprof_cli_options_clear (&options);
    }
}

/* A process with this name, until `stop` is written to. */
static pid_t
start_named (const char *name, int stop)
{
  int ready[2];
  char byte;
  pid_t child;

  g_assert_cmpint (pipe (ready), ==, 0);
  child = fork ();
  if (child == 0)
    {
      (void) prctl (PR_SET_NAME, name);
      _exit (write (ready[1], "", 1) == 1 && read (stop, &byte, 1) == 1 ? 0 : 1);
    }
  g_assert_cmpint ((int) read (ready[0], &byte, 1), ==, 1);
  close (ready[0]);
  close (ready[1]);
  return child;
}

static void
test_finds_a_process_by_name (void)
{
  g_autofree char *name = g_strdup_printf ("one-%d", (int) getpid ());
  g_autofree char *line = g_strdup_printf ("sysprof-cli -p 1 -p %s", name);
  g_autofree char *first = NULL, *second = NULL;
  g_autoptr (GError) error = NULL;
  CliOptions options = { 0 };
  pid_t children[2];
  int stop[2];

  g_assert_cmpint (pipe (stop), ==, 0);
  children[0] = start_named (name, stop[0]);
  g_assert_true (parse (&options, line, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (options.sampler.n_pids, ==, 2);
  g_assert_cmpint (options.sampler.pids[1], ==, children[0]);
  sysprof_cli_options_clear (&options);

  /* Of two, the user chooses. */
  children[1] = start_named (name, stop[0]);
  g_assert_false (parse (&options, line, &error));
  first = g_strdup_printf ("\n%9d  ", (int) children[0]);
  second = g_strdup_printf ("\n%9d  ", (int) children[1]);
  g_assert_nonnull (strstr (error->message, "2 processes have this name"));
  g_assert_nonnull (strstr (error->message, first));
  g_assert_nonnull (strstr (error->message, second));
  sysprof_cli_options_clear (&options);

  g_assert_cmpint ((int) write (stop[1], "..", 2), ==, 2);
  for (size_t i = 0; i < G_N_ELEMENTS (children); i++)
    g_assert_cmpint (waitpid (children[i], NULL, 0), ==, children[i]);
  close (stop[0]);
  close (stop[1]);
}

static void
test_words_for_another_machine (void)
{
  static const struct
  {
    const char *line;
    const char *there;
  } cases[] = {
    { "sysprof-cli --host there x.syscap", "" },
    { "sysprof-cli --host there --debuginfod -F 99 -fo x", "--debuginfod --frequency=99" },
    { "sysprof-cli --host there --no-debuginfod --no-decode", "--no-decode --no-debuginfod" },
    { "sysprof-cli --host there --report --flame x.svg --json-status --quiet", "--quiet" },
    { "sysprof-cli --host there -d 5 -- ls --report", "--duration=5" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CliOptions options = { 0 };
      GError *error = NULL;
      g_autofree char *there = NULL;

      parse (&options, cases[i].line, &error);
      g_assert_no_error (error);
      there = g_strjoinv (" ", options.remote_words);
      g_assert_cmpstr (there, ==, cases[i].there);
      sysprof_cli_options_clear (&options);
    }
}

static void
test_refuses_a_process_that_has_ended (void)
{
  g_autofree char *line = NULL;
  g_autoptr (GError) error = NULL;
  CliOptions options = { 0 };
  pid_t child = fork ();

  if (child == 0)
    _exit (0);
  g_assert_cmpint (waitpid (child, NULL, 0), ==, child);
  line = g_strdup_printf ("sysprof-cli --pid %d", (int) child);
  g_assert_false (parse (&options, line, &error));
  g_assert_nonnull (strstr (error->message, "no such process"));
  sysprof_cli_options_clear (&options);
}

static void
test_help_fits_into_80_columns (void)
{
  char *words[] = { "sysprof-cli", "--help", NULL };
  CliOptions options = { 0 };
  GError *error = NULL;
  g_auto (GStrv) lines = NULL;

  sysprof_cli_options_parse (&options, 2, words, &error);
  g_assert_no_error (error);
  lines = g_strsplit (options.help, "\n", -1);
  for (size_t i = 0; lines[i] != NULL; i++)
    g_assert_cmpuint (strlen (lines[i]), <, 80);
  sysprof_cli_options_clear (&options);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/options/words-behind-dashes-are-never-options",
                   test_words_behind_dashes_are_never_options);
  g_test_add_func ("/cli/options/words-behind-dashes-win-over-command",
                   test_words_behind_dashes_win_over_command);
  g_test_add_func ("/cli/options/stand-before-and-after-the-file",
                   test_options_stand_before_and_after_the_file);
  g_test_add_func ("/cli/options/defaults", test_defaults);
  g_test_add_func ("/cli/options/takes-what-people-type", test_takes_what_people_type);
  g_test_add_func ("/cli/options/leaves-counters-out", test_leaves_counters_out);
  g_test_add_func ("/cli/options/refuses-in-one-line-that-names-the-option",
                   test_refuses_in_one_line_that_names_the_option);
  g_test_add_func ("/cli/options/suggests-the-command-line-that-was-meant",
                   test_suggests_the_command_line_that_was_meant);
  g_test_add_func ("/cli/options/finds-a-process-by-name", test_finds_a_process_by_name);
  g_test_add_func ("/cli/options/words-for-another-machine", test_words_for_another_machine);
  g_test_add_func ("/cli/options/refuses-a-process-that-has-ended",
                   test_refuses_a_process_that_has_ended);
  g_test_add_func ("/cli/options/help-fits-into-80-columns", test_help_fits_into_80_columns);
  return g_test_run ();
}
