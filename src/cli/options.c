// SPDX-License-Identifier: GPL-3.0-or-later

/* Parses the command line of sysprof-cli.
 *
 * The words after a bare "--" are the command and are not interpreted. Numbers are parsed here
 * and not by GOption, whose messages do not name the permitted range. */

#include "cli/options.h"

#include "cli/habits.h"
#include "cli/numbers.h"
#include "cli/process-names.h"
#include "cli/shell-quoting.h"
#include "util/util.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define MAX_FREQUENCY    50000 /* samples per second; above the kernel's default limit */
#define MAX_CALL_DEPTH   1024  /* addresses; above any usual kernel.perf_event_max_stack */
#define MAX_STACK_SIZE   65536 /* bytes; a sample holds hardly less */
#define MAX_BUFFER_PAGES 65536 /* 256 MiB in pages of 4 KiB */
#define DEFAULT_CAPTURE  "capture.syscap"

/* Values of --unwind, and what they mean. */
static const char *const unwind_names[] = { "auto",          "tables", "copy",
                                            "frame-pointer", "none",   NULL };
static const UnwindMethod unwind_methods[] = { UNWIND_AUTO, UNWIND_TABLES, UNWIND_COPY,
                                               UNWIND_FRAME_POINTER, UNWIND_AUTO };
#define UNWIND_NAME_NONE 4 /* no stacks, by no method */

/* Values that need parsing after GOption. */
typedef struct
{
  char *command_line;
  char *frequency;
  char *duration;
  char *delay;
  char *max_size;
  char *call_depth;
  char *buffer_size;
  char *stack_size;
  char *unwind;
  char *completion; /* name of a shell */
  char **pids;
  char **tids;
  char **cpus;
  char **events;
  gboolean follow_forks;
  gboolean no_follow_forks;
  gboolean help;
  gboolean manual;   /* print the instruments' part of the manual page */
  gboolean accepted; /* switches without an effect */
} RawOptions;

static void
raw_options_clear (RawOptions *raw)
{
  g_free (raw->command_line);
  g_free (raw->frequency);
  g_free (raw->duration);
  g_free (raw->delay);
  g_free (raw->max_size);
  g_free (raw->call_depth);
  g_free (raw->buffer_size);
  g_free (raw->stack_size);
  g_free (raw->unwind);
  g_free (raw->completion);
  g_strfreev (raw->pids);
  g_strfreev (raw->tids);
  g_strfreev (raw->cpus);
  g_strfreev (raw->events);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RawOptions, raw_options_clear)

/* --- tables of options; the caller frees them --- */

static GOptionEntry *
capture_entries (CliOptions *o, RawOptions *raw)
{
  /* clang-format off */
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output, "Write the capture to FILE, - for standard output (default " DEFAULT_CAPTURE ")", "FILE" },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &o->force, "Overwrite an existing capture", NULL },
    { "duration", 'd', 0, G_OPTION_ARG_STRING, &raw->duration, "Stop after SECONDS, or a time with a unit: 500ms, 2min", "SECONDS" },
    { "max-size", 0, 0, G_OPTION_ARG_STRING, &raw->max_size, "Stop when the capture reaches BYTES (suffixes K, M, G)", "BYTES" },
    { "buffer-size", 0, 0, G_OPTION_ARG_STRING, &raw->buffer_size, "Set the size of the write buffer, in pages", "PAGES" },
    { "no-decode", 0, 0, G_OPTION_ARG_NONE, &o->no_decode, "Do not add symbols at the end", NULL },
    { "debuginfod", 0, 0, G_OPTION_ARG_NONE, &o->debuginfod, "Fetch debug info from debuginfod (default when DEBUGINFOD_URLS is set)", NULL },
    { "no-debuginfod", 0, 0, G_OPTION_ARG_NONE, &o->no_debuginfod, "Never contact debuginfod servers", NULL },
    { "merge", 0, 0, G_OPTION_ARG_NONE, &o->merge, "Join captures and write the result to standard output", NULL },
    { "host", 0, 0, G_OPTION_ARG_STRING, &o->host, "Record on HOST over ssh, write the capture here", "[USER@]HOST" },
    { "far-end", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &o->far_end, NULL, "TOKEN" },
    { NULL }
  };
  /* clang-format on */
  return g_memdup2 (entries, sizeof entries);
}

