// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads rules, and finds the first that fits a function.
 *
 * Binaries are few and functions many, so the rules that fit a binary are picked once for each; of those, the first
 * letter tells most apart. Globs know * and ? only: [kernel] is a name. */

#include "analyze/categories/categories.h"

#include <string.h>

#define MAX_FILE       (1 << 20) /* bytes */
#define MAX_RULES      65536
#define MAX_PATTERN    256 /* bytes */
#define MAX_COMPLAINTS 10  /* of one file */

#define KERNEL_BINARY "[kernel]"
#define JIT_BINARY    "[jit]"

typedef struct
{
  char *binary;
  char *function;
  uint8_t found; /* Category and CATEGORY_IS_INHERITED */
} Rule;

struct CategoryRules
{
  GArray *rules; /* of Rule */
};

/* Of this file: made from data/categories. */
extern const char sysprof_builtin_categories[];

static const char *const names[N_CATEGORIES] = {
  [CATEGORY_NONE] = "",
  [CATEGORY_UNCATEGORIZED] = "uncategorized",
  [CATEGORY_PRESENTATION] = "presentation",
  [CATEGORY_A11Y] = "a11y",
  [CATEGORY_ACTIONS] = "actions",
  [CATEGORY_CONTEXT_SWITCH] = "context-switch",
  [CATEGORY_COREDUMP] = "coredump",
  [CATEGORY_CSS] = "css",
  [CATEGORY_GRAPHICS] = "graphics",
  [CATEGORY_ICONS] = "icons",
  [CATEGORY_INPUT] = "input",
  [CATEGORY_IO] = "io",
  [CATEGORY_IPC] = "ipc",
  [CATEGORY_JAVASCRIPT] = "javascript",
  [CATEGORY_KERNEL] = "kernel",
  [CATEGORY_LAYOUT] = "layout",
  [CATEGORY_LOCKING] = "locking",
  [CATEGORY_MAIN_LOOP] = "main-loop",
  [CATEGORY_MEMORY] = "memory",
  [CATEGORY_PAINT] = "paint",
  [CATEGORY_TYPE_SYSTEM] = "type-system",
  [CATEGORY_UNWINDABLE] = "unwindable",
  [CATEGORY_WINDOWING] = "windowing",
};

const char *
sysprof_category_to_string (Category category)
{
  return (size_t) category < N_CATEGORIES ? names[category] : "";
}

static void
clear_rule (gpointer data)
{
  Rule *rule = data;

  g_free (rule->binary);
  g_free (rule->function);
}

CategoryRules *
sysprof_category_rules_new (void)
{
  CategoryRules *self = g_new (CategoryRules, 1);

  self->rules = g_array_new (FALSE, FALSE, sizeof (Rule));
  g_array_set_clear_func (self->rules, clear_rule);
  return self;
}

void
sysprof_category_rules_free (CategoryRules *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->rules);
  g_free (self);
}

uint32_t
sysprof_category_rules_n (const CategoryRules *self)
{
  return self->rules->len;
}

/* --- reading --- */

typedef struct
{
  const char *file;
  unsigned line;
  unsigned n_bad;
  GPtrArray *complaints; /* or NULL */
} Reading;

