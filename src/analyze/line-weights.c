// SPDX-License-Identifier: GPL-3.0-or-later

/* What the lines of functions weigh. */

#include "analyze/analyze.h"

typedef struct
{
  const Store *store;
  const SymbolTable *symbols;
  uint32_t *
      line_of; /* [addresses.n] 1 + index into `lines`; 0 = not of these functions, or unknown */
  GArray *lines; /* LineWeight */
} Lines;

static guint
hash_place (const void *place)
{
  const LineWeight *line = place;

  return line->file * 31u + line->line;
}

static gboolean
is_same_place (const void *a, const void *b)
{
  const LineWeight *left = a, *right = b;

  return left->file == right->file && left->line == right->line;
}

static void
number_lines (Lines *self, const bool *is_wanted)
{
  const SymbolTable *symbols = self->symbols;
  g_autoptr (GHashTable) known =
      g_hash_table_new_full (hash_place, is_same_place, g_free, NULL);

  for (AddressId i = 0; i < self->store->addresses.n && sysprof_is_wanted_at (i); i++)
    {
      LineWeight line = { .file = symbols->file[i], .line = symbols->line[i] };
      uint32_t number;

      if (!is_wanted[symbols->of_address[i]] || line.line == 0)
        continue;
      number = GPOINTER_TO_UINT (g_hash_table_lookup (known, &line));
      if (number == 0)
        {
          g_array_append_val (self->lines, line);
          number = self->lines->len;
          g_hash_table_insert (known, g_memdup2 (&line, sizeof line),
                               GUINT_TO_POINTER (number));
        }
      self->line_of[i] = number;
    }
}

/* Whether an outer entry is at the same line: `nearest` is the innermost entry of a stack that is at any. */
static bool
recurs (const Lines *self, const StackId *nearest, StackId outer, uint32_t line)
{
  const StackTree *stacks = &self->store->stacks;

  for (StackId at = nearest[outer]; at != 0; at = nearest[stacks->parent[at]])
    if (self->line_of[stacks->address[at]] == line)
      return true;
  return false;
}

static void
weigh (Lines *self, const StackWeights *weights)
{
  const StackTree *stacks = &self->store->stacks;
  g_autofree uint64_t *total = g_new (uint64_t, MAX (stacks->n, 1));
  g_autofree StackId *nearest = g_new0 (StackId, MAX (stacks->n, 1));

  memcpy (total, weights->self, stacks->n * sizeof *total);
  for (StackId i = stacks->n; i-- > 0 && sysprof_is_wanted_at (i);)
    if (stacks->depth[i] > 0)
      total[stacks->parent[i]] += total[i];

  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    {
      uint32_t number = stacks->depth[i] > 0 ? self->line_of[stacks->address[i]] : 0;
      LineWeight *line;

      if (number == 0)
        {
          nearest[i] = stacks->depth[i] > 0 ? nearest[stacks->parent[i]] : 0;
          continue;
        }
      nearest[i] = i;
      line = &g_array_index (self->lines, LineWeight, number - 1);
      line->self += weights->self[i];
      if (!recurs (self, nearest, stacks->parent[i], number))
        line->total += total[i];
    }
}

static int
compare_places (const void *a, const void *b, void *data)
{
  const SymbolTable *symbols = data;
  const LineWeight *left = a, *right = b;
  int order = 0;

  if (left->file != right->file)
    order = strcmp (sysprof_intern_get (&symbols->strings, left->file),
                    sysprof_intern_get (&symbols->strings, right->file));
  if (order != 0)
    return order;
  return (left->line > right->line) - (left->line < right->line);
}

LineWeight *
sysprof_lines_weigh (const Store *store,
                     const SymbolTable *symbols,
                     const StackWeights *weights,
                     const bool *is_wanted,
                     uint32_t *n)
{
  Lines self = { .store = store,
                 .symbols = symbols,
                 .line_of = g_new0 (uint32_t, MAX (store->addresses.n, 1)),
                 .lines = g_array_new (FALSE, FALSE, sizeof (LineWeight)) };

  if (symbols->line != NULL)
    {
      number_lines (&self, is_wanted);
      weigh (&self, weights);
    }
  g_free (self.line_of);
  *n = self.lines->len;
  if (self.lines->len > 0)
    (void) sysprof_sort_if_wanted (self.lines->data, self.lines->len, sizeof (LineWeight),
                                   compare_places, (void *) symbols);
  return (LineWeight *) (void *) g_array_free (self.lines, FALSE);
}