static GOptionEntry *
command_entries (CliOptions *o, RawOptions *raw)
{
  /* clang-format off */
  const GOptionEntry entries[] = {
    { "command", 'c', 0, G_OPTION_ARG_STRING, &raw->command_line, "Run COMMAND (one shell-quoted string); same as -- COMMAND", "COMMAND" },
    { "env", 'e', 0, G_OPTION_ARG_STRING_ARRAY, &o->environment, "Set a variable in the command's environment", "VAR=VALUE" },
    { "record-environment", 0, 0, G_OPTION_ARG_NONE, &o->record_environment, "Store the command's environment in the capture (it may contain secrets)", NULL },
    { "use-trace-fd", 0, 0, G_OPTION_ARG_NONE, &o->use_trace_fd, "Let the command write its own capture (SYSPROF_TRACE_FD); merged at the end", NULL },
    { "gjs", 0, 0, G_OPTION_ARG_NONE, &o->gjs, "Record JavaScript stacks of GJS programs", NULL },
    { "gtk", 0, 0, G_OPTION_ARG_NONE, &raw->accepted, "Ignored; marks of GTK 4 are always recorded", NULL },
    { "runtime-names", 0, 0, G_OPTION_ARG_NONE, &o->runtime_names,
      "Make Python, Node.js and Java name their functions", NULL },
    { "exit-status", 0, 0, G_OPTION_ARG_NONE, &o->exit_status, "Exit with the status of the command", NULL },
    { NULL }
  };
  /* clang-format on */
  return g_memdup2 (entries, sizeof entries);
}

static GOptionEntry *
sampling_entries (CliOptions *o, RawOptions *raw)
{
  /* clang-format off */
  const GOptionEntry entries[] = {
    { "frequency", 'F', 0, G_OPTION_ARG_STRING, &raw->frequency, "Take HZ samples per second and CPU (default 1000)", "HZ" },
    { "event", 0, 0, G_OPTION_ARG_STRING_ARRAY, &raw->events, "Sample on this event (default cycles, else cpu-clock)", "NAME[:PERIOD]" },
    { "pid", 'p', 0, G_OPTION_ARG_STRING_ARRAY, &raw->pids, "Sample only this process and what it starts", "PID|NAME" },
    { "tid", 0, 0, G_OPTION_ARG_STRING_ARRAY, &raw->tids, "Sample only this thread and what it starts", "TID" },
    { "cpu", 0, 0, G_OPTION_ARG_STRING_ARRAY, &raw->cpus, "Sample only these CPUs, like 0,2-3", "LIST" },
    { "cgroup", 0, 0, G_OPTION_ARG_FILENAME, &o->cgroup, "Sample only this control group", "PATH" },
    { "user", 0, 0, G_OPTION_ARG_STRING, &o->user, "Sample only processes of this user", "NAME" },
    { "follow-forks", 0, 0, G_OPTION_ARG_NONE, &raw->follow_forks, "Follow forks of --pid and --tid (default)", NULL },
    { "no-follow-forks", 0, 0, G_OPTION_ARG_NONE, &raw->no_follow_forks, "Do not follow forks of --pid and --tid", NULL },
    { "delay", 0, 0, G_OPTION_ARG_STRING, &raw->delay, "Wait SECONDS before sampling", "SECONDS" },
    { "kernel-only", 0, 0, G_OPTION_ARG_NONE, &o->sampler.kernel_only, "Record only the kernel part of stacks", NULL },
    { "user-only", 0, 0, G_OPTION_ARG_NONE, &o->sampler.user_only, "Record only the user part of stacks", NULL },
    { "call-depth", 0, 0, G_OPTION_ARG_STRING, &raw->call_depth, "Record at most N addresses per stack", "N" },
    { "unwind", 0, 0, G_OPTION_ARG_STRING, &raw->unwind, "Choose how to unwind user stacks: auto, tables, copy, frame-pointer, none", "HOW" },
    { "stack-size", 0, 0, G_OPTION_ARG_STRING, &raw->stack_size, "Copy BYTES of stack per sample with --unwind copy (default 16384)", "BYTES" },
    { "no-perf", 0, 0, G_OPTION_ARG_NONE, &o->no_perf, "Do not sample", NULL },
    { "no-sysprofd", 0, 0, G_OPTION_ARG_NONE, &o->no_sysprofd, "Do not use the privileged helper", NULL },
    { NULL }
  };
  /* clang-format on */
  return g_memdup2 (entries, sizeof entries);
}

