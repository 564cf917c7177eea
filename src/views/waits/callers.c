// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions of programs on stacks. See callers.h. */

#include "views/waits/callers.h"

#include "text/text.h"

#define LIBRARY_COLUMNS 28 /* of the name of a library's function, if it can be shortened */

/* Libraries and functions whose callers are more interesting: by the start of their names. */
static const char *const runtime_binaries[] = {
  "libc.so", "libc-2.", "libpthread", "ld-linux", "ld-musl", "libc.musl", "libstdc++", "[vdso]",
};
static const char *const runtime_functions[] = {
  "runtime.", "std::",   "__gthread_", "__glibcxx_",
  "g_mutex_", "g_cond_", "g_rw_lock_", "g_rec_mutex_",
};

void
sysprof_stack_callers_init (StackCallers *self, const Store *store, const SymbolTable *symbols)
{
  *self = (StackCallers){
    .store = store,
    .symbols = symbols,
    .of_stack = g_new0 (Callers, MAX (store->stacks.n, 1)),
    .has_callers = g_new0 (uint8_t, MAX (store->stacks.n, 1)),
    .is_runtime = g_new0 (uint8_t, MAX (symbols->n, 1)),
  };
}

void
sysprof_stack_callers_clear (StackCallers *self)
{
  g_free (self->of_stack);
  g_free (self->has_callers);
  g_free (self->is_runtime);
}

static bool
has_prefix_of (const char *text, const char *const *prefixes, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (g_str_has_prefix (text, prefixes[i]))
      return true;
  return false;
}

static bool
is_runtime (StackCallers *self, SymbolId symbol)
{
  uint8_t *state = &self->is_runtime[symbol];

  if (*state == 0)
    *state = has_prefix_of (sysprof_symbol_binary (self->symbols, symbol), runtime_binaries,
                            G_N_ELEMENTS (runtime_binaries)) ||
                     has_prefix_of (
                         sysprof_skip_return_type (sysprof_symbol_name (self->symbols, symbol)),
                         runtime_functions, G_N_ELEMENTS (runtime_functions))
                 ? 2
                 : 1;
  return *state == 2;
}

static Callers
find_callers (StackCallers *self, StackId stack)
{
  const StackTree *stacks = &self->store->stacks;
  Callers callers = { 0 };

  for (StackId at = stack; stacks->depth[at] > 0; at = stacks->parent[at])
    {
      SymbolId symbol = self->symbols->of_address[stacks->address[at]];
      uint8_t kind = self->symbols->row[symbol].kind;

      if (kind != SYMBOL_USER && kind != SYMBOL_INLINE && kind != SYMBOL_JIT)
        continue;
      if (callers.callee == 0 && is_runtime (self, symbol))
        callers.library = symbol;
      else if (callers.callee == 0)
        callers.callee = symbol;
      else if (symbol != callers.callee && !is_runtime (self, symbol))
        {
          callers.caller = symbol;
          break;
        }
    }
  return callers;
}

const Callers *
sysprof_stack_callers_find (StackCallers *self, StackId stack)
{
  if (!self->has_callers[stack])
    {
      self->of_stack[stack] = find_callers (self, stack);
      self->has_callers[stack] = 1;
    }
  return &self->of_stack[stack];
}

char *
sysprof_dup_callers (const StackCallers *self, const Callers *callers, bool with_caller)
{
  const SymbolId parts[] = { callers->library, callers->callee,
                             with_caller ? callers->caller : 0 };
  GString *text = g_string_new (NULL);

  for (size_t i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i] != 0)
      {
        const char *whole = sysprof_symbol_name (self->symbols, parts[i]);
        g_autofree char *shown =
            i == 0 ? sysprof_dup_short_name (whole, LIBRARY_COLUMNS) : g_strdup (whole);
        g_autofree char *name = sysprof_dup_one_line (shown);

        g_string_append_printf (text, "%s%s", text->len > 0 ? " < " : "", name);
      }
  return g_string_free (text, FALSE);
}
