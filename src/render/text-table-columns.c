// SPDX-License-Identifier: GPL-3.0-or-later

/* Selects the columns of a table and their widths. A table fits the width of a terminal: it
 * omits columns in the order of Column.extra, then shortens graphs and texts. Without a
 * terminal it must not shorten anything. */

#include "render/text-table-private.h"

#include <string.h>

#define TEXT_COLUMN_MAX 60 /* greatest width of a text column that is not the last one */
#define TEXT_COLUMN_MIN 12 /* least width of a text column */
#define LONG_COLUMN_MIN 40 /* least width of a long last text, if it needs it */
#define LEAST_GRAPH     8  /* columns */

static uint32_t
rank_of_column (const Column *column)
{
  return column->is_long ? 2 : sysprof_column_is_figure (column) ? 0 : 1;
}

/* Whether all cells of an optional column are empty. */
static bool
is_empty_column (const Rows *rows, uint32_t index)
{
  const Column *column = &rows->columns[index];
  bool is_text = column->kind == COLUMN_TEXT;

  if (is_text ? column->extra == 0 : !column->may_miss || rows->n_rows == 0)
    return false;
  for (uint32_t row = 0; row < rows->n_rows && sysprof_is_wanted_at (row); row++)
    {
      Cell cell = sysprof_rows_cells (rows, row)[index];

      if (is_text ? cell.text[0] != '\0' : !sysprof_cell_is_none (column, cell))
        return false;
    }
  return true;
}

static void
order_columns (TextTable *table)
{
  const Rows *rows = table->rows;

  for (uint32_t rank = 0; rank < 3; rank++)
    for (uint32_t i = 0; i < rows->n_columns; i++)
      if (!rows->columns[i].json_only && rows->columns[i].heading == 0 &&
          rows->columns[i].kind != COLUMN_TEXTS && rank_of_column (&rows->columns[i]) == rank &&
          !is_empty_column (rows, i))
        table->order[table->n++] = i;
}

/* The greatest count is the widest. Many texts are equal to that of the row before. */
static size_t
measure_cells (const TextTable *table, uint32_t position)
{
  const Rows *rows = table->rows;
  const Column *column = sysprof_text_table_column (table, position);
  const Cell *cells = rows->cells + table->order[position];
  const char *last = NULL;
  uint64_t greatest = 0;
  size_t width = 0;

  for (uint32_t row = 0; row < rows->n_rows && sysprof_is_wanted_at (row);
       row++, cells += rows->n_columns)
    if (column->kind == COLUMN_COUNT)
      greatest = MAX (greatest, cells->count);
    else if (column->kind != COLUMN_TEXT)
      {
        g_autofree char *text = sysprof_text_table_dup_shown (table, column, *cells);

        width = MAX (width, sysprof_text_columns (text));
      }
    else if (cells->text != last)
      {
        CellText room;
        size_t columns = sysprof_text_columns (sysprof_cell_text (column, *cells, &room));

        width = MAX (width, columns);
        sysprof_cell_text_clear (&room);
        last = cells->text;
      }

  if (column->kind == COLUMN_COUNT)
    {
      char grouped[SYSPROF_GROUPED_SIZE];

      width = strlen (sysprof_format_grouped (greatest, grouped));
    }
  return width;
}

static size_t
measure_column (const TextTable *table, uint32_t position)
{
  size_t title = strlen (sysprof_text_table_column (table, position)->title),
         cells = measure_cells (table, position);

  return MAX (title, cells);
}

static void
measure_columns (TextTable *table)
{
  for (uint32_t i = 0; i < table->n; i++)
    {
      const Column *column = sysprof_text_table_column (table, i);
      size_t width = 0;

      /* No column is aligned with a long text. */
      if (!column->is_long || table->request->terminal_width > 0)
        width = measure_column (table, i);
      if (column->is_long)
        table->long_width = width;
      else if (sysprof_column_is_figure (column) || i + 1 == table->n)
        table->width[i] = width;
      else
        table->width[i] = MIN (width, TEXT_COLUMN_MAX);
    }
}