static GOptionEntry *
display_entries (CliOptions *o, RawOptions *raw)
{
  /* clang-format off */
  const GOptionEntry entries[] = {
    { "quiet", 0, 0, G_OPTION_ARG_NONE, &o->quiet, "Print only warnings and errors", NULL },
    { "verbose", 0, 0, G_OPTION_ARG_NONE, &o->verbose, "Also report default data sources that are not available", NULL },
    { "json-status", 0, 0, G_OPTION_ARG_NONE, &o->json_status, "Print one JSON object per second on standard error", NULL },
    { "report", 0, 0, G_OPTION_ARG_NONE, &o->report, "Print the summary when done", NULL },
    { "flame", 0, 0, G_OPTION_ARG_FILENAME, &o->flame, "Write the flame graph when done", "FILE.svg|FILE.html" },
    { "version", 0, 0, G_OPTION_ARG_NONE, &o->version, "Print the version", NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &raw->help, "Print this help", NULL },
    { "completion", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &raw->completion, NULL, "SHELL" },
    { "manual", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &raw->manual, NULL, NULL },
    { "top", 0, 0, G_OPTION_ARG_NONE, &o->top, "Show a live view of the hottest functions, like top", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->files, NULL, NULL },
    { NULL }
  };
  /* clang-format on */
  return g_memdup2 (entries, sizeof entries);
}

/* --- parsing --- */

static char *
dup_usage (const OptionSection *sections)
{
  return sysprof_usage_help (
      "Usage: sysprof-cli [OPTION...] [CAPTURE] [-- COMMAND [ARGUMENT...]]\n"
      "       sysprof-cli --host HOST [OPTION...] [CAPTURE] [-- COMMAND [ARGUMENT...]]\n"
      "       sysprof-cli --merge CAPTURE CAPTURE... >JOINED\n"
      "       sysprof-cli mark GROUP NAME [MESSAGE] [-- COMMAND [ARGUMENT...]]\n"
      "\n"
      "Profile the whole machine until Ctrl+C, or until COMMAND exits.\n",
      sections,
      "\nExamples:\n"
      "  sysprof-cli -d 10 --report\n"
      "  sysprof-cli -f --flame build.html build.syscap -- make -j8\n"
      "\n"
      "See sysprof-cli(1). To view a capture: sysprof-report(1).\n");
}

/* Returns whether a word that is not an option would name the capture to record. */
static gboolean
records (const CliOptions *o, const RawOptions *raw)
{
  return !o->merge && !o->version && !raw->help && !raw->manual && raw->completion == NULL &&
         raw->command_line == NULL;
}

static gboolean
parse_words (CliOptions *o,
             RawOptions *raw,
             const char *const *words,
             char *const *command_words,
             GError **error)
{
  /* Options about the output, which is on this machine. */
  static const char *const not_for_there[] = { "output", "force",   "host",        "far-end",
                                               "merge",  "report",  "flame",       "top",
                                               "help",   "version", "json-status", "completion",
                                               "manual", NULL };
  static const CompletionValues values[] = { { "unwind", unwind_names }, { NULL } };
  g_autofree GOptionEntry *capture = capture_entries (o, raw);
  g_autofree GOptionEntry *command = command_entries (o, raw);
  g_autofree GOptionEntry *sampling = sampling_entries (o, raw);
  g_autofree GOptionEntry *display = display_entries (o, raw);
  const OptionSection sections[] = {
    { "Capture", capture },   { "Command", command },
    { "Sampling", sampling }, { "Counters and other data", o->instruments.entries },
    { "Output", display },    { NULL, NULL },
  };
  static const CompletionWord first_words[] = {
    { "mark", "Write a mark into the recording that this runs in" },
    { NULL },
  };
  const Completion completion = { "sysprof-cli", sections, first_words, values };
  g_autoptr (GError) local = NULL;
  g_auto (GStrv) rest = sysprof_usage_parse ("sysprof-cli", sections, sysprof_cli_option_advice,
                                             words, NULL, &local);
  size_t name = sysprof_usage_find_word (sections, words, 1);

  /* First, because the options after a program are those of the program. */
  if (name > 0 && records (o, raw) &&
      !sysprof_cli_check_capture_name (sections, words, name, command_words, error))
    return FALSE;
  if (rest == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (o->host != NULL)
    o->remote_words = sysprof_cli_words_of_options (sections, not_for_there);
  if (raw->completion != NULL)
    {
      o->help = sysprof_completion_script (&completion, raw->completion, error);
      return o->help != NULL;
    }
  if (raw->help)
    o->help = dup_usage (sections);
  else if (raw->manual)
    o->help = sysprof_instrument_manual ();
  return TRUE;
}

G_GNUC_PRINTF (2, 3)
static gboolean
refuse (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error,
                     g_error_new_valist (SYSPROF_ERROR, SYSPROF_ERROR_FAILED, format, args));
  va_end (args);
  return FALSE;
}

