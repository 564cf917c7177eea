// SPDX-License-Identifier: GPL-3.0-or-later

/* Formats --help, and improves GOption's error messages. */

#include "util/usage.h"

#include "util/closest.h"
#include "util/errors.h"

#include <stdbool.h>
#include <string.h>

#define COLUMNS     80 /* width of the narrowest common terminal */
#define TEXT_COLUMN 33 /* column of the descriptions */

/* --- help --- */

/* Wraps `text` at COLUMNS. `column` is the column of its start. */
static void
append_wrapped (GString *help, size_t column, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (size_t i = 0; words[i] != NULL; i++)
    {
      size_t size = strlen (words[i]);

      if (i > 0 && column + 1 + size >= COLUMNS)
        {
          g_string_append_printf (help, "\n%*s", TEXT_COLUMN, "");
          column = TEXT_COLUMN;
        }
      else if (i > 0)
        {
          g_string_append_c (help, ' ');
          column++;
        }
      g_string_append (help, words[i]);
      column += size;
    }
  g_string_append_c (help, '\n');
}

static void
append_entry (GString *help, const GOptionEntry *entry)
{
  g_autoptr (GString) name = g_string_new ("  ");

  if (entry->short_name != '\0')
    g_string_append_printf (name, "-%c, ", entry->short_name);
  g_string_append_printf (name, "--%s", entry->long_name);
  if (entry->arg_description != NULL)
    g_string_append_printf (name, "=%s", entry->arg_description);

  if (name->len + 2 > TEXT_COLUMN)
    g_string_append_printf (help, "%s\n%*s", name->str, TEXT_COLUMN, "");
  else
    g_string_append_printf (help, "%-*s", TEXT_COLUMN, name->str);
  append_wrapped (help, TEXT_COLUMN, entry->description);
}

char *
sysprof_usage_help (const char *before, const OptionSection *sections, const char *after)
{
  GString *help = g_string_new (before);

  for (; sections->title != NULL; sections++)
    {
      g_string_append_printf (help, "\n%s:\n", sections->title);
      for (const GOptionEntry *entry = sections->entries; entry->long_name != NULL; entry++)
        if (entry->description != NULL && (entry->flags & G_OPTION_FLAG_HIDDEN) == 0)
          append_entry (help, entry);
    }
  g_string_append (help, after);
  return g_string_free (help, FALSE);
}

/* --- words --- */

static const GOptionEntry *
find_letter (const OptionSection *sections, char letter)
{
  for (; sections->title != NULL; sections++)
    for (const GOptionEntry *entry = sections->entries; entry->long_name != NULL; entry++)
      if (entry->short_name == letter)
        return entry;
  return NULL;
}

static const GOptionEntry *
find_name (const OptionSection *sections, const char *name, size_t size)
{
  for (; sections->title != NULL; sections++)
    for (const GOptionEntry *entry = sections->entries; entry->long_name != NULL; entry++)
      if (strlen (entry->long_name) == size && size > 0 &&
          memcmp (entry->long_name, name, size) == 0)
        return entry;
  return NULL;
}

static bool
takes_value (const GOptionEntry *entry)
{
  return entry != NULL && entry->arg != G_OPTION_ARG_NONE &&
         (entry->flags & G_OPTION_FLAG_NO_ARG) == 0;
}

/* "-fF99": takes letters up to the first that has a value; the rest is the value. Returns
 * whether the value is the next word. */
static bool
split_letters (const OptionSection *sections, const char *word, GPtrArray *split)
{
  const char *at = word + 1;

  while (*at != '\0' && !takes_value (find_letter (sections, *at)))
    at++;
  if (*at == '\0' || at[1] == '\0')
    {
      g_ptr_array_add (split, g_strdup (word));
      return *at != '\0';
    }
  g_ptr_array_add (split, g_strndup (word, (gsize) (at + 1 - word)));
  g_ptr_array_add (split, g_strdup (at + 1));
  return false;
}

char **
sysprof_usage_split (const OptionSection *sections, const char *const *words, GError **error)
{
  g_autoptr (GPtrArray) split = g_ptr_array_new_with_free_func (g_free);
  bool is_value = true; /* word 0 is the program's name */
  bool is_over = false; /* after -- */

  for (; *words != NULL; words++)
    {
      const char *word = *words;

      is_over = is_over || (!is_value && g_str_equal (word, "--"));
      if (is_over || is_value || word[0] != '-' || word[1] == '\0')
        {
          g_ptr_array_add (split, g_strdup (word));
          is_value = false;
        }
      else if (word[1] != '-')
        is_value = split_letters (sections, word, split);
      else
        {
          size_t size = strcspn (word + 2, "=");
          const GOptionEntry *entry = find_name (sections, word + 2, size);
          bool has_value = word[2 + size] == '=';

          if (entry != NULL && !takes_value (entry) && has_value)
            {
              g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                           "%s: --%s takes no value; leave '%s' out.", word, entry->long_name,
                           word + 2 + size);
              return NULL;
            }
          g_ptr_array_add (split, g_strdup (word));
          is_value = takes_value (entry) && !has_value;
        }
    }
  g_ptr_array_add (split, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&split), FALSE);
}

/* --- errors --- */

/* Reads the option in `word`. Returns whether its value is the next word. Sets `unknown` to the
 * option with its dashes if there is no such option. */