static void complain (Reading *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
complain (Reading *self, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  if (++self->n_bad > MAX_COMPLAINTS || self->complaints == NULL)
    return;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_ptr_array_add (self->complaints, g_strdup_printf ("%s:%u: %s The line is left out.",
                                                      self->file, self->line, text));
}

/* As it may be shown. *(full)* */
static char *
dup_shown (Text word)
{
  g_autofree char *cut = g_strndup (word.at, MIN (sysprof_text_size (word), 40));
  char *valid = g_utf8_make_valid (cut, -1);

  for (char *at = valid; *at; at++)
    if (g_ascii_iscntrl (*at))
      *at = '?';
  return valid;
}

/* Bare, or between double quotes, which may hold blanks. FALSE if there is none, or no end of it. */
static bool
next_word (Text *line, Text *word, bool *is_open)
{
  while (line->at < line->end && g_ascii_isspace (*line->at))
    line->at++;
  if (line->at == line->end || *line->at == '#')
    return false;

  if (*line->at == '"')
    {
      line->at++;
      *is_open = !sysprof_text_until (line, '"', word);
      return !*is_open;
    }

  word->at = line->at;
  while (line->at < line->end && !g_ascii_isspace (*line->at))
    line->at++;
  word->end = line->at;
  return true;
}

static bool
parse_category (Reading *self, Text word, uint8_t *category)
{
  g_autofree char *shown = NULL;
  Closest closest;

  for (uint8_t i = CATEGORY_UNCATEGORIZED; i < N_CATEGORIES; i++)
    if (sysprof_text_equal (word, names[i]))
      {
        *category = i;
        return true;
      }

  shown = dup_shown (word);
  closest = sysprof_closest_to (shown);
  for (uint8_t i = CATEGORY_UNCATEGORIZED; i < N_CATEGORIES; i++)
    sysprof_closest_offer (&closest, names[i], strlen (names[i]), names[i]);
  if (closest.best != NULL)
    complain (self, "There is no category '%s'; write '%s'?", shown, closest.best);
  else
    complain (self,
              "There is no category '%s'; 'paint', 'io' and 'memory' are some, and "
              "sysprof-report(1) lists them.",
              shown);
  return false;
}

static bool
check_pattern (Reading *self, const char *what, Text pattern)
{
  if (sysprof_text_size (pattern) > 0 && sysprof_text_size (pattern) <= MAX_PATTERN &&
      memchr (pattern.at, 0, sysprof_text_size (pattern)) == NULL)
    return true;

  complain (self, "The name of the %s has %zu bytes; give 1 to %d, and * for the rest.", what,
            sysprof_text_size (pattern), MAX_PATTERN);
  return false;
}

static void
read_line (Reading *self, CategoryRules *rules, Text line)
{
  Text words[5];
  size_t n = 0;
  bool is_open = false;
  Rule rule = { 0 };

  while (n < G_N_ELEMENTS (words) && next_word (&line, &words[n], &is_open))
    n++;
  if (is_open)
    {
      complain (self, "A name begins with a \" and has no second one; end it with a \".");
      return;
    }
  if (n == 0)
    return;
  if (n < 3 || n > 4 || (n == 4 && !sysprof_text_equal (words[3], "inherit")))
    {
      complain (self, "A rule is a category, a binary, a function and perhaps 'inherit', like "
                      "'paint libgtk-4 gtk_widget_snapshot* inherit'; names with blanks stand "
                      "between \".");
      return;
    }
  if (!parse_category (self, words[0], &rule.found) ||
      !check_pattern (self, "binary", words[1]) || !check_pattern (self, "function", words[2]))
    return;
  if (rules->rules->len >= MAX_RULES)
    {
      complain (self, "There are %d rules already; take out those that nothing needs.",
                MAX_RULES);
      return;
    }

  if (n == 4)
    rule.found |= CATEGORY_IS_INHERITED;
  rule.binary = g_strndup (words[1].at, sysprof_text_size (words[1]));
  rule.function = g_strndup (words[2].at, sysprof_text_size (words[2]));
  g_array_append_val (rules->rules, rule);
}

void
sysprof_category_rules_read (CategoryRules *self,
                             Text text,
                             const char *file,
                             GPtrArray *complaints)
{
  Reading reading = { .file = file, .complaints = complaints };
  Text line;

  if (sysprof_text_size (text) > MAX_FILE)
    text.end = text.at + MAX_FILE;
  while (sysprof_text_next_line (&text, &line))
    {
      reading.line++;
      read_line (&reading, self, line);
    }
  if (reading.n_bad > MAX_COMPLAINTS && complaints != NULL)
    g_ptr_array_add (complaints, g_strdup_printf ("%s: %u more lines are no rules and are left "
                                                  "out, too.",
                                                  file, reading.n_bad - MAX_COMPLAINTS));
}

char *
sysprof_category_rules_dup_path (void)
{
  return g_build_filename (g_get_user_config_dir (), "sysprof", "categories", NULL);
}

/* Not to be there is the usual case. */
static void
read_own (CategoryRules *self, GPtrArray *complaints)
{
  g_autofree char *path = sysprof_category_rules_dup_path ();
  g_autofree char *bytes = NULL;
  g_autoptr (GError) error = NULL;
  size_t size;

  if (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    {
      if (complaints != NULL)
        g_ptr_array_add (complaints,
                         g_strdup_printf ("Cannot read rules of categories from '%s': it is no "
                                          "file. Put a text file there, or nothing.",
                                          path));
    }
  else if (g_file_get_contents (path, &bytes, &size, &error))
    {
      if (size > MAX_FILE && complaints != NULL)
        g_ptr_array_add (complaints,
                         g_strdup_printf ("%s: it has %zu bytes; what is behind the "
                                          "first %d is left out. Shorten it.",
                                          path, size, MAX_FILE));
      sysprof_category_rules_read (self, (Text){ bytes, bytes + size }, path, complaints);
    }
  else if (complaints != NULL && !g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    g_ptr_array_add (complaints,
                     g_strdup_printf ("Cannot read rules of categories: %s. Those "
                                      "that are built in are used; make it readable.",
                                      error->message));
}

CategoryRules *
sysprof_category_rules_load (GPtrArray *complaints)
{
  CategoryRules *self = sysprof_category_rules_new ();

  read_own (self, complaints);
  sysprof_category_rules_read (self, sysprof_text_from_string (sysprof_builtin_categories),
                               "data/categories", complaints);
  return self;
}

/* --- matching --- */

/* Goes back to the last * only, which is all it takes. */
static bool
matches (const char *pattern, Text text)
{
  const char *star = NULL;
  const char *again = NULL;

  while (text.at < text.end)
    if (*pattern == '*')
      {
        star = ++pattern;
        again = text.at;
        if (*star == '\0')
          return true;
      }
    else if (*pattern != '\0' && (*pattern == '?' || *pattern == *text.at))
      {
        pattern++;
        text.at++;
      }
    else if (star != NULL)
      {
        pattern = star;
        text.at = ++again;
      }
    else
      return false;

  while (*pattern == '*')
    pattern++;
  return *pattern == '\0';
}

/* libgtk-4 is libgtk-4.so.1, too. */
static bool
matches_binary (const char *pattern, const char *binary)
{
  Text whole = sysprof_text_from_string (binary);
  const char *suffix = strstr (binary, ".so");

  return matches (pattern, whole) ||
         (suffix != NULL && matches (pattern, (Text){ binary, suffix }));
}

static bool
matches_function (const Rule *rule, Text function)
{
  char first = rule->function[0];

  if (first != '*' && first != '?' && (function.at == function.end || first != *function.at))
    return false;
  return matches (rule->function, function);
}

uint8_t
sysprof_category_rules_find (const CategoryRules *self,
                             const char *binary,
                             const char *function)
{
  Text text = sysprof_text_from_string (function);

  for (uint32_t i = 0; i < self->rules->len; i++)
    {
      const Rule *rule = &g_array_index (self->rules, Rule, i);

      if (matches_function (rule, text) && matches_binary (rule->binary, binary))
        return rule->found;
    }
  return CATEGORY_NONE;
}

/* --- over a table --- */

/* Modules of the kernel are the kernel's; generated code has no binary of its own. */
static const char *
binary_of (const SymbolTable *symbols, const Symbol *symbol)
{
  if (symbol->kind == SYMBOL_KERNEL)
    return KERNEL_BINARY;
  if (symbol->kind == SYMBOL_JIT)
    return JIT_BINARY;
  return sysprof_intern_get (&symbols->strings, symbol->binary);
}

/* The rules that fit the binary: pointers to Rule. *(full)* */
static GPtrArray *
pick_rules (const CategoryRules *self, const char *binary)
{
  GPtrArray *picked = g_ptr_array_new ();

  for (uint32_t i = 0; i < self->rules->len; i++)
    {
      Rule *rule = &g_array_index (self->rules, Rule, i);

      if (matches_binary (rule->binary, binary))
        g_ptr_array_add (picked, rule);
    }
  return picked;
}

uint8_t *
sysprof_category_rules_apply (const CategoryRules *self, const SymbolTable *symbols)
{
  uint8_t *found = g_new0 (uint8_t, MAX (symbols->n, 1));
  g_autoptr (GHashTable) rules_of_binary =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref);

  for (SymbolId i = 1; i < symbols->n; i++)
    {
      const char *binary = binary_of (symbols, &symbols->row[i]);
      GPtrArray *rules = g_hash_table_lookup (rules_of_binary, binary);
      Text name = sysprof_text_from_string (sysprof_symbol_name (symbols, i));

      if (rules == NULL)
        {
          rules = pick_rules (self, binary);
          g_hash_table_insert (rules_of_binary, (gpointer) binary, rules);
        }
      for (uint32_t at = 0; at < rules->len && found[i] == 0; at++)
        if (matches_function (rules->pdata[at], name))
          found[i] = ((const Rule *) rules->pdata[at])->found;
    }
  return found;
}

const uint8_t *
sysprof_symbol_categories (const SymbolTable *symbols)
{
  /* Both make the same, and one of them is kept. */
  uint8_t **place = (uint8_t **) &symbols->categories;
  uint8_t *found = g_atomic_pointer_get (place);

  if (found == NULL)
    {
      g_autoptr (CategoryRules) rules = sysprof_category_rules_load (NULL);

      found = sysprof_category_rules_apply (rules, symbols);
      if (!g_atomic_pointer_compare_and_exchange (place, NULL, found))
        {
          g_free (found);
          found = g_atomic_pointer_get (place);
        }
    }
  return found;
}
