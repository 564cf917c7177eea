// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes completion scripts for bash, zsh and fish from GOption entries. */

#include "util/completion.h"

#include "util/errors.h"

#include <stdbool.h>
#include <string.h>

typedef void OptionFunc (const Completion *self, const GOptionEntry *entry, GString *script);

static bool
takes_value (const GOptionEntry *entry)
{
  return entry->arg != G_OPTION_ARG_NONE && (entry->flags & G_OPTION_FLAG_NO_ARG) == 0;
}

static bool
takes_file (const GOptionEntry *entry)
{
  return entry->arg == G_OPTION_ARG_FILENAME || entry->arg == G_OPTION_ARG_FILENAME_ARRAY;
}

static const char *const *
find_values (const Completion *self, const GOptionEntry *entry)
{
  for (const CompletionValues *values = self->values; values->option != NULL; values++)
    if (g_str_equal (values->option, entry->long_name))
      return values->values;
  return NULL;
}

static void
for_each_option (const Completion *self, OptionFunc *func, GString *script)
{
  for (const OptionSection *section = self->sections; section->title != NULL; section++)
    for (const GOptionEntry *entry = section->entries; entry->long_name != NULL; entry++)
      if (entry->long_name[0] != '\0' && (entry->flags & G_OPTION_FLAG_HIDDEN) == 0)
        func (self, entry, script);
}

/* "sysprof-report" as a function name. *(full)* */
static char *
dup_identifier (const Completion *self)
{
  char *name = g_strdup (self->program);

  return g_strdelimit (name, "-", '_');
}

/* Quotes the text, with a backslash before each of the `special` characters. */
static void
append_quoted (GString *script, const char *text, const char *special, const char *quote)
{
  for (; *text != '\0'; text++)
    if (*text == '\'')
      g_string_append (script, quote);
    else
      g_string_append_printf (script, strchr (special, *text) != NULL ? "\\%c" : "%c", *text);
}

/* --- bash --- */

static void
append_bash_name (const Completion *self, const GOptionEntry *entry, GString *script)
{
  g_string_append_printf (script, " --%s", entry->long_name);
}

static void
append_bash_case (const Completion *self, const GOptionEntry *entry, GString *script)
{
  const char *const *values = find_values (self, entry);

  if (!takes_value (entry))
    return;
  g_string_append_printf (script, "    --%s", entry->long_name);
  if (entry->short_name != '\0')
    g_string_append_printf (script, "|-%c", entry->short_name);
  if (values != NULL)
    {
      g_autofree char *joined = g_strjoinv (" ", (char **) values);

      g_string_append_printf (
          script, ") mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\"); return ;;\n",
          joined);
    }
  else if (takes_file (entry))
    g_string_append (script, ") compopt -o filenames; mapfile -t COMPREPLY < "
                             "<(compgen -f -- \"$word\"); return ;;\n");
  else
    g_string_append (script, ") return ;;\n");
}

/* The options after a first word that does not have all of them. */
static void
append_bash_words (const Completion *self, GString *script)
{
  g_string_append (script, "  case \"${COMP_WORDS[1]} $word\" in\n");
  for (const CompletionWord *word = self->words; word != NULL && word->word != NULL; word++)
    if (word->options != NULL)
      g_string_append_printf (script,
                              "    \"%s -\"*) mapfile -t COMPREPLY < <(compgen -W '%s' -- "
                              "\"$word\"); return ;;\n",
                              word->word, word->options);
  g_string_append (script, "    *) ;;\n  esac\n");
}

static void
append_bash (const Completion *self, GString *script)
{
  g_autofree char *name = dup_identifier (self);

  g_string_append_printf (
      script,
      "_%s ()\n{\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    if [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
      "      mapfile -t COMPREPLY < <(compgen -c -- \"$word\"); return\n"
      "    fi\n"
      "  done\n"
      "  [ \"$word\" != = ] || word=\n"
      "  [ \"$before\" != = ] || before=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
      "  case \"$before\" in\n",
      name);
  for_each_option (self, append_bash_case, script);
  g_string_append (script, "  esac\n");
  append_bash_words (self, script);
  g_string_append (script, "  case \"$word\" in\n"
                           "    -*) mapfile -t COMPREPLY < <(compgen -W '");
  for_each_option (self, append_bash_name, script);
  g_string_append (script, "' -- \"$word\"); return ;;\n"
                           "  esac\n"
                           "  compopt -o filenames\n"
                           "  mapfile -t COMPREPLY < <(");
  if (self->words != NULL)
    {
      g_string_append (script, "[ \"$COMP_CWORD\" != 1 ] || compgen -W '");
      for (const CompletionWord *word = self->words; word->word != NULL; word++)
        g_string_append_printf (script, " %s", word->word);
      g_string_append (script, "' -- \"$word\"; ");
    }
  g_string_append_printf (script, "compgen -f -- \"$word\")\n}\ncomplete -F _%s %s\n", name,
                          self->program);
}

