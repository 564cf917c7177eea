// SPDX-License-Identifier: GPL-3.0-or-later

/* Selects the rows that contain the search terms, for any view. Many rows share texts and
 * stacks, so a small cache keeps the result of each text. An index would cost more than one
 * search. */

#include "analyze/analyze.h"
#include "views/views.h"

#include <string.h>

#define MEMORY_BITS 16

typedef struct
{
  const void *text; /* or StackText */
  uint64_t terms;
} Remembered;

typedef struct
{
  const TextQuery *query;
  uint32_t first;     /* index of the first of up to 64 terms that are searched now */
  uint64_t all;       /* bits of all these terms */
  Remembered *memory; /* [1 << MEMORY_BITS] cache by address; a new entry replaces an old one */
} Search;

static Remembered *
find_place (const Search *self, const void *text)
{
  uint64_t hash = (uint64_t) (uintptr_t) text * UINT64_C (0x9e3779b97f4a7c15);

  return &self->memory[hash >> (64 - MEMORY_BITS)];
}

static uint64_t
terms_of_text (const Search *self, const char *text)
{
  Remembered *place = find_place (self, text);

  if (place->text != text)
    *place =
        (Remembered){ text, sysprof_text_query_find_terms (self->query, self->first, text) };
  return place->terms;
}

static uint64_t
terms_of_stack (const Search *self, const StackText *stack)
{
  Remembered *place = find_place (self, stack);
  uint64_t terms = 0;

  if (place->text == stack)
    return place->terms;
  for (uint32_t i = 0; i < stack->n; i++)
    terms |= terms_of_text (self, stack->entries[i]->symbol) |
             terms_of_text (self, stack->entries[i]->binary);
  *place = (Remembered){ stack, terms };
  return terms;
}

static uint64_t
terms_of_cell (const Search *self, ColumnKind kind, const Cell *cell)
{
  uint64_t terms = 0;

  if (kind == COLUMN_TEXT)
    return terms_of_text (self, cell->text);
  if (kind == COLUMN_STACK)
    return terms_of_stack (self, cell->stack);
  if (kind == COLUMN_TEXTS)
    for (const char *const *at = cell->texts; *at != NULL; at++)
      terms |= terms_of_text (self, *at);
  return terms;
}

/* The terms may be in different columns. */
static bool
row_fits (const Search *self, const Rows *rows, uint32_t row)
{
  uint64_t terms = 0;

  for (uint32_t i = 0; i < rows->n_columns && terms != self->all; i++)
    terms |= terms_of_cell (self, rows->columns[i].kind, &sysprof_rows_cells (rows, row)[i]);
  return terms == self->all;
}

/* Sets fits[rows->n_rows]. Searches up to 64 terms at once; users rarely type more. */
static void
find_rows (const Rows *rows, const TextQuery *query, bool *fits)
{
  const uint32_t n_terms = sysprof_text_query_get_n_terms (query);
  g_autofree Remembered *memory = g_new (Remembered, 1 << MEMORY_BITS);
  Search search = { .query = query, .memory = memory };

  for (; search.first < n_terms; search.first += 64)
    {
      const uint32_t n = MIN (n_terms - search.first, 64);

      search.all = UINT64_MAX >> (64 - n);
      memset (memory, 0, sizeof *memory << MEMORY_BITS);
      for (uint32_t row = 0; row < rows->n_rows && sysprof_is_wanted_at (row); row++)
        fits[row] = (search.first == 0 || fits[row]) && row_fits (&search, rows, row);
    }
}

void
sysprof_rows_search (Rows *self, const char *terms)
{
  g_autoptr (TextQuery) query = sysprof_text_query_new (terms);
  g_autofree bool *fits = g_new0 (bool, MAX (self->n_rows, 1));
  g_autofree bool *is_kept = g_new0 (bool, self->n_rows + 1);
  g_autofree uint32_t *order = g_new (uint32_t, MAX (self->n_rows, 1));
  const uint32_t n_hidden = self->n_hidden;
  uint32_t n = 0;

  if (sysprof_text_query_is_empty (query))
    return;
  find_rows (self, query, fits);
  for (uint32_t i = 0; i < self->n_rows && sysprof_is_wanted_at (i); i++)
    if (fits[i])
      for (uint32_t row = i + 1; row != 0 && !is_kept[row];
           row = self->parent != NULL ? self->parent[row - 1] : 0)
        is_kept[row] = true;
  for (uint32_t row = 0; row < self->n_rows && sysprof_is_wanted_at (row); row++)
    if (is_kept[row + 1])
      order[n++] = row;
  sysprof_rows_permute (self, order, n);
  self->n_hidden = n_hidden; /* rows that do not match do not count as hidden by a limit */
}
