// SPDX-License-Identifier: GPL-3.0-or-later

/* Shortens function names of C++, Rust and D without knowing the language. Brackets directly
 * after a name are its parameters or template arguments. All others belong to the name, as
 * in "(anonymous namespace)", "<T as Trait>::f" and "{lambda(int)#1}". Must not change names
 * that it does not understand. */

#include "text/text.h"

#include <string.h>

#define ELLIPSIS "\342\200\246"

/* What to omit. Each step includes the steps before it. */
enum
{
  NOTHING,
  PARAMETERS,
  INNER_ARGUMENTS,
  ALL_ARGUMENTS,
  RETURN_TYPE,
  MODULES,
  N_STEPS,
};

typedef struct
{
  size_t open, close; /* of the brackets; close = 0: there are none */
  unsigned step;      /* first step that omits the content; NOTHING: never omitted */
} Bracket;

typedef struct
{
  const char *text;
  size_t size;
  GArray *brackets; /* Bracket, by `open` */
  size_t begin;     /* after the return type */
} Name;

static bool
is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '$' || (c & 0x80);
}

/* --- suffixes --- */

static size_t
skip_back (const char *name, size_t end, const char *letters)
{
  while (end > 0 && name[end - 1] && strchr (letters, name[end - 1]))
    end--;
  return end;
}

/* Returns the index of the point if `word` is between a point and `end`; else `end`. */
static size_t
before_word (const char *name, size_t end, const char *word)
{
  size_t size = strlen (word);

  return end > size + 1 && name[end - size - 1] == '.' &&
                 memcmp (name + end - size, word, size) == 0
             ? end - size - 1
             : end;
}

/* ".isra.0", ".cold" */
static size_t
before_pass (const char *name, size_t end)
{
  static const char *const passes[] = { "isra",     "part", "constprop", "cold",
                                        "lto_priv", "llvm", "__uniq",    "localalias" };
  size_t digits = skip_back (name, end, "0123456789");
  size_t word_end = digits < end && digits > 0 && name[digits - 1] == '.' ? digits - 1 : end;

  for (size_t i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      size_t point = before_word (name, word_end, passes[i]);

      if (point < word_end)
        return point;
    }
  return end;
}

/* " [clone .isra.0]" */
static size_t
before_clone (const char *name, size_t end)
{
  static const char begin[] = " [clone ";
  const char *open;
  size_t at;

  if (end == 0 || name[end - 1] != ']' || !(open = memrchr (name, '[', end)))
    return end;
  at = (size_t) (open - name);
  return at > 1 && strncmp (name + at - 1, begin, sizeof begin - 1) == 0 ? at - 1 : end;
}

/* "::h0123456789abcdef" */
static size_t
before_hash (const char *name, size_t end)
{
  size_t hash = skip_back (name, end, "0123456789abcdef");

  return end - hash == 16 && hash > 3 && memcmp (name + hash - 3, "::h", 3) == 0 ? hash - 3
                                                                                 : end;
}

size_t
sysprof_name_stem (const char *name)
{
  size_t end = strlen (name), before;

  do
    {
      before = end;
      end = before_pass (name, end);
      end = before_clone (name, end);
      end = before_hash (name, end);
    }
  while (end < before);
  return end;
}

const char *
sysprof_skip_return_type (const char *name)
{
  const char *begin = name;
  unsigned depth = 0;

  for (const char *at = name; *at != '\0' && (*at != '(' || depth > 0); at++)
    if (*at == '<')
      depth++;
    else if (*at == '>' && depth > 0)
      depth--;
    else if (*at == ' ' && depth == 0)
      begin = at + 1;
  return begin;
}

/* --- brackets --- */

/* Size of the operator that follows the word "operator" at `at`, such as "<<", with a blank
 * between it and template arguments; 0 if there is none. */
static size_t
size_of_operator (const char *text, size_t at)
{
  static const char *const operators[] = { "()", "[]", "<=>", "<<=", ">>=", "->*", "->",
                                           "<<", ">>", "<=",  ">=",  "<",   ">" };
  size_t size = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (operators) && size == 0; i++)
    if (strncmp (text + at, operators[i], strlen (operators[i])) == 0)
      size = strlen (operators[i]);
  if (size == 0)
    size = strspn (text + at, "+-*/%^&|~!=,");
  if (size > 0 && text[at + size] == ' ' && text[at + size + 1] == '<')
    size++;
  return size;
}

static bool
is_operator (const char *text, size_t at)
{
  static const char word[] = "operator";
  size_t size = sizeof word - 1;

  return text[at] == word[0] && (at == 0 || !is_word (text[at - 1])) &&
         strncmp (text + at, word, size) == 0 && !is_word (text[at + size]);
}

static bool
is_behind (const char *text, size_t at, const char *what)
{
  size_t size = strlen (what);

  return at >= size && memcmp (text + at - size, what, size) == 0;
}

/* First step that omits the content of the bracket that opens at `at`. */
static unsigned
step_of (const char *text, size_t at, size_t operator_end)
{
  char before = at > 0 ? text[at - 1] : '\0';
  bool behind_name = at > 0 && (is_word (before) || at == operator_end);

  if (text[at] == '(')
    return behind_name || (before && strchr (">)]}'", before)) ? PARAMETERS : NOTHING;
  if (strncmp (text + at, "<impl ", 6) == 0)
    return NOTHING;
  return behind_name || (before && strchr ("]}", before)) || is_behind (text, at, "::")
             ? ALL_ARGUMENTS
             : NOTHING;
}

