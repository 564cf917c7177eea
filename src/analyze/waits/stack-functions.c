// SPDX-License-Identifier: GPL-3.0-or-later

/* Which stacks certain functions are on. */

#include "analyze/waits/waits.h"

#include <string.h>

/* [symbols.n] 1 for those of the names. *(full)* */
static uint8_t *
find_symbols (const SymbolTable *symbols,
              const char *const *names,
              size_t n_names,
              bool of_kernel)
{
  const char *ends = of_kernel ? "." : "(@";
  uint8_t *is_one = g_new0 (uint8_t, MAX (symbols->n, 1));
  g_autoptr (GHashTable) set = g_hash_table_new (g_str_hash, g_str_equal);

  for (size_t i = 0; i < n_names; i++)
    g_hash_table_add (set, (char *) names[i]);
  for (SymbolId i = 1; i < symbols->n && sysprof_is_wanted_at (i); i++)
    {
      const char *name = sysprof_symbol_name (symbols, i);
      size_t bare = strcspn (name, ends);
      g_autofree char *cut = name[bare] != '\0' ? g_strndup (name, bare) : NULL;

      is_one[i] = (!of_kernel || symbols->row[i].kind == SYMBOL_KERNEL) &&
                  g_hash_table_contains (set, cut != NULL ? cut : name);
    }
  return is_one;
}

uint8_t *
sysprof_stacks_find_functions (const Store *store,
                               const SymbolTable *symbols,
                               const char *const *names,
                               size_t n_names,
                               bool of_kernel)
{
  const StackTree *stacks = &store->stacks;
  g_autofree uint8_t *is_one = find_symbols (symbols, names, n_names, of_kernel);
  uint8_t *found = g_new0 (uint8_t, MAX (stacks->n, 1));

  /* Parents come before their children. */
  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    if (stacks->depth[i] > 0)
      found[i] = found[stacks->parent[i]] | is_one[symbols->of_address[stacks->address[i]]];
  return found;
}
