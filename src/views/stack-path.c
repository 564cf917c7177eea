// SPDX-License-Identifier: GPL-3.0-or-later

/* Stacks along a path of functions. */

#include "views/stack-path.h"

#include "views/sample-rows.h"

#include <string.h>

#define OFF_PATH UINT32_MAX

typedef struct
{
  const StackPath *path;
  const Store *store;
  const SymbolTable *symbols;
  const Shape *shape;
  SymbolId *shown; /* [symbols->n] or NULL */
  uint32_t n;      /* functions of the path */
} Matching;

/* The function of a stack entry as trees show it; 0 if they do not. */
static SymbolId
get_symbol (const Matching *self, StackId stack)
{
  SymbolId symbol = self->symbols->of_address[self->store->stacks.address[stack]];

  if (self->shape->no_kernel && self->symbols->row[symbol].kind == SYMBOL_KERNEL)
    return 0;
  return sysprof_shown_symbol (self->shown, symbol);
}

/* Whether a function has the name and the binary at an index of the path. A binary that is shown
 * as one function has its name in brackets. */
static bool
is_at (const Matching *self, uint32_t i, SymbolId symbol)
{
  const char *name = self->path->functions[i], *binary = self->path->binaries[i];

  return strcmp (sysprof_symbol_binary (self->symbols, symbol), binary) == 0 &&
         (strcmp (sysprof_symbol_name (self->symbols, symbol), name) == 0 ||
          (sysprof_shape_collapses (self->shape, self->symbols, symbol) && name[0] == '['));
}

/* Number of functions of the path that are matched after one more function. */
static uint32_t
advance (const Matching *self, uint32_t matched, SymbolId symbol)
{
  if (matched == self->n || matched == OFF_PATH || symbol == 0)
    return matched;
  if (is_at (self, matched, symbol))
    return matched + 1;
  if (self->shape->fold_recursion && matched > 0 && is_at (self, matched - 1, symbol))
    return matched;
  if (self->path->is_anchored)
    return OFF_PATH;
  return is_at (self, 0, symbol) ? 1 : 0;
}

/* In the order of the table, in which parents have smaller numbers than their children. */
static void
match_top_down (const Matching *self, uint8_t *is_on)
{
  const StackTree *stacks = &self->store->stacks;
  g_autofree uint32_t *matched = g_new0 (uint32_t, MAX (stacks->n, 1));

  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    {
      if (stacks->depth[i] > 0)
        matched[i] = advance (self, matched[stacks->parent[i]], get_symbol (self, i));
      is_on[i] = matched[i] == self->n;
    }
}

static void
match_bottom_up (const Matching *self, uint8_t *is_on)
{
  const StackTree *stacks = &self->store->stacks;

  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    {
      uint32_t matched = 0;

      for (StackId at = i; stacks->depth[at] > 0 && matched < self->n; at = stacks->parent[at])
        matched = advance (self, matched, get_symbol (self, at));
      is_on[i] = matched == self->n;
    }
}

uint8_t *
sysprof_stack_path_find (const StackPath *self, const ViewRequest *request)
{
  const Store *store = request->store;
  const StackEvents *events = sysprof_filter_events (request->filter, store);
  const uint8_t *filtered = request->filter != NULL ? request->filter->event_is_in : NULL;
  Shape shape = sysprof_request_shape (request);
  g_autofree SymbolId *shown = sysprof_shown_symbols_new (store, request->symbols, &shape);
  Matching matching = { self, store, request->symbols, &shape, shown, 0 };
  g_autofree uint8_t *stack_is_on = g_new0 (uint8_t, MAX (store->stacks.n, 1));
  uint8_t *is_on = g_new0 (uint8_t, MAX (events->n, 1));

  while (self->functions != NULL && self->functions[matching.n] != NULL)
    matching.n++;
  if (shape.bottom_up)
    match_bottom_up (&matching, stack_is_on);
  else
    match_top_down (&matching, stack_is_on);
  for (uint32_t i = 0; i < events->n && sysprof_is_wanted_at (i); i++)
    is_on[i] =
        stack_is_on[events->stack[i]] && (filtered == NULL || filtered[i]) &&
        (self->tid < 0 || events->tid[i] == self->tid) &&
        (self->process == NULL ||
         strcmp (sysprof_store_string (store, store->processes.row[events->process[i]].comm),
                 self->process) == 0);
  return is_on;
}
