// SPDX-License-Identifier: GPL-3.0-or-later

/* The rows of any view that contain what is sought. */

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

/* All texts of a row, so that terms may stand in different columns. *(full)* */
static GPtrArray *
dup_texts (const Rows *rows)
{
  GPtrArray *texts = g_ptr_array_new_full (rows->n_rows, g_free);

  for (uint32_t row = 0; row < rows->n_rows; row++)
    {
      GString *text = g_string_new (NULL);

      for (uint32_t i = 0; i < rows->n_columns; i++)
        append_cell (text, rows->columns[i].kind, &sysprof_rows_cells (rows, row)[i]);
      g_ptr_array_add (texts, g_string_free (text, false));
    }
  return texts;
}

void
sysprof_rows_search (Rows *self, const char *query)
{
  g_autoptr (GPtrArray) texts = dup_texts (self);
  g_autoptr (TextIndex) index =
      sysprof_text_index_new ((const char *const *) texts->pdata, texts->len, NULL);
  g_autofree bool *is_kept = g_new0 (bool, self->n_rows + 1);
  g_autofree uint32_t *order = g_new (uint32_t, self->n_rows + 1);
  uint32_t n_matches, n = 0;
  g_autofree TextMatch *matches =
      sysprof_text_index_find (index, query, UINT32_MAX, &n_matches, NULL);

  for (uint32_t i = 0; i < n_matches; i++)
    for (uint32_t row = matches[i].name + 1; row != 0 && !is_kept[row];
         row = self->parent != NULL ? self->parent[row - 1] : 0)
      is_kept[row] = true;
  for (uint32_t row = 0; row < self->n_rows; row++)
    if (is_kept[row + 1])
      order[n++] = row;
  sysprof_rows_permute (self, order, n);
}