static gboolean
read_whole_numbers (CliOptions *o, const RawOptions *raw, GError **error)
{
  const struct
  {
    const char *option;
    const char *text;
    guint max;
    const char *unit;
    guint *value;
  } numbers[] = {
    { "frequency", raw->frequency, MAX_FREQUENCY, "samples per second", &o->sampler.frequency },
    { "call-depth", raw->call_depth, MAX_CALL_DEPTH, "addresses", &o->sampler.call_depth },
    { "buffer-size", raw->buffer_size, MAX_BUFFER_PAGES, "pages", &o->buffer_pages },
  };
  uint64_t value;

  for (size_t i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      if (numbers[i].text == NULL)
        continue;
      if (!sysprof_cli_read_number (numbers[i].text, 1, numbers[i].max, &value))
        return refuse (error, "--%s %s: give a number of %s from 1 to %u.", numbers[i].option,
                       numbers[i].text, numbers[i].unit, numbers[i].max);
      *numbers[i].value = (guint) value;
    }
  if (raw->stack_size != NULL)
    {
      uint64_t page_size = (uint64_t) sysconf (_SC_PAGESIZE);

      if (!sysprof_cli_read_number (raw->stack_size, 0, MAX_STACK_SIZE, &value) ||
          value % page_size != 0)
        return refuse (error,
                       "--stack-size %s: give a multiple of %" PRIu64 " bytes up to %d, or 0.",
                       raw->stack_size, page_size, MAX_STACK_SIZE);
      o->sampler.stack_size = (guint) value;
    }
  if (raw->max_size != NULL && (!sysprof_cli_read_size (raw->max_size, &o->max_size)))
    return refuse (error, "--max-size %s: give a number of bytes above 0, as 500M or 2G.",
                   raw->max_size);
  return TRUE;
}

static gboolean
read_times (CliOptions *o, const RawOptions *raw, GError **error)
{
  if (raw->duration != NULL &&
      (!sysprof_cli_read_duration (raw->duration, &o->duration_nsec) || o->duration_nsec == 0))
    return refuse (error, "--duration %s: give a time above 0, as 10, 0.5, 500ms or 2min.",
                   raw->duration);
  if (raw->delay != NULL && !sysprof_cli_read_duration (raw->delay, &o->sampler.delay_nsec))
    return refuse (error, "--delay %s: give a time, as 10, 0.5, 500ms or 2min.", raw->delay);
  return TRUE;
}

/* "12", and "12,15" as perf takes it */
static gboolean
read_id_list (const char *option, const char *list, GArray *ids, GError **error)
{
  g_auto (GStrv) words = g_strsplit (list, ",", -1);

  for (size_t i = 0; words[i] != NULL; i++)
    {
      uint64_t value;
      gint id;

      if (!sysprof_cli_read_number (words[i], 1, INT32_MAX, &value))
        return refuse (error, "%s %s: give a number, as ps shows it.", option, list);
      id = (gint) value;
      /* EPERM means that the process exists. */
      if (kill (id, 0) < 0 && errno == ESRCH)
        return refuse (error, "%s %s: there is no such process or thread now.", option,
                       words[i]);
      g_array_append_val (ids, id);
    }
  return TRUE;
}

static gboolean
read_processes (char **words, GArray *pids, GError **error)
{
  for (size_t i = 0; words != NULL && words[i] != NULL; i++)
    if (strspn (words[i], "-0123456789,") == strlen (words[i]))
      {
        if (!read_id_list ("--pid", words[i], pids, error))
          return FALSE;
      }
    else
      {
        gint pid = sysprof_cli_find_process (words[i], error);

        if (pid == 0)
          return FALSE;
        g_array_append_val (pids, pid);
      }
  return TRUE;
}

