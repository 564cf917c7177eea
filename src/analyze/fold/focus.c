// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the functions that --focus names. */

#include "analyze/fold/fold.h"

#include <string.h>

static bool
is_exactly (const SymbolTable *symbols, const Symbol *symbol, const char *name)
{
  return g_str_equal (sysprof_intern_get (&symbols->strings, symbol->name), name) ||
         (symbol->raw_name != 0 &&
          g_str_equal (sysprof_intern_get (&symbols->strings, symbol->raw_name), name));
}

static bool
contains (const SymbolTable *symbols, const Symbol *symbol, const char *name)
{
  return strcasestr (sysprof_intern_get (&symbols->strings, symbol->name), name) != NULL;
}

bool *
sysprof_focus_match (const SymbolTable *symbols, const char *name, uint32_t *n_matches)
{
  static bool (*const tests[]) (const SymbolTable *, const Symbol *, const char *) = {
    is_exactly,
    contains,
  };
  bool *matches = g_new0 (bool, MAX (symbols->n, 1));
  uint32_t n = 0;

  for (size_t test = 0; test < G_N_ELEMENTS (tests) && n == 0; test++)
    for (SymbolId i = 1; i < symbols->n && sysprof_is_wanted_at (i); i++)
      {
        matches[i] = tests[test](symbols, &symbols->row[i], name);
        n += matches[i];
      }

  if (n_matches != NULL)
    *n_matches = n;
  return matches;
}
