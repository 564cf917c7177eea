// SPDX-License-Identifier: GPL-3.0-or-later

/* The function as which each function shows: itself; none if it is merged, of a hidden system
 * library or a wrapper of malloc() that traces; the first function of its binary if that is
 * collapsed. */

#include "analyze/fold/shown-symbols.h"

#include <fnmatch.h>
#include <string.h>

/* "libc.so.6", "libc", or a glob. */
static bool
is_called (const char *binary, const char *pattern)
{
  size_t size = strlen (pattern);

  return fnmatch (pattern, binary, 0) == 0 ||
         (strncmp (binary, pattern, size) == 0 && g_str_has_prefix (binary + size, ".so"));
}

bool
sysprof_shape_collapses (const Shape *shape, const SymbolTable *symbols, SymbolId symbol)
{
  const char *binary = sysprof_symbol_binary (symbols, symbol);

  for (const char *const *name = shape->collapse; name != NULL && *name != NULL; name++)
    if (binary[0] != '\0' && is_called (binary, *name))
      return true;
  return false;
}

bool
sysprof_is_system_library (const char *path)
{
  static const char *const folders[] = { "/usr/lib", "/lib" }; /* and lib64, lib32 */
  const char *name = strrchr (path, '/');

  for (size_t i = 0; name != NULL && i < G_N_ELEMENTS (folders); i++)
    if (g_str_has_prefix (path, folders[i]))
      return strstr (name, ".so") != NULL;
  return false;
}

/* Where a table of names brings no paths, the mappings tell. */
static void
hide_system (SymbolId *shown, const Store *store, const SymbolTable *symbols)
{
  for (AddressId i = 1; i < store->addresses.n && sysprof_is_wanted_at (i); i++)
    {
      const Mapping *mapping = &store->mappings[store->addresses.mapping[i]];

      if (store->addresses.mapping[i] != 0 &&
          sysprof_is_system_library (sysprof_store_string (store, mapping->path)))
        shown[symbols->of_address[i]] = 0;
    }
  for (SymbolId i = 1; i < symbols->n && sysprof_is_wanted_at (i); i++)
    if (sysprof_is_system_library (
            sysprof_intern_get (&symbols->strings, symbols->row[i].path)))
      shown[i] = 0;
}

/* sysprof-cli --memprof loads this library. Its malloc() is the innermost function of all
 * stacks, where the function that needs the memory is of interest. */
static void
hide_hooks (SymbolId *shown, const SymbolTable *symbols)
{
  for (SymbolId i = 1; i < symbols->n && sysprof_is_wanted_at (i); i++)
    if (g_str_has_prefix (sysprof_symbol_binary (symbols, i), "libsysprof-memory-"))
      shown[i] = 0;
}

static void
merge (SymbolId *shown, const SymbolTable *symbols, const char *const *names)
{
  for (SymbolId i = 1; i < symbols->n && sysprof_is_wanted_at (i); i++)
    if (g_strv_contains (names, sysprof_symbol_name (symbols, i)))
      shown[i] = 0;
}

static void
collapse (SymbolId *shown, const SymbolTable *symbols, const Shape *shape)
{
  g_autofree SymbolId *first_of_binary = g_new0 (SymbolId, MAX (symbols->strings.n_strings, 1));

  for (SymbolId i = 1; i < symbols->n && sysprof_is_wanted_at (i); i++)
    {
      SymbolId *first = &first_of_binary[symbols->row[i].binary];

      if (!sysprof_shape_collapses (shape, symbols, i))
        continue;
      if (*first == 0)
        *first = i;
      if (shown[i] != 0)
        shown[i] = *first;
    }
}

SymbolId *
sysprof_shown_symbols_new (const Store *store, const SymbolTable *symbols, const Shape *shape)
{
  SymbolId *shown;

  if (shape == NULL || (!shape->hide_system && !shape->no_hooks && shape->collapse == NULL &&
                        shape->merge == NULL))
    return NULL;

  shown = g_new (SymbolId, MAX (symbols->n, 1));
  for (SymbolId i = 0; i < symbols->n; i++)
    shown[i] = i;
  if (shape->hide_system)
    hide_system (shown, store, symbols);
  if (shape->no_hooks)
    hide_hooks (shown, symbols);
  if (shape->merge != NULL)
    merge (shown, symbols, shape->merge);
  if (shape->collapse != NULL)
    collapse (shown, symbols, shape);
  return shown;
}

void
sysprof_shown_symbols_move_focus (const SymbolId *shown,
                                  const SymbolTable *symbols,
                                  bool *is_focus)
{
  for (SymbolId i = 1; shown != NULL && i < symbols->n; i++)
    if (is_focus[i] && shown[i] != 0)
      is_focus[shown[i]] = true;
}