/* Width including the gap before and the text after it. */
static size_t
width_at (const TextTable *table, uint32_t position)
{
  return (position > 0 ? 2 : 0) + table->width[position] +
         (sysprof_text_table_column (table, position)->share ? SHARE_COLUMNS + 1 : 0);
}

static void
remove_column (TextTable *table, uint32_t position)
{
  table->n--;
  memmove (&table->order[position], &table->order[position + 1],
           (table->n - position) * sizeof table->order[0]);
  memmove (&table->width[position], &table->width[position + 1],
           (table->n - position) * sizeof table->width[0]);
}

static size_t
sum_widths (const TextTable *table)
{
  size_t sum = 0;

  for (uint32_t i = 0; i < table->n; i++)
    sum += width_at (table, i) + (sysprof_text_table_column (table, i)->is_long
                                      ? MIN (table->long_width, LONG_COLUMN_MIN)
                                      : 0);
  return sum;
}

/* Omits columns of that rank, from the right, while the table is too wide. */
static void
drop_columns (TextTable *table, unsigned rank)
{
  for (uint32_t i = table->n; i-- > 0;)
    if (sysprof_text_table_column (table, i)->extra == rank &&
        sum_widths (table) > table->request->terminal_width)
      remove_column (table, i);
}

/* Removes the column that can be shown below its rows. */
static void
move_below (TextTable *table)
{
  for (uint32_t i = table->n; i-- > 0;)
    if (sysprof_text_table_column (table, i)->may_stand_below &&
        sum_widths (table) > table->request->terminal_width)
      {
        table->below = (int) table->order[i];
        remove_column (table, i);
      }
}

static void
squeeze_graphs (TextTable *table, unsigned squeeze)
{
  table->squeeze = squeeze;
  for (uint32_t i = 0; i < table->n; i++)
    if (sysprof_text_table_column (table, i)->kind == COLUMN_GRAPH)
      table->width[i] = measure_column (table, i);
}

/* Shortens graphs, as long as they stay useful. */
static void
shorten_graphs (TextTable *table)
{
  size_t widest = 0;

  for (uint32_t i = 0; i < table->n; i++)
    if (sysprof_text_table_column (table, i)->kind == COLUMN_GRAPH)
      widest = MAX (widest, table->width[i]);
  for (; sum_widths (table) > table->request->terminal_width && widest >= 2 * LEAST_GRAPH;
       widest /= 2)
    squeeze_graphs (table, 2 * table->squeeze);
}

/* Lengthens graphs into the room of omitted columns. */
static void
lengthen_graphs (TextTable *table)
{
  while (table->squeeze > 1)
    {
      squeeze_graphs (table, table->squeeze / 2);
      if (sum_widths (table) > table->request->terminal_width)
        {
          squeeze_graphs (table, 2 * table->squeeze);
          return;
        }
    }
}

/* Shortens the widest texts, never figures. */
static void
shrink_texts (TextTable *table)
{
  for (size_t sum = sum_widths (table); sum > table->request->terminal_width; sum--)
    {
      uint32_t widest = table->n;

      for (uint32_t i = 0; i < table->n; i++)
        if (!sysprof_column_is_figure (sysprof_text_table_column (table, i)) &&
            sysprof_text_table_column (table, i)->kind != COLUMN_GRAPH &&
            (widest == table->n || table->width[i] > table->width[widest]))
          widest = i;
      if (widest == table->n || table->width[widest] <= TEXT_COLUMN_MIN)
        return;
      table->width[widest]--;
    }
}

void
sysprof_text_table_fit (TextTable *table)
{
  order_columns (table);
  measure_columns (table);
  if (table->request->terminal_width == 0)
    return;

  for (unsigned rank = MOST_EXTRA; rank > 2; rank--)
    drop_columns (table, rank);
  move_below (table);
  shorten_graphs (table);
  drop_columns (table, 2);
  drop_columns (table, 1);
  lengthen_graphs (table);
  shrink_texts (table);
}
