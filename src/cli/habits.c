// SPDX-License-Identifier: GPL-3.0-or-later

/* Words and options of perf. See habits.h. */

#include "cli/habits.h"

#include "cli/shell-quoting.h"

#include <string.h>
#include <unistd.h>

/* clang-format off */
const OptionAdvice sysprof_cli_option_advice[] = {
  { "-a", "the whole machine is sampled without an option; leave -a out." },
  { "--all-cpus", "the whole machine is sampled without an option; leave --all-cpus out." },
  { "-g", "call stacks are always recorded; --unwind selects how." },
  { "--call-graph", "call stacks are always recorded; --unwind selects how." },
  { "--max-stack", "use --call-depth N.", "--call-depth" },
  { "-n", "use --no-perf to record without samples." },
  { "--no-samples", "use --no-perf." },
  { "--count", "use --event NAME:PERIOD." },
  { "-C", "use --cpu LIST.", "--cpu" },
  { "-t", "use --tid TID.", "--tid" },
  { "-u", "use --user NAME.", "--user" },
  { "--uid", "use --user NAME.", "--user" },
  { "-G", "use --cgroup PATH.", "--cgroup" },
  { "-D", "use --delay SECONDS." },
  { "-i", "use --no-follow-forks." },
  { "--no-inherit", "use --no-follow-forks." },
  { "-m", "use --buffer-size PAGES.", "--buffer-size" },
  { "--mmap-pages", "use --buffer-size PAGES.", "--buffer-size" },
  { "--compression-level", "name a capture that ends in .syscap.zst to compress it." },
  { "--switch-events", "use --scheduler." },
  { "--all-user", "use --user-only." },
  { "--all-kernel", "use --kernel-only." },
  { "-q", "use --quiet." },
  { "-v", "use --verbose." },
  { "-V", "use --version." },
  { "--timeout", "use --duration SECONDS." },
  { NULL },
};

/* The first words of perf's command lines. `record` is handled by itself. */
static const struct
{
  const char *word;
  const char *meant;
} commands_of_perf[] = {
  { "record", NULL },
  { "report", "To view a capture: sysprof-report" },
  { "top", "For a live view: sysprof-cli --top" },
  { "stat", "To record counters and print a summary: sysprof-cli --report -- COMMAND" },
  { "annotate", "To view source lines: sysprof-report source --focus FUNCTION" },
  { "script", "To view single samples: sysprof-report samples" },
  { "trace", "To record where threads wait: sysprof-cli --off-cpu -- COMMAND" },
  { "sched", "To record where threads wait: sysprof-cli --off-cpu -- COMMAND" },
  { "lock", "To record where threads wait: sysprof-cli --off-cpu -- COMMAND" },
  { "list", "Events are described under --event in the manual page: man sysprof-cli" },
  { "help", "To list all options: sysprof-cli --help" },
};
/* clang-format on */

static void
append_words (GString *line, const char *const *words, size_t n)
{
  for (size_t i = 0; i < n; i++)
    sysprof_cli_append_shell_word (line, words[i]);
}

static void
append_command (GString *line, char *const *command)
{
  g_string_append (line, " --");
  append_words (line, (const char *const *) command, g_strv_length ((char **) command));
}

/* NULL if perf has no such option, or if it is also ours. */
static const OptionAdvice *
find_option_of_perf (const char *word)
{
  for (const OptionAdvice *row = sysprof_cli_option_advice; row->option != NULL; row++)
    if (strncmp (word, row->option, strcspn (word, "=")) == 0 &&
        row->option[strcspn (word, "=")] == '\0')
      return row;
  return NULL;
}

static bool
is_kind_of_stacks (const char *const *word)
{
  static const char *const kinds[] = { "fp", "dwarf", "lbr", NULL };

  return g_str_equal (word[-1], "--call-graph") && g_strv_contains (kinds, word[0]);
}

/* The program of perf's command line; 0 = none. */
static size_t
find_program (const OptionSection *sections, const char *const *words, size_t from)
{
  size_t at = sysprof_usage_find_word (sections, words, from);

  while (at != 0)
    {
      const OptionAdvice *option = find_option_of_perf (words[at - 1]);
      bool is_value =
          option != NULL && option->instead != NULL && strchr (words[at - 1], '=') == NULL;

      if (!is_value && !is_kind_of_stacks (&words[at]))
        break;
      at = sysprof_usage_find_word (sections, words, at + 1);
    }
  return at;
}

/* Appends the command line that does what `perf record` would: without the options that are
 * not needed here, and with "--" before the program. */
static void
append_record (GString *line,
               const OptionSection *sections,
               const char *const *words,
               size_t at,
               char *const *command)
{
  size_t program = find_program (sections, words, at + 1);

  append_words (line, words + 1, at - 1);
  for (size_t i = at + 1; words[i] != NULL && i != program; i++)
    {
      const OptionAdvice *option = find_option_of_perf (words[i]);

      if (g_str_equal (words[i], "-e"))
        g_string_append (line, " --event");
      else if (option != NULL && option->instead != NULL)
        g_string_append_printf (line, " %s%s", option->instead,
                                words[i] + strcspn (words[i], "="));
      else if (option == NULL && !is_kind_of_stacks (&words[i]))
        sysprof_cli_append_shell_word (line, words[i]);
    }
  if (program != 0)
    append_command (line, (char *const *) words + program);
  else if (command != NULL)
    append_command (line, command);
}

gboolean
sysprof_cli_check_capture_name (const OptionSection *sections,
                                const char *const *words,
                                size_t at,
                                char *const *command,
                                GError **error)
{
  const char *word = words[at];
  g_autofree char *path = NULL;
  g_autoptr (GString) line = g_string_new (NULL);

  if (strchr (word, '/') != NULL || strstr (word, ".syscap") != NULL ||
      access (word, F_OK) == 0)
    return TRUE;
  for (size_t i = 0; i < G_N_ELEMENTS (commands_of_perf); i++)
    if (g_str_equal (word, commands_of_perf[i].word))
      {
        if (commands_of_perf[i].meant != NULL)
          g_string_assign (line, commands_of_perf[i].meant);
        else
          {
            g_string_assign (line, "To record: sysprof-cli");
            append_record (line, sections, words, at, command);
          }
        g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                     "'%s' is a command of perf. Write ./%s for a capture of that name. %s",
                     word, word, line->str);
        return FALSE;
      }

  path = command == NULL ? g_find_program_in_path (word) : NULL;
  if (path == NULL)
    return TRUE;
  append_words (line, words + 1, at - 1);
  append_command (line, (char *const *) words + at);
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
               "'%s' is a program. Write ./%s for a capture of that name. To profile it: "
               "sysprof-cli%s",
               word, word, line->str);
  return FALSE;
}

gboolean
sysprof_cli_check_variable (const char *variable, GError **error)
{
  static const char *const events[] = { "cycles", "instructions", "branches", "faults", NULL };

  if (variable[0] == '=' || variable[0] == '\0')
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED, "--env %s: give VAR=VALUE.",
                 variable);
  /* Names of most events contain a character that no variable of a shell has. */
  else if (strchr (variable, '=') == NULL &&
           (strpbrk (variable, "-:") != NULL || g_strv_contains (events, variable)))
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                 "--env %s: this would set a variable of the command; give VAR=VALUE. To "
                 "sample on an event: --event %s",
                 variable, variable);
  else
    return TRUE;
  return FALSE;
}