/* --- zsh --- */

static void
append_zsh_option (const Completion *self, const GOptionEntry *entry, GString *script)
{
  const char *const *values = find_values (self, entry);
  const char *equals = takes_value (entry) ? "=" : "";

  if (entry->short_name != '\0')
    g_string_append_printf (script, "  {-%c%s,--%s%s}'[", entry->short_name,
                            takes_value (entry) ? "+" : "", entry->long_name, equals);
  else
    g_string_append_printf (script, "  '*--%s%s[", entry->long_name, equals);
  append_quoted (script, entry->description, "[]:\\", "'\\''");
  g_string_append (script, "]");
  if (takes_value (entry))
    {
      g_string_append_c (script, ':');
      append_quoted (script, entry->arg_description, "[]:\\", "'\\''");
      g_string_append_c (script, ':');
    }
  if (values != NULL)
    {
      g_autofree char *joined = g_strjoinv (" ", (char **) values);

      g_string_append_printf (script, "(%s)", joined);
    }
  else if (takes_file (entry))
    g_string_append (script, "_files");
  g_string_append (script, "' \\\n");
}

static void
append_zsh (const Completion *self, GString *script)
{
  g_autofree char *name = dup_identifier (self);

  if (self->words != NULL)
    {
      g_string_append_printf (script, "_%s_first ()\n{\n  local -a words\n  words=(\n", name);
      for (const CompletionWord *word = self->words; word->word != NULL; word++)
        {
          g_string_append_printf (script, "    '%s:", word->word);
          append_quoted (script, word->description, ":\\", "'\\''");
          g_string_append (script, "'\n");
        }
      g_string_append (script, "  )\n  _describe word words\n  _files\n}\n");
    }
  g_string_append (script, "_arguments -s -S \\\n");
  for_each_option (self, append_zsh_option, script);
  if (self->words != NULL)
    g_string_append_printf (script, "  '1: :_%s_first' \\\n", name);
  g_string_append (script, "  '*: :_files'\n");
}

/* --- fish --- */

static void
append_fish_option (const Completion *self, const GOptionEntry *entry, GString *script)
{
  const char *const *values = find_values (self, entry);

  g_string_append_printf (script, "complete -c %s -l %s", self->program, entry->long_name);
  if (entry->short_name != '\0')
    g_string_append_printf (script, " -s %c", entry->short_name);
  g_string_append (script, " -d '");
  append_quoted (script, entry->description, "\\", "\\'");
  g_string_append_c (script, '\'');
  if (values != NULL)
    {
      g_autofree char *joined = g_strjoinv (" ", (char **) values);

      g_string_append_printf (script, " -x -a '%s'", joined);
    }
  else if (takes_value (entry))
    g_string_append (script, takes_file (entry) ? " -r -F" : " -x");
  g_string_append_c (script, '\n');
}

static void
append_fish (const Completion *self, GString *script)
{
  for (const CompletionWord *word = self->words; word != NULL && word->word != NULL; word++)
    {
      g_string_append_printf (
          script, "complete -c %s -n 'test (count (commandline -opc)) -eq 1' -a %s -d '",
          self->program, word->word);
      append_quoted (script, word->description, "\\", "\\'");
      g_string_append (script, "'\n");
    }
  for_each_option (self, append_fish_option, script);
}

char *
sysprof_completion_script (const Completion *self, const char *shell, GError **error)
{
  static const struct
  {
    const char *shell;
    void (*append) (const Completion *, GString *);
  } shells[] = {
    { "bash", append_bash },
    { "zsh", append_zsh },
    { "fish", append_fish },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (shells); i++)
    if (g_str_equal (shell, shells[i].shell))
      {
        GString *script = g_string_new (NULL);

        /* zsh reads the first line. */
        if (shells[i].append == append_zsh)
          g_string_append_printf (script, "#compdef %s\n", self->program);
        g_string_append_printf (script, "# %s completes %s with this; the program made it.\n",
                                shell, self->program);
        shells[i].append (self, script);
        return g_string_free (script, FALSE);
      }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--completion %s: there are bash, zsh and fish.", shell);
  return NULL;
}
