// SPDX-License-Identifier: GPL-3.0-or-later

/* Formats cells as text, for people and for programs. */

#include "render/renderers.h"
#include "text/text.h"

#include <math.h>

bool
sysprof_column_is_figure (const Column *column)
{
  return column->kind != COLUMN_TEXT && column->kind != COLUMN_TEXTS &&
         column->kind != COLUMN_OPTIONS && column->kind != COLUMN_STACK &&
         column->kind != COLUMN_GRAPH;
}

bool
sysprof_cell_is_none (const Column *column, Cell cell)
{
  switch (column->kind)
    {
    case COLUMN_DURATION:
    case COLUMN_TIME:
    case COLUMN_BYTES:
    case COLUMN_NUMBER:
      return cell.number == NO_NUMBER;
    case COLUMN_REAL:
      return !isfinite (cell.real);
    case COLUMN_QUANTITY:
      return !isfinite (cell.quantity->value);
    default:
      return false;
    }
}

const char *
sysprof_format_real (double value, char buffer[G_ASCII_DTOSTR_BUF_SIZE])
{
  /* Whole numbers have no decimal point; doubles hold them exactly. */
  if (fabs (value) < 0x1p53 && floor (value) == value)
    {
      g_snprintf (buffer, G_ASCII_DTOSTR_BUF_SIZE, "%" G_GINT64_FORMAT, (int64_t) value);
      return buffer;
    }
  /* The shortest form that reads back as the same number: 0.1, not 0.10000000000000001. */
  g_ascii_formatd (buffer, G_ASCII_DTOSTR_BUF_SIZE, "%.15g", value);
  return g_ascii_strtod (buffer, NULL) == value
             ? buffer
             : g_ascii_dtostr (buffer, G_ASCII_DTOSTR_BUF_SIZE, value);
}

double
sysprof_graph_share (double value, double least, double most)
{
  /* Halves avoid overflow: the difference of two doubles may exceed a double. */
  double width = most / 2 - least / 2;
  double share = width > 0 ? (value / 2 - least / 2) / width : 0;

  return share > 0 ? fmin (share, 1) : 0;
}

void
sysprof_graph_limits (const GraphValues *graph, double *least, double *most)
{
  *least = graph->from_zero ? 0 : INFINITY;
  *most = graph->from_zero ? 0 : -INFINITY;
  for (uint32_t i = 0; i < graph->n; i++)
    if (isfinite (graph->values[i]))
      {
        *least = fmin (*least, graph->values[i]);
        *most = fmax (*most, graph->values[i]);
      }
  if (graph->most > 0)
    *most = graph->most;
}

/* Mean of the finite values; NAN if there are none. */
static double
mean_of (const double *values, uint32_t n)
{
  double sum = 0;
  uint32_t n_numbers = 0;

  for (uint32_t i = 0; i < n; i++)
    if (isfinite (values[i]))
      {
        sum += values[i];
        n_numbers++;
      }
  return n_numbers > 0 ? sum / n_numbers : NAN;
}

/* One block character per value; a blank for no value. *(full)* */
static char *
dup_blocks (const GraphValues *graph)
{
  static const char *const blocks[] = {
    "\342\226\201", "\342\226\202", "\342\226\203", "\342\226\204",
    "\342\226\205", "\342\226\206", "\342\226\207", "\342\226\210",
  };
  GString *text = g_string_new (NULL);
  double least, most;

  sysprof_graph_limits (graph, &least, &most);
  for (uint32_t i = graph->first; i < graph->n; i++)
    {
      double value = graph->values[i];
      double share = sysprof_graph_share (value, least, most);

      if (!isfinite (value) || (graph->from_zero && value == 0))
        g_string_append_c (text, ' ');
      else
        g_string_append (text, blocks[(size_t) (share * (G_N_ELEMENTS (blocks) - 1) + 0.5)]);
    }
  return g_string_free (text, FALSE);
}

char *
sysprof_dup_graph (const GraphValues *graph, unsigned squeeze)
{
  uint32_t n = graph->n - MIN (graph->first, graph->n);
  g_autofree double *values = NULL; /* [n / squeeze, rounded up] */
  GraphValues squeezed = *graph;

  if (squeeze <= 1)
    return dup_blocks (graph);
  values = g_new (double, n / squeeze + 1);
  squeezed.first = squeezed.n = 0;
  squeezed.values = values;
  for (uint32_t i = 0; i < n; i += squeeze)
    values[squeezed.n++] = mean_of (graph->values + graph->first + i, MIN (squeeze, n - i));
  return dup_blocks (&squeezed);
}

