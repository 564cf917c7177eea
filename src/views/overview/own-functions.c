// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds own functions in one pass over the stacks, from the outermost function inwards. It
 * knows functions by their names alone and never opens a file. */

#include "views/overview/own-functions.h"

#include "text/text.h"
#include "views/sample-rows.h"

#include <fnmatch.h>
#include <string.h>

typedef enum
{
  NOT_SEEN,
  OWN,
  OPERATOR,   /* own if no own function called it */
  ASSEMBLY,   /* own, unless a runtime calls it */
  OF_LIBRARY, /* or of the kernel */
  OF_RUNTIME, /* of Go: functions that it calls may be assembly without a package */
  EVALUATOR,  /* of a script: the functions that it calls are called by the script */
  DISPATCHER, /* finds the function that a script calls; or without a name */
} Origin;

/* Where library functions may be part of the executable file. */
static const struct
{
  const char *pattern; /* of the function's name without its return type */
  Origin origin;
} origins[] = {
  { "std::*", OF_LIBRARY },      { "__gnu_cxx::*", OF_LIBRARY },
  { "core::*", OF_LIBRARY },     { "alloc::*", OF_LIBRARY },
  { "*@plt", OF_LIBRARY },       { "_start", OF_LIBRARY },
  { "*operator*", OPERATOR },    { "runtime.*", OF_RUNTIME },
  { "Builtins_*", EVALUATOR },   { "_PyEval_EvalFrameDefault", EVALUATOR },
  { "[[]*", DISPATCHER },        { "Py[A-Z]*", DISPATCHER },
  { "_Py*", DISPATCHER },        { "*vectorcall*", DISPATCHER },
  { "cfunction_*", DISPATCHER }, { "object_*", DISPATCHER },
  { "slot_*", DISPATCHER },
};

/* Folders of headers and sources of libraries, as debug information names them. */
static const char *const library_folders[] = { "/usr/include/", "/include/c++/", "/rustc/" };

static Origin
find_origin (const SymbolTable *symbols, SymbolId symbol)
{
  const Symbol *row = &symbols->row[symbol];
  const char *name = sysprof_skip_return_type (sysprof_symbol_name (symbols, symbol));
  const char *binary = sysprof_symbol_binary (symbols, symbol);
  const char *file = sysprof_intern_get (&symbols->strings, row->file);
  Origin origin;

  if (row->kind == SYMBOL_JIT)
    return OWN;
  if (row->kind != SYMBOL_USER && row->kind != SYMBOL_INLINE)
    return OF_LIBRARY;
  origin = binary[0] == '[' || strstr (binary, ".so") != NULL ? OF_LIBRARY : OWN;
  for (size_t i = 0; i < G_N_ELEMENTS (library_folders); i++)
    if (file != NULL && strstr (file, library_folders[i]) != NULL)
      return OF_LIBRARY;
  for (size_t i = 0; i < G_N_ELEMENTS (origins); i++)
    if (fnmatch (origins[i].pattern, name, 0) == 0)
      return origins[i].origin;
  return origin == OWN && strpbrk (name, ".:(") == NULL ? ASSEMBLY : origin;
}

void
sysprof_own_functions_init (OwnFunctions *self, const Store *store, const SymbolTable *symbols)
{
  const StackTree *stacks = &store->stacks;
  g_autofree uint8_t *origins_of = g_new0 (uint8_t, MAX (symbols->n, 1));
  g_autofree bool *is_evaluated = g_new0 (bool, MAX (stacks->n, 1));

  self->own = g_new0 (SymbolId, MAX (stacks->n, 1));
  self->callee = g_new0 (SymbolId, MAX (stacks->n, 1));
  /* Parents come before their children. */
  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    if (stacks->depth[i] > 0)
      {
        StackId parent = stacks->parent[i];
        SymbolId symbol = symbols->of_address[stacks->address[i]];
        SymbolId own = self->own[parent], callee = self->callee[parent];
        bool own_is_native = own != 0 && symbols->row[own].kind != SYMBOL_JIT;
        Origin origin;

        if (origins_of[symbol] == NOT_SEEN)
          origins_of[symbol] = find_origin (symbols, symbol);
        origin = origins_of[symbol];
        is_evaluated[i] = origin == EVALUATOR || is_evaluated[parent];
        if (symbols->row[symbol].kind == SYMBOL_JIT || !is_evaluated[i])
          {
            bool is_own = origin == OWN || (origin == OPERATOR && own == 0) ||
                          (origin == ASSEMBLY && origins_of[callee] != OF_RUNTIME);

            if (is_own)
              own = symbol;
            if (is_own || (own != 0 && callee == 0))
              callee = is_own ? 0 : symbol;
          }
        else if (origin == EVALUATOR && symbols->row[own].kind != SYMBOL_JIT)
          own = callee = 0;
        else if (origin != EVALUATOR && (origin != DISPATCHER || own_is_native))
          {
            if (own == 0)
              own = symbol;
            else if (callee == 0)
              callee = symbol;
          }
        self->own[i] = own;
        self->callee[i] = callee;
      }
}

void
sysprof_own_functions_clear (OwnFunctions *self)
{
  g_free (self->own);
  g_free (self->callee);
}

static SymbolId
find_most (const uint64_t *weight, uint32_t n)
{
  SymbolId most = 0;

  for (SymbolId i = 1; i < n; i++)
    if (weight[i] > weight[most])
      most = i;
  return most;
}

OwnFunction
sysprof_own_functions_find_heaviest (const OwnFunctions *self,
                                     const Store *store,
                                     const SymbolTable *symbols,
                                     const StackWeights *weights)
{
  g_autofree uint64_t *weight = g_new0 (uint64_t, MAX (symbols->n, 1));
  OwnFunction heaviest = { 0 };

  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    if (self->own[i] != 0)
      weight[self->own[i]] += weights->self[i];
  heaviest.symbol = find_most (weight, symbols->n);
  heaviest.weight = weight[heaviest.symbol];
  memset (weight, 0, symbols->n * sizeof *weight);
  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    if (self->own[i] == heaviest.symbol && self->callee[i] != 0)
      weight[self->callee[i]] += weights->self[i];
  heaviest.callee = find_most (weight, symbols->n);
  heaviest.callee_weight = weight[heaviest.callee];
  return heaviest;
}