static gboolean
read_threads (char **words, GArray *tids, GError **error)
{
  for (size_t i = 0; words != NULL && words[i] != NULL; i++)
    if (!read_id_list ("--tid", words[i], tids, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_targets (CliOptions *o, RawOptions *raw, GError **error)
{
  if (!read_processes (raw->pids, o->pids, error) || !read_threads (raw->tids, o->tids, error))
    return FALSE;
  for (size_t i = 0; raw->cpus != NULL && raw->cpus[i] != NULL; i++)
    {
      long n_cpus = sysconf (_SC_NPROCESSORS_CONF);

      if (!sysprof_cli_read_cpu_list (raw->cpus[i], (unsigned) n_cpus, o->cpus))
        return refuse (error, "--cpu %s: give processors from 0 to %ld, as 0,2-3.",
                       raw->cpus[i], n_cpus - 1);
    }
  if (o->user != NULL)
    {
      uint64_t uid;

      if (!sysprof_cli_read_number (o->user, 0, UINT32_MAX - 1, &uid) &&
          getpwnam (o->user) == NULL)
        return refuse (error, "--user %s: there is no such user; give a login name.", o->user);
    }
  o->events = g_steal_pointer (&raw->events);
  if (o->sampler.kernel_only && o->sampler.user_only)
    return refuse (error, "--kernel-only and --user-only leave nothing to record; give one.");
  if (raw->follow_forks && raw->no_follow_forks)
    return refuse (error,
                   "--follow-forks and --no-follow-forks contradict each other; give one.");
  o->sampler.no_follow_forks = raw->no_follow_forks;
  return TRUE;
}

static gboolean
read_unwind (CliOptions *o, const char *unwind, GError **error)
{
  size_t i;

  if (unwind == NULL)
    {
      /* --stack-size implies copies. */
      if (o->sampler.stack_size > 0)
        o->sampler.unwind = UNWIND_COPY;
      return TRUE;
    }
  if (!sysprof_usage_check_choice ("unwind", unwind, unwind_names, &i, error))
    return FALSE;
  o->sampler.unwind = unwind_methods[i];
  o->sampler.no_stacks = i == UNWIND_NAME_NONE;
  return TRUE;
}

/* Processes and users are looked up on the machine that records. */
static gboolean
read_host (CliOptions *o, GError **error)
{
  /* ssh takes a host that begins with a dash for an option, and some of its options run
   * programs. */
  if (o->host[0] == '-' || o->host[strcspn (o->host, " \t\n")] != '\0' || o->host[0] == '\0')
    return refuse (error, "--host '%s': give [USER@]HOST, as for ssh.", o->host);
  if (o->merge)
    return refuse (error, "--merge joins files that are here: leave --host out.");
  if (o->top)
    return refuse (
        error,
        "--top shows what runs where it is started: leave --host out, and type: ssh -t %s sysprof-cli --top",
        o->host);
  return TRUE;
}

static gboolean
read_command (CliOptions *o, const RawOptions *raw, char **words, GError **error)
{
  if (words != NULL && words[0] != NULL)
    o->command = g_strdupv (words);
  else if (words != NULL)
    return refuse (error, "No command after --: give one, or omit --.");
  else if (raw->command_line != NULL)
    {
      g_autoptr (GError) cause = NULL;

      if (!g_shell_parse_argv (raw->command_line, NULL, &o->command, &cause))
        return refuse (error, "--command '%s': %s", raw->command_line, cause->message);
    }
  if (o->command == NULL && o->exit_status)
    return refuse (error, "--exit-status needs a command to run: add -- COMMAND.");
  return sysprof_instrument_selection_check (&o->instruments, o->command != NULL, error);
}

static gboolean
read_files (CliOptions *o, GError **error)
{
  guint n_files = o->files != NULL ? g_strv_length (o->files) : 0;

  if (o->merge)
    {
      if (n_files < 2)
        return refuse (error, "--merge needs at least two captures to join.");
      if (o->output != NULL || o->command != NULL)
        return refuse (error,
                       "--merge joins to standard output and runs nothing: leave %s out, "
                       "and add >FILE.",
                       o->output != NULL ? "--output" : "the command");
      return TRUE;
    }
  if (n_files > 1 || (n_files == 1 && o->output != NULL))
    return refuse (
        error, "'%s': there is already a file to write to; to run a command, put -- before it.",
        o->files[n_files - 1]);
  if (o->output == NULL && n_files == 1)
    o->output = g_strdup (o->files[0]);
  o->old_file = o->force ? OUTPUT_REPLACE_OLD : OUTPUT_REFUSE_OLD;
  if (o->output == NULL && !o->top)
    {
      o->output = g_strdup (DEFAULT_CAPTURE);
      if (!o->force)
        o->old_file = OUTPUT_RENAME_OLD;
    }
  if (o->output == NULL && !o->report && o->flame == NULL)
    o->no_decode = TRUE; /* no output is kept */
  if (o->flame != NULL && !g_str_has_suffix (o->flame, ".svg") &&
      !g_str_has_suffix (o->flame, ".html"))
    return refuse (error, "--flame %s: give a file name that ends in .svg or .html.", o->flame);
  if (o->flame != NULL && o->output != NULL)
    {
      g_autofree char *output = g_canonicalize_filename (o->output, NULL);
      g_autofree char *flame = g_canonicalize_filename (o->flame, NULL);

      if (g_str_equal (output, flame))
        return refuse (error, "--flame %s: the capture is written there; name another file.",
                       o->flame);
    }
  for (size_t i = 0; o->environment != NULL && o->environment[i] != NULL; i++)
    if (!sysprof_cli_check_variable (o->environment[i], error))
      return FALSE;
  return TRUE;
}

gboolean
sysprof_cli_options_parse (CliOptions *o, int argc, char **argv, GError **error)
{
  g_auto (RawOptions) raw = { 0 };
  g_autofree const char **words = g_new0 (const char *, (size_t) argc + 1);
  char **command = NULL;
  int n_words = 0;

  *o = (CliOptions){ .pids = g_array_new (FALSE, FALSE, sizeof (gint)),
                     .tids = g_array_new (FALSE, FALSE, sizeof (gint)),
                     .cpus = g_array_new (FALSE, FALSE, sizeof (gint)) };
  sysprof_instrument_selection_init (&o->instruments);
  /* Cuts the command off here, because GOption would remove the "--" and reorder the words
   * around it. */
  for (; n_words < argc && command == NULL; n_words++)
    {
      if (n_words > 0 && g_str_equal (argv[n_words], "--"))
        {
          command = argv + n_words + 1;
          break;
        }
      words[n_words] = argv[n_words];
    }

  if (!parse_words (o, &raw, words, command, error))
    return FALSE;
  if (o->version || o->help != NULL)
    return TRUE;
  if (o->host != NULL)
    return read_host (o, error) && read_whole_numbers (o, &raw, error) &&
           read_times (o, &raw, error) && read_command (o, &raw, command, error) &&
           read_files (o, error);
  if (!read_whole_numbers (o, &raw, error) || !read_times (o, &raw, error) ||
      !read_targets (o, &raw, error) || !read_unwind (o, raw.unwind, error) ||
      !read_command (o, &raw, command, error) || !read_files (o, error))
    return FALSE;

  o->sampler.pids = (const gint *) (const void *) o->pids->data;
  o->sampler.n_pids = o->pids->len;
  o->sampler.tids = (const gint *) (const void *) o->tids->data;
  o->sampler.n_tids = o->tids->len;
  o->sampler.cpus = (const gint *) (const void *) o->cpus->data;
  o->sampler.n_cpus = o->cpus->len;
  o->sampler.cgroup = o->cgroup;
  o->sampler.user = o->user;
  o->sampler.events = (const char *const *) o->events;
  return TRUE;
}

void
sysprof_cli_options_clear (CliOptions *o)
{
  g_strfreev (o->files);
  g_free (o->host);
  g_strfreev (o->remote_words);
  g_free (o->far_end);
  g_free (o->output);
  g_strfreev (o->command);
  g_strfreev (o->environment);
  g_clear_pointer (&o->pids, g_array_unref);
  g_clear_pointer (&o->tids, g_array_unref);
  g_clear_pointer (&o->cpus, g_array_unref);
  g_free (o->cgroup);
  g_free (o->user);
  g_strfreev (o->events);
  sysprof_instrument_selection_clear (&o->instruments);
  g_free (o->flame);
  g_free (o->help);
  *o = (CliOptions){ 0 };
}
