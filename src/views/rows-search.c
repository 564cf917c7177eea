// SPDX-License-Identifier: GPL-3.0-or-later

/* The rows of any view that contain what is sought. Each is looked at once, for which no index is worth making. */

#include "analyze/analyze.h"
#include "views/rows.h"

static void
append_cell (GString *text, ColumnKind kind, const Cell *cell)
{
  if (kind == COLUMN_TEXT)
    g_string_append_printf (text, "%s\n", cell->text);
  else if (kind == COLUMN_TEXTS)
    for (const char *const *at = cell->texts; *at != NULL; at++)
      g_string_append_printf (text, "%s\n", *at);
  else if (kind == COLUMN_STACK)
    for (uint32_t i = 0; i < cell->stack->n; i++)
      g_string_append_printf (text, "%s\n%s\n", cell->stack->entries[i].symbol,
                              cell->stack->entries[i].binary);
}

/* Terms may stand in different columns. */
static bool
row_fits (const Rows *rows, uint32_t row, const TextQuery *query, GString *buffer)
{
  g_string_truncate (buffer, 0);
  for (uint32_t i = 0; i < rows->n_columns; i++)
    append_cell (buffer, rows->columns[i].kind, &sysprof_rows_cells (rows, row)[i]);
  return sysprof_text_query_fit (query, &(TextFields){ { buffer->str } }) != TEXT_DOES_NOT_FIT;
}

void
sysprof_rows_search (Rows *self, const char *terms)
{
  g_autoptr (TextQuery) query = sysprof_text_query_new (terms);
  g_autofree bool *is_kept = g_new0 (bool, self->n_rows + 1);
  g_autofree uint32_t *order = g_new (uint32_t, MAX (self->n_rows, 1));
  g_autoptr (GString) buffer = g_string_new (NULL);
  const uint32_t n_hidden = self->n_hidden;
  uint32_t n = 0;

  if (sysprof_text_query_is_empty (query))
    return;
  for (uint32_t i = 0; i < self->n_rows && sysprof_is_wanted_at (i); i++)
    if (!is_kept[i + 1] && row_fits (self, i, query, buffer))
      for (uint32_t row = i + 1; row != 0 && !is_kept[row];
           row = self->parent != NULL ? self->parent[row - 1] : 0)
        is_kept[row] = true;
  for (uint32_t row = 0; row < self->n_rows && sysprof_is_wanted_at (row); row++)
    if (is_kept[row + 1])
      order[n++] = row;
  sysprof_rows_permute (self, order, n);
  self->n_hidden = n_hidden; /* no limit is in the way of those that do not fit */
}
