// SPDX-License-Identifier: GPL-3.0-or-later

/* Rebuilds and quotes the command line for another machine's shell. See shell-quoting.h. */

#include "cli/shell-quoting.h"

#include <string.h>

/* Excludes `~`, which means a home directory, `%` and `^`, which older versions of fish
 * interpret, and a leading `=`, which zsh interprets. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:,+@="

static void
add_texts (GPtrArray *words, const char *name, char *const *texts)
{
  for (size_t i = 0; texts != NULL && texts[i] != NULL; i++)
    g_ptr_array_add (words, g_strdup_printf ("--%s=%s", name, texts[i]));
}

static void
add_option (GPtrArray *words, const GOptionEntry *entry)
{
  const char *text;

  switch (entry->arg)
    {
    case G_OPTION_ARG_NONE:
      if (*(const gboolean *) entry->arg_data)
        g_ptr_array_add (words, g_strdup_printf ("--%s", entry->long_name));
      break;
    case G_OPTION_ARG_STRING:
    case G_OPTION_ARG_FILENAME:
      text = *(char *const *) entry->arg_data;
      if (text != NULL)
        g_ptr_array_add (words, g_strdup_printf ("--%s=%s", entry->long_name, text));
      break;
    case G_OPTION_ARG_STRING_ARRAY:
    case G_OPTION_ARG_FILENAME_ARRAY:
      add_texts (words, entry->long_name, *(char **const *) entry->arg_data);
      break;
    case G_OPTION_ARG_INT:
    case G_OPTION_ARG_CALLBACK:
    case G_OPTION_ARG_DOUBLE:
    case G_OPTION_ARG_INT64:
    default:
      g_assert_not_reached (); /* not an option of GOption: texts are parsed later, with better messages */
    }
}

char **
sysprof_cli_words_of_options (const OptionSection *sections, const char *const *left_out)
{
  GPtrArray *words = g_ptr_array_new ();

  for (const OptionSection *section = sections; section->title != NULL; section++)
    for (const GOptionEntry *entry = section->entries; entry->long_name != NULL; entry++)
      if (entry->long_name[0] != '\0' && !g_strv_contains (left_out, entry->long_name))
        add_option (words, entry);
  g_ptr_array_add (words, NULL);
  return (char **) g_ptr_array_free (words, FALSE);
}

/* Single quotes protect all characters except the quote and, in fish, the backslash. These
 * two are put in double quotes. */
void
sysprof_cli_append_shell_word (GString *line, const char *word)
{
  g_string_append_c (line, ' ');
  if (word[0] != '\0' && word[0] != '=' && word[strspn (word, PLAIN)] == '\0')
    {
      g_string_append (line, word);
      return;
    }
  g_string_append_c (line, '\'');
  for (const char *at = word; *at != '\0'; at++)
    if (*at == '\'')
      g_string_append (line, "'\"'\"'");
    else if (*at == '\\')
      g_string_append (line, "'\"\\\\\"'");
    else
      g_string_append_c (line, *at);
  g_string_append_c (line, '\'');
}