static bool
read_option (const OptionSection *sections, const char *word, char **unknown)
{
  const GOptionEntry *entry = NULL;

  if (word[1] == '-')
    {
      size_t size = strcspn (word + 2, "=");

      entry = find_name (sections, word + 2, size);
      if (entry == NULL)
        *unknown = g_strndup (word, 2 + size);
      return takes_value (entry) && word[2 + size] == '\0';
    }
  for (const char *letter = word + 1; *letter != '\0'; letter++)
    {
      entry = find_letter (sections, *letter);
      if (entry == NULL)
        *unknown = g_strdup_printf ("-%c", *letter);
      if (entry == NULL || takes_value (entry))
        return entry != NULL && letter[1] == '\0';
    }
  return false;
}

static bool
is_option (const char *word)
{
  return word[0] == '-' && word[1] != '\0';
}

size_t
sysprof_usage_find_word (const OptionSection *sections, const char *const *words, size_t from)
{
  bool is_value = false;

  for (size_t i = from; words[i] != NULL; i++)
    {
      g_autofree char *unknown = NULL;

      if (is_value)
        is_value = false;
      else if (is_option (words[i]))
        is_value = read_option (sections, words[i], &unknown);
      else
        return i;
    }
  return 0;
}

/* The first unknown option. GOption stops there, so everything before it is valid. */
static char *
find_unknown (const OptionSection *sections, const char *const *words)
{
  char *unknown = NULL;
  bool is_value = true; /* word 0 is the program's name */

  for (; *words != NULL && unknown == NULL; words++)
    is_value = !is_value && is_option (*words) && read_option (sections, *words, &unknown);
  return unknown;
}

/* The option that is spelled almost like `unknown`, or the only one that begins so. Hyphens
 * are ignored. */
static const char *
find_similar (const OptionSection *sections, const char *unknown)
{
  Closest closest = sysprof_closest_to (unknown);
  const char *longer = NULL;
  size_t n_longer = 0;

  for (; sections->title != NULL; sections++)
    for (const GOptionEntry *entry = sections->entries; entry->long_name != NULL; entry++)
      {
        const char *name = entry->long_name;
        g_auto (GStrv) parts = g_strsplit (name, "-", -1);
        g_autofree char *bare = g_strjoinv ("", parts);

        if (name[0] == '\0' || (entry->flags & G_OPTION_FLAG_HIDDEN) != 0)
          continue;
        sysprof_closest_offer (&closest, name, strlen (name), name);
        sysprof_closest_offer (&closest, bare, strlen (bare), name);
        if (unknown[0] != '\0' && g_str_has_prefix (name, unknown))
          {
            longer = name;
            n_longer++;
          }
      }
  return closest.best == NULL && n_longer == 1 ? longer : closest.best;
}

static const char *
find_advice (const OptionAdvice *advice, const char *option)
{
  for (; advice != NULL && advice->option != NULL; advice++)
    if (g_str_equal (advice->option, option))
      return advice->text;
  return NULL;
}

/* GLib's typographic quotes become ? in the C locale. In place. */
static void
make_quotes_plain (char *message)
{
  g_autoptr (GString) plain = g_string_new (message);

  g_string_replace (plain, "\342\200\234", "'", 0);
  g_string_replace (plain, "\342\200\235", "'", 0);
  strcpy (message, plain->str); /* it has become shorter */
}

void
sysprof_usage_explain (const char *program,
                       const OptionSection *sections,
                       const OptionAdvice *advice,
                       const char *const *words,
                       GError **error)
{
  g_autofree char *unknown = NULL;
  g_autofree char *message = (*error)->message;
  const char *text = NULL, *similar = NULL;

  if (g_error_matches (*error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
    unknown = find_unknown (sections, words);
  if (unknown != NULL)
    text = find_advice (advice, unknown);
  if (unknown != NULL && unknown[1] == '-')
    similar = find_similar (sections, unknown + 2);

  make_quotes_plain (message);
  if (text != NULL)
    (*error)->message = g_strdup_printf ("%s: %s", unknown, text);
  else if (similar != NULL)
    (*error)->message = g_strdup_printf ("%s. Did you mean --%s? %s --help lists all.", message,
                                         similar, program);
  else
    (*error)->message = g_strdup_printf ("%s. %s --help lists all options.", message, program);
}

gboolean
sysprof_usage_check_choice (const char *option,
                            const char *value,
                            const char *const *choices,
                            size_t *index,
                            GError **error)
{
  g_autoptr (GString) list = g_string_new ("");

  for (size_t i = 0; choices[i] != NULL; i++)
    {
      if (g_str_equal (value, choices[i]))
        {
          if (index != NULL)
            *index = i;
          return TRUE;
        }
      if (i > 0)
        g_string_append (list, choices[i + 1] != NULL ? ", " : " or ");
      g_string_append (list, choices[i]);
    }
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED, "--%s %s: give %s.", option, value,
               list->str);
  return FALSE;
}

/* --- parsing --- */

char **
sysprof_usage_parse (const char *program,
                     const OptionSection *sections,
                     const OptionAdvice *advice,
                     const char *const *words,
                     void *data,
                     GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  GOptionGroup *group = g_option_group_new (program, NULL, NULL, data, NULL);
  g_auto (GStrv) rest = sysprof_usage_split (sections, words, error);

  for (const OptionSection *section = sections; section->title != NULL; section++)
    g_option_group_add_entries (group, section->entries);
  g_option_context_set_main_group (context, group);
  g_option_context_set_help_enabled (context, FALSE);
  if (rest == NULL)
    return NULL;
  if (g_option_context_parse_strv (context, &rest, error))
    return g_steal_pointer (&rest);
  /* Messages of callbacks end in a full stop and say what to do. */
  if (!g_str_has_suffix ((*error)->message, "."))
    sysprof_usage_explain (program, sections, advice, words, error);
  return NULL;
}
