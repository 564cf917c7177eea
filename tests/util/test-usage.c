// SPDX-License-Identifier: GPL-3.0-or-later

/* Parsing of options and the text of --help. */

#include "util/usage.h"

#include <string.h>

static const GOptionEntry first[] = {
  { "force", 'f', 0, G_OPTION_ARG_NONE, NULL, "Overwrite", NULL },
  { "frequency", 'F', 0, G_OPTION_ARG_STRING, NULL, "Samples per second", "HZ" },
  { NULL },
};
static const GOptionEntry second[] = {
  { "env", 'e', 0, G_OPTION_ARG_STRING_ARRAY, NULL, "Environment", "VAR=VALUE" },
  { "qui-et", 0, 0, G_OPTION_ARG_NONE, NULL, "Print nothing", NULL },
  { "secret", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, NULL, "Nobody sees this", NULL },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, NULL, NULL, NULL },
  { NULL },
};
static const OptionSection sections[] = { { "One", first }, { "Two", second }, { NULL, NULL } };

static void
test_values_may_stick_to_their_letter (void)
{
  static const struct
  {
    const char *line;
    const char *split;
  } cases[] = {
    { "cli -F99 x", "cli|-F|99|x" },
    { "cli -fF99 x", "cli|-fF|99|x" },
    { "cli -F 99 x", "cli|-F|99|x" },
    { "cli -eA=-F9 -", "cli|-e|A=-F9|-" },
    /* Values are never looked at. */
    { "cli -e -F9 --env -fF9 -f", "cli|-e|-F9|--env|-fF9|-f" },
    { "cli --env=-F9 --frequency=5", "cli|--env=-F9|--frequency=5" },
    /* Unknown words remain, so that they are refused later. */
    { "cli -x9 --what=is", "cli|-x9|--what=is" },
    { "-F99", "-F99" },
    { "cli -f -- -F99 --force=no", "cli|-f|--|-F99|--force=no" },
    { "cli -F -- -F99", "cli|-F|--|-F|99" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) words = g_strsplit (cases[i].line, " ", -1);
      GError *error = NULL;
      g_auto (GStrv) split =
          sysprof_usage_split (sections, (const char *const *) words, &error);
      g_autofree char *joined = NULL;

      g_assert_no_error (error);
      joined = g_strjoinv ("|", split);
      g_assert_cmpstr (joined, ==, cases[i].split);
    }
}

static void
test_switches_take_no_value (void)
{
  const char *const words[] = { "cli", "--force=no", NULL };
  g_autoptr (GError) error = NULL;

  g_assert_null (sysprof_usage_split (sections, words, &error));
  g_assert_cmpstr (error->message, ==, "--force=no: --force takes no value; leave '=no' out.");
}

static void
test_unknown_options_get_advice (void)
{
  static const OptionAdvice advice[] = {
    { "-g", "stacks are always recorded." },
    { "--sort", "use --order." },
    { NULL, NULL },
  };
  static const struct
  {
    const char *line;
    const char *advice;
  } cases[] = {
    { "cli --froce", "Unknown option. Did you mean --force? prog --help lists all." },
    { "cli -e --forcee --frequncy=3",
      "Unknown option. Did you mean --frequency? prog --help lists all." },
    { "cli --something-else", "Unknown option. prog --help lists all options." },
    { "cli -z", "Unknown option. prog --help lists all options." },
    { "cli --freq=9", "Unknown option. Did you mean --frequency? prog --help lists all." },
    { "cli --qiet", "Unknown option. Did you mean --qui-et? prog --help lists all." },
    { "cli --f", "Unknown option. prog --help lists all options." },
    { "cli --secre", "Unknown option. prog --help lists all options." },
    { "cli -F -g -fg ls", "-g: stacks are always recorded." },
    { "cli x --sort=y", "--sort: use --order." },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) words = g_strsplit (cases[i].line, " ", -1);
      GError *error =
          g_error_new_literal (G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, "Unknown option");

      sysprof_usage_explain ("prog", sections, advice, (const char *const *) words, &error);
      g_assert_cmpstr (error->message, ==, cases[i].advice);
      g_error_free (error);
    }
}

static void
test_finds_the_first_word (void)
{
  static const struct
  {
    const char *line;
    size_t word;
  } cases[] = {
    { "cli make", 1 },
    { "cli -F 99 make -j", 3 },
    { "cli -F99 --env A make", 4 },
    { "cli -fF 9 --env=A x", 4 },
    { "cli --what x", 2 },
    { "cli -f -e x", 0 },
    { "cli", 0 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) words = g_strsplit (cases[i].line, " ", -1);

      g_assert_cmpuint (sysprof_usage_find_word (sections, (const char *const *) words, 1), ==,
                        cases[i].word);
    }
}

static void
test_help_has_sections (void)
{
  g_autofree char *help = sysprof_usage_help ("Usage\n", sections, "After\n");

  g_assert_true (g_str_has_prefix (help, "Usage\n\nOne:"));
  g_assert_true (g_str_has_suffix (help, "\nAfter\n"));
  g_assert_nonnull (strstr (help, "\nOne:\n  -f, --force                    Overwrite\n"));
  g_assert_nonnull (strstr (help, "\nTwo:\n  -e, --env=VAR=VALUE            Environment\n"));
  g_assert_null (strstr (help, "secret"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/util/usage/values-may-stick-to-their-letter",
                   test_values_may_stick_to_their_letter);
  g_test_add_func ("/util/usage/switches-take-no-value", test_switches_take_no_value);
  g_test_add_func ("/util/usage/unknown-options-get-advice", test_unknown_options_get_advice);
  g_test_add_func ("/util/usage/finds-the-first-word", test_finds_the_first_word);
  g_test_add_func ("/util/usage/help-has-sections", test_help_has_sections);
  return g_test_run ();
}