/* Thunks and vtables belong to a function, so the words of their names are not a type. */
static bool
is_type (const char *text, size_t end)
{
  return !is_behind (text, end, " to") && !is_behind (text, end, " for");
}

/* Brackets that close in a different order than they opened are plain text. */
static void
find_brackets (Name *name)
{
  const char *text = name->text;
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint)); /* of brackets */
  size_t operator_end = 0, last_blank = 0, last_arguments = 0;
  size_t n_round = 0;
  bool seeks_begin = true;

  for (size_t at = 0; at < name->size; at++)
    {
      Bracket bracket = { .open = at };
      char c = text[at];

      if (is_operator (text, at))
        {
          at += strlen ("operator");
          operator_end = at + size_of_operator (text, at);
          /* The type of a conversion operator may have several words. */
          seeks_begin = seeks_begin && (text[at] != ' ' || open->len > 0);
          at = operator_end - 1;
        }
      else if (c == ' ' && open->len == 0)
        last_blank = at;
      else if (c == '(' || c == '<')
        {
          bracket.step = step_of (text, at, operator_end);
          if (bracket.step == PARAMETERS && open->len == 0 && seeks_begin)
            {
              if (last_blank > 0 && last_arguments > 0 && last_arguments + 1 == at &&
                  is_type (text, last_blank))
                name->begin = last_blank + 1;
              seeks_begin = false;
            }
          n_round += c == '(';
          g_array_append_val (open, name->brackets->len);
          g_array_append_val (name->brackets, bracket);
        }
      else if (c == ')' ? n_round > 0 : c == '>' && open->len > 0 && text[at - 1] != '-')
        {
          Bracket *last = NULL;

          while (open->len > 0)
            {
              guint index = g_array_index (open, guint, open->len - 1);

              last = &g_array_index (name->brackets, Bracket, index);
              if (c == '>' && text[last->open] == '(')
                break;
              g_array_set_size (open, open->len - 1);
              if (text[last->open] == (c == ')' ? '(' : '<'))
                {
                  last->close = at;
                  n_round -= c == ')';
                  if (c == '>' && open->len == 0)
                    last_arguments = at;
                  break;
                }
            }
        }
    }
}

/* Omit template arguments that are inside others first. */
static void
find_inner_arguments (const Name *name)
{
  g_autoptr (GArray) closes = g_array_new (FALSE, FALSE, sizeof (size_t));

  for (guint i = 0; i < name->brackets->len; i++)
    {
      Bracket *bracket = &g_array_index (name->brackets, Bracket, i);

      while (closes->len > 0 && g_array_index (closes, size_t, closes->len - 1) < bracket->open)
        g_array_set_size (closes, closes->len - 1);
      if (bracket->close == 0 || name->text[bracket->open] != '<')
        continue;
      if (bracket->step == ALL_ARGUMENTS && closes->len > 0)
        bracket->step = INNER_ARGUMENTS;
      g_array_append_val (closes, bracket->close);
    }
}

/* --- what is left --- */

/* Removes the module before the "::" at the end of `out`. */
static void
remove_module (GString *out)
{
  size_t end = out->len - 2;

  while (end > 0 && is_word (out->str[end - 1]))
    end--;
  if (end < out->len - 2)
    g_string_truncate (out, end);
}

static char *
dup_at_step (const Name *name, unsigned step)
{
  GString *out = g_string_new (NULL);
  size_t kept_end = 0; /* end of the outermost bracket that belongs to the name */
  guint next = 0;

  for (size_t at = step >= RETURN_TYPE ? name->begin : 0; at < name->size; at++)
    {
      const Bracket *bracket = NULL;

      for (; next < name->brackets->len; next++)
        {
          bracket = &g_array_index (name->brackets, Bracket, next);
          if (bracket->open >= at)
            break;
        }
      g_string_append_c (out, name->text[at]);
      if (step >= MODULES && at < kept_end && is_behind (out->str, out->len, "::"))
        remove_module (out);
      if (next == name->brackets->len || bracket->open != at || bracket->close == 0)
        continue;
      if (bracket->step == NOTHING && name->text[at] == '<')
        kept_end = MAX (kept_end, bracket->close);
      if (bracket->step != NOTHING && bracket->step <= step && bracket->close > at + 2)
        {
          g_string_append (out, ELLIPSIS);
          at = bracket->close - 1;
        }
    }
  return g_string_free (out, FALSE);
}

/* Names in brackets are methods of Objective-C or not functions, and names of Python
 * functions include their file. */
static bool
has_another_form (const char *name)
{
  return name[0] == '[' || g_str_has_prefix (name, "-[") || g_str_has_prefix (name, "+[") ||
         g_str_has_prefix (name, "py::");
}

char *
sysprof_dup_short_name (const char *text, size_t columns)
{
  g_autoptr (GArray) brackets = NULL;
  Name name = { .text = text };
  char *shortened = NULL;

  if (sysprof_text_columns (text) <= columns || has_another_form (text))
    return g_strdup (text);
  name.size = strlen (text);
  name.brackets = brackets = g_array_new (FALSE, FALSE, sizeof (Bracket));
  find_brackets (&name);
  find_inner_arguments (&name);
  for (unsigned step = PARAMETERS; step < N_STEPS; step++)
    {
      g_free (shortened);
      shortened = dup_at_step (&name, step);
      if (sysprof_text_columns (shortened) <= columns)
        break;
    }
  return shortened;
}
