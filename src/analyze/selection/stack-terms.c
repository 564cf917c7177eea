// SPDX-License-Identifier: GPL-3.0-or-later

/* Terms are matched once per symbol; a stack then has what its innermost function matches and what its
 * parent has, and parents come first. */

#include "analyze/selection/stack-terms.h"

#include <string.h>

enum
{
  SYMBOL_WANTED = 1 << 0,
  SYMBOL_EXCLUDED = 1 << 1,
  BINARY_WANTED = 1 << 2,
  BINARY_EXCLUDED = 1 << 3,
};

static bool
is_exclusion (const char *term)
{
  return term[0] == '!';
}

static bool
has_wanted_term (const char *const *terms)
{
  for (; terms != NULL && *terms != NULL; terms++)
    if (!is_exclusion (*terms))
      return true;

  return false;
}

static bool
symbol_contains (const SymbolTable *symbols, SymbolId symbol, const char *term)
{
  return strcasestr (sysprof_symbol_name (symbols, symbol), term) != NULL;
}

static bool
binary_contains (const SymbolTable *symbols, SymbolId symbol, const char *term)
{
  const char *text = sysprof_symbol_binary (symbols, symbol);

  if (strchr (term, '/') != NULL)
    text = sysprof_intern_get (&symbols->strings, symbols->row[symbol].path);
  return strcasestr (text, term) != NULL;
}

/* The flags of one symbol. Row 0, which is none, contains nothing. */
static uint8_t
match_symbol (const SymbolTable *symbols, SymbolId symbol, const SampleFilter *filter)
{
  uint8_t flags = 0;

  for (const char *const *term = filter->symbol_terms; term != NULL && *term != NULL; term++)
    if (symbol_contains (symbols, symbol, *term + is_exclusion (*term)))
      flags |= is_exclusion (*term) ? SYMBOL_EXCLUDED : SYMBOL_WANTED;

  for (const char *const *term = filter->binary_terms; term != NULL && *term != NULL; term++)
    if (binary_contains (symbols, symbol, *term + is_exclusion (*term)))
      flags |= is_exclusion (*term) ? BINARY_EXCLUDED : BINARY_WANTED;

  return flags;
}

uint8_t *
sysprof_stack_terms_match (const Store *store,
                           const SymbolTable *symbols,
                           const SampleFilter *filter)
{
  const StackTree *stacks = &store->stacks;
  g_autofree uint8_t *of_symbol = NULL;
  uint8_t *of_stack;
  uint8_t wanted = 0;

  if ((filter->symbol_terms == NULL || filter->symbol_terms[0] == NULL) &&
      (filter->binary_terms == NULL || filter->binary_terms[0] == NULL))
    return NULL;

  g_return_val_if_fail (symbols != NULL, NULL);

  if (has_wanted_term (filter->symbol_terms))
    wanted |= SYMBOL_WANTED;
  if (has_wanted_term (filter->binary_terms))
    wanted |= BINARY_WANTED;

  of_symbol = g_new0 (uint8_t, MAX (symbols->n, 1));
  for (SymbolId i = 1; i < symbols->n && sysprof_is_wanted_at (i); i++)
    of_symbol[i] = match_symbol (symbols, i, filter);

  of_stack = g_new0 (uint8_t, MAX (stacks->n, 1));
  for (StackId i = 1; i < stacks->n && sysprof_is_wanted_at (i); i++)
    of_stack[i] =
        of_stack[stacks->parent[i]] | of_symbol[symbols->of_address[stacks->address[i]]];
  for (StackId i = 0; i < stacks->n; i++)
    of_stack[i] = (of_stack[i] & wanted) == wanted &&
                  (of_stack[i] & (SYMBOL_EXCLUDED | BINARY_EXCLUDED)) == 0;

  return of_stack;
}

char *
sysprof_stack_terms_dup_key (const SampleFilter *filter)
{
  const char *const *lists[] = { filter->symbol_terms, filter->binary_terms };
  GString *key = g_string_new (NULL);

  for (size_t i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      for (const char *const *term = lists[i]; term != NULL && *term != NULL; term++)
        g_string_append_printf (key, "%zu:%s,", strlen (*term), *term);
      g_string_append_c (key, ';');
    }
  return g_string_free (key, FALSE);
}