static char *
dup_joined (const char *const *texts)
{
  g_autofree char *joined = g_strjoinv (" ", (char **) texts);

  return sysprof_dup_one_line (joined);
}

/* Functions with their source locations and inlining, where known. */
static char *
dup_stack (const StackText *stack)
{
  g_autoptr (GString) joined = g_string_new (NULL);

  for (uint32_t i = 0; i < stack->n; i++)
    {
      const StackEntry *entry = stack->entries[i];

      g_autofree char *place = sysprof_dup_source_location_of_entry (entry);

      g_string_append_printf (joined, "%s%s", i ? " < " : "", entry->symbol);
      if (place != NULL)
        g_string_append_printf (joined, " (%s)", place);
    }
  return sysprof_dup_one_line (joined->str);
}

char *
sysprof_dup_bare_stack (const StackText *stack, bool is_short)
{
  g_autoptr (GString) joined = g_string_new (NULL);

  for (uint32_t i = 0; i < stack->n; i++)
    {
      g_autofree char *name =
          is_short ? sysprof_dup_short_name (stack->entries[i]->symbol, 0) : NULL;

      g_string_append_printf (joined, "%s%s", i ? " < " : "",
                              is_short ? name : stack->entries[i]->symbol);
    }
  return sysprof_dup_one_line (joined->str);
}

const char *
sysprof_cell_text (const Column *column, Cell cell, CellText *room)
{
  room->owned = NULL;
  if (column->kind == COLUMN_TEXT && sysprof_is_plain (cell.text))
    return cell.text;
  if (column->kind == COLUMN_COUNT)
    return sysprof_format_grouped (cell.count, room->number);
  return room->owned = sysprof_dup_cell (column, cell);
}

void
sysprof_cell_text_clear (CellText *room)
{
  g_free (room->owned);
}

char *
sysprof_dup_cell (const Column *column, Cell cell)
{
  char grouped[SYSPROF_GROUPED_SIZE];

  if (sysprof_cell_is_none (column, cell))
    return g_strdup ("-");
  switch (column->kind)
    {
    case COLUMN_TEXT:
      return sysprof_dup_one_line (cell.text);
    case COLUMN_TEXTS:
    case COLUMN_OPTIONS:
      return dup_joined (cell.texts);
    case COLUMN_STACK:
      return dup_stack (cell.stack);
    case COLUMN_COUNT:
      return g_strdup (sysprof_format_grouped (cell.count, grouped));
    case COLUMN_BYTES:
      return column->is_short
                 ? sysprof_dup_quantity ((double) cell.number, "bytes")
                 : g_strdup (sysprof_format_grouped ((uint64_t) MAX (cell.number, 0), grouped));
    case COLUMN_DURATION:
      return sysprof_dup_duration (cell.number);
    case COLUMN_TIME:
      return g_strdup_printf ("%" G_GINT64_FORMAT ".%06d s", cell.number / 1000000000,
                              (int) (cell.number % 1000000000 / 1000));
    case COLUMN_NUMBER:
      return g_strdup_printf ("%" G_GINT64_FORMAT, cell.number);
    case COLUMN_BOOL:
      return g_strdup (cell.flag ? "yes" : "no");
    case COLUMN_REAL:
      return sysprof_dup_real (cell.real);
    case COLUMN_QUANTITY:
      return sysprof_dup_quantity (cell.quantity->value, cell.quantity->unit);
    case COLUMN_GRAPH:
      return sysprof_dup_graph (cell.graph, 1);
    }
  g_assert_not_reached ();
}

void
sysprof_write_each_row (TextWriter *writer,
                        const Rows *rows,
                        RowWriter *write_row,
                        const void *data)
{
  RowTree tree;

  if (!rows->parent)
    {
      for (uint32_t row = 0; row < rows->n_rows && sysprof_text_writer_is_open (writer); row++)
        write_row (writer, rows, row, 0, data);
      return;
    }
  sysprof_row_tree_init (&tree, rows);
  for (uint32_t at = sysprof_row_tree_next (&tree, 0);
       at && sysprof_text_writer_is_open (writer); at = sysprof_row_tree_next (&tree, at))
    write_row (writer, rows, at - 1, tree.depth[at] - 1, data);
  sysprof_row_tree_clear (&tree);
}
