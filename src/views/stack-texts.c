// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts stacks to the texts of cells, each stack and each address once. */

#include "views/stack-texts.h"

#include "views/unlisted.h"

#include <string.h>

void
sysprof_stack_texts_init (StackTexts *self, const ViewRequest *request, Rows *rows)
{
  *self = (StackTexts){ .request = request,
                        .rows = rows,
                        .shape = sysprof_request_shape (request) };
  self->shown = sysprof_shown_symbols_new (request->store, request->symbols, &self->shape);
  self->texts = g_new0 (const StackText *, MAX (request->store->stacks.n, 1));
  self->entries = g_new0 (const StackEntry *, MAX (request->store->addresses.n, 1));
}

void
sysprof_stack_texts_clear (StackTexts *self)
{
  g_free (self->shown);
  g_free (self->texts);
  g_free (self->entries);
}

/* The function that the shape shows in place of this one; 0 if it hides the function. */
static SymbolId
find_shown (const StackTexts *self, StackId stack)
{
  const SymbolTable *symbols = self->request->symbols;
  SymbolId symbol = sysprof_shown_symbol (
      self->shown, symbols->of_address[self->request->store->stacks.address[stack]]);
  uint8_t kind = symbols->row[symbol].kind;

  return kind == SYMBOL_MARKER || (kind == SYMBOL_KERNEL && self->shape.no_kernel) ? 0 : symbol;
}

static const StackEntry *
dup_entry (StackTexts *self, StackEntry entry)
{
  return memcpy (sysprof_arena_alloc (&self->rows->arena, sizeof entry), &entry, sizeof entry);
}

/* The text of the address, the same in all stacks. */
static const StackEntry *
entry_of (StackTexts *self, AddressId address, SymbolId symbol)
{
  const SymbolTable *symbols = self->request->symbols;
  StackEntry entry;

  if (self->entries[address] != NULL)
    return self->entries[address];
  entry = (StackEntry){ .symbol = sysprof_symbol_name (symbols, symbol),
                        .binary = sysprof_symbol_binary (symbols, symbol),
                        .kind = symbols->row[symbol].kind,
                        .is_inlined = symbols->row[symbol].is_inlined };
  if (symbols->line != NULL && symbols->line[address] != 0)
    {
      entry.file = sysprof_intern_get (&symbols->strings, symbols->file[address]);
      entry.line = symbols->line[address];
    }

  if (sysprof_shape_collapses (&self->shape, symbols, symbol))
    {
      g_autofree char *label = g_strdup_printf ("[%s]", entry.binary);

      entry.symbol = sysprof_rows_dup (self->rows, label);
      entry.line = 0;
      entry.is_inlined = false;
    }
  return self->entries[address] = dup_entry (self, entry);
}

/* The entry that ends a truncated stack. */
static const StackEntry *
entry_of_cut (StackTexts *self, StackId stack)
{
  const Store *store = self->request->store;
  const SymbolTable *symbols = self->request->symbols;
  const char *text = "[stack truncated]";

  for (StackId at = stack; store->stacks.depth[at] > 0; at = store->stacks.parent[at])
    {
      SymbolId symbol = symbols->of_address[store->stacks.address[at]];

      if (symbols->row[symbol].kind == SYMBOL_MARKER)
        text = sysprof_symbol_name (symbols, symbol);
    }
  if (self->cut == NULL || self->cut->symbol != text)
    self->cut =
        dup_entry (self, (StackEntry){ .symbol = text, .binary = "", .kind = SYMBOL_MARKER });
  return self->cut;
}

const StackText *
sysprof_stack_texts_get (StackTexts *self, StackId stack)
{
  const Store *store = self->request->store;
  Arena *arena = &self->rows->arena;
  StackText *text;
  const StackEntry **entries;
  SymbolId last = 0;
  uint32_t n = 0;

  if (self->texts[stack])
    return self->texts[stack];
  text = sysprof_arena_alloc (arena, sizeof *text);
  entries = sysprof_arena_alloc (arena, sizeof *entries * (store->stacks.depth[stack] + 1u));
  for (StackId at = stack; store->stacks.depth[at] > 0; at = store->stacks.parent[at])
    {
      SymbolId symbol = find_shown (self, at);

      if (symbol == 0 ||
          (symbol == last &&
           (self->shape.fold_recursion ||
            sysprof_shape_collapses (&self->shape, self->request->symbols, symbol))))
        continue;
      entries[n++] = entry_of (self, store->stacks.address[at], symbol);
      last = symbol;
    }
  if (sysprof_stack_end (store, self->request->symbols, stack) == STACK_CUT)
    entries[n++] = entry_of_cut (self, stack);
  *text = (StackText){ n, entries };
  self->texts[stack] = text;
  return text;
}

const StackText *
sysprof_request_stack_text (const ViewRequest *request, StackId stack, Rows *rows)
{
  const StackText *text;
  StackTexts texts;

  sysprof_stack_texts_init (&texts, request, rows);
  text = sysprof_stack_texts_get (&texts, stack);
  sysprof_stack_texts_clear (&texts);
  return text;
}
