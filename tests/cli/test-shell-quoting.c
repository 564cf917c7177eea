// SPDX-License-Identifier: GPL-3.0-or-later

/* Quotes command lines for a remote shell. Each installed shell splits them again and must
 * print the original words. */

#include "cli/shell-quoting.h"

#include <string.h>

static const char *const words[] = {
  "",
  "plain",
  "a b",
  "it's",
  "\"",
  "$HOME `id` $(id)",
  "back\\slash",
  "\\",
  "\\\\'\\",
  "~",
  "*",
  "=ls",
  "%self",
  "^x",
  "!x",
  "#",
  ";&|<>(){}[]?",
  "two\nlines",
  "\t",
  "-x",
  "--a=b",
  "\303\274",
};

static void
test_shells_give_words_back (gconstpointer data)
{
  const char *shell = data;
  g_autofree char *path = g_find_program_in_path (shell);
  g_autoptr (GString) line = g_string_new ("printf '%s|'");
  g_autoptr (GString) expected = g_string_new (NULL);
  g_autofree char *got = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  if (path == NULL)
    {
      g_test_skip ("it is not installed");
      return;
    }
  for (size_t i = 0; i < G_N_ELEMENTS (words); i++)
    {
      sysprof_cli_append_shell_word (line, words[i]);
      g_string_append_printf (expected, "%s|", words[i]);
    }
  char *const argv[] = { path, (char *) "-c", line->str, NULL };

  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &got, NULL, &status,
                &error);
  g_assert_no_error (error);
  g_assert_cmpstr (got, ==, expected->str);
}

static void
test_words_of_options (void)
{
  gboolean yes = TRUE, no = FALSE;
  char *text = (char *) "a b", *none = NULL;
  char *texts[] = { (char *) "x", (char *) "", NULL }, **list = texts, **no_list = NULL;
  const GOptionEntry first[] = {
    { "yes", 'y', 0, G_OPTION_ARG_NONE, &yes, "", NULL },
    { "no", 0, 0, G_OPTION_ARG_NONE, &no, "", NULL },
    { "text", 0, 0, G_OPTION_ARG_STRING, &text, "", "" },
    { "none", 0, 0, G_OPTION_ARG_FILENAME, &none, "", "" },
    { NULL },
  };
  const GOptionEntry second[] = {
    { "list", 0, 0, G_OPTION_ARG_STRING_ARRAY, &list, "", "" },
    { "no-list", 0, 0, G_OPTION_ARG_STRING_ARRAY, &no_list, "", "" },
    { "left", 0, 0, G_OPTION_ARG_NONE, &yes, "", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &list, NULL, NULL },
    { NULL },
  };
  const OptionSection sections[] = { { "A", first }, { "B", second }, { NULL, NULL } };
  static const char *const left_out[] = { "left", NULL };
  static const char *const expected[] = { "--yes", "--text=a b", "--list=x", "--list=", NULL };
  g_auto (GStrv) given = sysprof_cli_words_of_options (sections, left_out);

  g_assert_true (g_strv_equal ((const char *const *) given, expected));
}

int
main (int argc, char **argv)
{
  static const char *const shells[] = { "sh", "bash", "zsh", "fish" };

  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (shells); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/cli/shell-quoting/%s-gives-words-back", shells[i]);

      g_test_add_data_func (path, shells[i], test_shells_give_words_back);
    }
  g_test_add_func ("/cli/shell-quoting/words-of-options", test_words_of_options);
  return g_test_run ();
}
