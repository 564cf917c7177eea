// SPDX-License-Identifier: GPL-3.0-or-later

/* Builds, sorts, permutes and cuts rows, the same way for all views. It must not know what
 * the columns of a view mean. */

#include "text/text.h"
#include "views/views.h"

#include <math.h>
#include <string.h>

void
sysprof_rows_init (Rows *self, const Column *columns, uint32_t n_columns, uint64_t total)
{
  *self = (Rows){
    .columns = columns,
    .n_columns = n_columns,
    .total = total,
    .weight_name = "samples",
    .weight_unit = "count",
  };
}

void
sysprof_rows_clear (Rows *self)
{
  g_clear_pointer (&self->cells, g_free);
  g_clear_pointer (&self->parent, g_free);
  sysprof_arena_clear (&self->arena);
  *self = (Rows){ 0 };
}

static void
reserve (Rows *self, bool is_tree)
{
  if (self->n_rows < self->capacity)
    return;
  self->capacity = MAX (64, self->capacity * 2);
  self->cells = g_renew (Cell, self->cells, (size_t) self->capacity * self->n_columns);
  if (is_tree)
    self->parent = g_renew (uint32_t, self->parent, self->capacity);
}

static Cell *
add (Rows *self)
{
  Cell *cells = self->cells + (size_t) self->n_rows++ * self->n_columns;
  static const char *const no_texts[] = { NULL };
  static const StackText no_stack = { 0 };
  static const GraphValues no_graph = { 0 };
  static const Quantity no_quantity = { NAN, "" };

  for (uint32_t i = 0; i < self->n_columns; i++)
    switch (self->columns[i].kind)
      {
      case COLUMN_TEXT:
        cells[i].text = "";
        break;
      case COLUMN_TEXTS:
      case COLUMN_OPTIONS:
        cells[i].texts = no_texts;
        break;
      case COLUMN_STACK:
        cells[i].stack = &no_stack;
        break;
      case COLUMN_GRAPH:
        cells[i].graph = &no_graph;
        break;
      case COLUMN_REAL:
        cells[i].real = 0;
        break;
      case COLUMN_QUANTITY:
        cells[i].quantity = &no_quantity;
        break;
      case COLUMN_COUNT:
      case COLUMN_DURATION:
      case COLUMN_TIME:
      case COLUMN_BYTES:
      case COLUMN_NUMBER:
      case COLUMN_BOOL:
        cells[i].count = 0;
        break;
      }
  return cells;
}

Cell *
sysprof_rows_add (Rows *self)
{
  reserve (self, false);
  return add (self);
}

Cell *
sysprof_rows_add_child (Rows *self, uint32_t parent)
{
  reserve (self, true);
  self->parent[self->n_rows] = parent;
  return add (self);
}

void
sysprof_rows_drop_column (Rows *self, uint32_t column)
{
  uint32_t n = self->n_columns - 1;
  Column *columns = sysprof_arena_alloc (&self->arena, n * sizeof *columns);
  Cell *kept = self->cells;

  for (uint32_t i = 0; i < n; i++)
    columns[i] = self->columns[i + (i >= column)];
  for (uint32_t row = 0; row < self->n_rows; row++)
    for (uint32_t i = 0; i < self->n_columns; i++)
      if (i != column)
        *kept++ = self->cells[(size_t) row * self->n_columns + i];
  self->columns = columns;
  self->n_columns = n;
  self->capacity = self->n_rows;
  self->cells = g_renew (Cell, self->cells, (size_t) self->n_rows * n);
}

const char *
sysprof_rows_dup (Rows *self, const char *text)
{
  return text ? sysprof_arena_strndup (&self->arena, text, strlen (text)) : "";
}

void
sysprof_rows_set_quantity (Rows *self, Cell *cell, double value, const char *unit)
{
  Quantity *quantity = sysprof_arena_alloc (&self->arena, sizeof *quantity);

  *quantity = (Quantity){ value, unit };
  cell->quantity = quantity;
}

double *
sysprof_rows_add_graph (Rows *self, Cell *cell, uint32_t n, bool from_zero)
{
  GraphValues *graph = sysprof_arena_alloc (&self->arena, sizeof *graph);
  double *values = sysprof_arena_alloc (&self->arena, MAX (n, 1) * sizeof *values);

  *graph = (GraphValues){ .n = n, .from_zero = from_zero, .values = values };
  cell->graph = graph;
  for (uint32_t i = 0; i < n; i++)
    values[i] = from_zero ? 0 : NAN;
  return values;
}

int
sysprof_rows_column (const Rows *self, const char *name)
{
  for (uint32_t i = 0; i < self->n_columns; i++)
    if (strcmp (self->columns[i].name, name) == 0)
      return (int) i;
  return -1;
}

void
sysprof_row_tree_init (RowTree *self, const Rows *rows)
{
  uint32_t *last;

  *self = (RowTree){ .n = rows->n_rows + 1 };
  self->first_child = g_new0 (uint32_t, self->n);
  self->next_sibling = g_new0 (uint32_t, self->n);
  self->parent = g_new0 (uint32_t, self->n);
  self->depth = g_new0 (uint32_t, self->n);
  last = g_new0 (uint32_t, self->n);
  for (uint32_t i = 1; i < self->n; i++)
    {
      uint32_t parent = rows->parent ? rows->parent[i - 1] : 0;

      if (!sysprof_is_wanted_at (i))
        {
          self->n = i; /* the nodes so far are a whole tree */
          break;
        }
      g_assert (parent < i);
      self->parent[i] = parent;
      self->depth[i] = self->depth[parent] + 1;
      self->max_depth = MAX (self->max_depth, self->depth[i]);
      if (last[parent])
        self->next_sibling[last[parent]] = i;
      else
        self->first_child[parent] = i;
      last[parent] = i;
    }
  g_free (last);
}

void
sysprof_row_tree_clear (RowTree *self)
{
  g_free (self->first_child);
  g_free (self->next_sibling);
  g_free (self->parent);
  g_free (self->depth);
  *self = (RowTree){ 0 };
}

/* --- shaping --- */

void
sysprof_rows_permute (Rows *self, const uint32_t *order, uint32_t n)
{
  Cell *cells = g_new (Cell, MAX ((size_t) n * self->n_columns, 1));
  uint32_t *parent = self->parent ? g_new (uint32_t, MAX (n, 1)) : NULL;
  uint32_t *moved_to = self->parent ? g_new0 (uint32_t, self->n_rows + 1) : NULL;
  uint32_t n_moved = 0;

  for (; n_moved < n && sysprof_is_wanted_at (n_moved); n_moved++)
    {
      uint32_t from = order[n_moved];

      memcpy (cells + (size_t) n_moved * self->n_columns, sysprof_rows_cells (self, from),
              sizeof (Cell) * self->n_columns);
      if (parent)
        {
          moved_to[from + 1] = n_moved + 1;
          parent[n_moved] = moved_to[self->parent[from]];
        }
    }
  g_free (moved_to);
  g_free (self->cells);
  g_free (self->parent);
  self->cells = cells;
  self->parent = parent;
  self->n_hidden += self->n_rows - n_moved;
  self->n_rows = n_moved;
  self->capacity = n;
}

typedef struct
{
  const Rows *rows;
  uint32_t column;
} SortKey;

/* Descending; values that are not numbers are last. */
static int
compare_reals (double a, double b)
{
  if (isfinite (a) && isfinite (b))
    return (a < b) - (a > b);
  return (isfinite (a) == 0) - (isfinite (b) == 0);
}

static int
compare_rows (gconstpointer left, gconstpointer right, gpointer data)
{
  const SortKey *key = data;
  uint32_t a = *(const uint32_t *) left;
  uint32_t b = *(const uint32_t *) right;
  Cell cell_a = sysprof_rows_cells (key->rows, a)[key->column];
  Cell cell_b = sysprof_rows_cells (key->rows, b)[key->column];
  int order = 0;

  switch (key->rows->columns[key->column].kind)
    {
    case COLUMN_TEXT:
      order = strcmp (cell_a.text, cell_b.text);
      break;
    case COLUMN_COUNT:
      order = (cell_a.count < cell_b.count) - (cell_a.count > cell_b.count);
      break;
    case COLUMN_TIME:
    case COLUMN_NUMBER:
      order = (cell_a.number > cell_b.number) - (cell_a.number < cell_b.number);
      break;
    case COLUMN_DURATION:
    case COLUMN_BYTES:
      order = (cell_a.number < cell_b.number) - (cell_a.number > cell_b.number);
      break;
    case COLUMN_BOOL:
      order = cell_b.flag - cell_a.flag;
      break;
    case COLUMN_REAL:
      order = compare_reals (cell_a.real, cell_b.real);
      break;
    case COLUMN_QUANTITY:
      order = compare_reals (cell_a.quantity->value, cell_b.quantity->value);
      break;
    case COLUMN_STACK:
    case COLUMN_TEXTS:
    case COLUMN_OPTIONS:
    case COLUMN_GRAPH:
      break;
    }
  return order ? order : (a > b) - (a < b);
}

/* Puts the children of each row after it, in the order of `order`, by a depth-first
 * traversal. FALSE if canceled. */
static bool
keep_below_parents (const Rows *rows, uint32_t *order)
{
  uint32_t n = rows->n_rows;
  uint32_t *first = g_new0 (uint32_t, n + 1);
  uint32_t *next = g_new0 (uint32_t, n + 1);
  uint32_t *last = g_new0 (uint32_t, n + 1);
  uint32_t at = 0, used = 0;

  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t parent = rows->parent[order[i]];

      if (last[parent])
        next[last[parent]] = order[i] + 1;
      else
        first[parent] = order[i] + 1;
      last[parent] = order[i] + 1;
    }
  for (;;)
    {
      if (first[at])
        at = first[at];
      else
        {
          while (at && !next[at])
            at = rows->parent[at - 1];
          if (!at)
            break;
          at = next[at];
        }
      if (!sysprof_is_wanted_at (used))
        break;
      order[used++] = at - 1;
    }
  g_free (first);
  g_free (next);
  g_free (last);
  return used == n;
}

static void
set_unknown_column (const Rows *rows, const char *sort, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (uint32_t i = 0; i < rows->n_columns; i++)
    g_string_append_printf (names, "%s%s", i ? ", " : "", rows->columns[i].name);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--sort %s: this view has no such column; it has %s.", sort, names->str);
}

bool
sysprof_column_is_descending (const Column *column)
{
  return column->kind == COLUMN_COUNT || column->kind == COLUMN_DURATION ||
         column->kind == COLUMN_BYTES || column->kind == COLUMN_BOOL ||
         column->kind == COLUMN_REAL;
}

uint32_t *
sysprof_rows_order (const Rows *self, uint32_t column)
{
  g_autofree uint32_t *order = g_new (uint32_t, MAX (self->n_rows, 1));
  SortKey key = { self, column };

  for (uint32_t i = 0; i < self->n_rows; i++)
    order[i] = i;
  return sysprof_sort_if_wanted (order, self->n_rows, sizeof *order, compare_rows, &key)
             ? g_steal_pointer (&order)
             : NULL;
}

bool
sysprof_rows_sort (Rows *self, const char *sort, GError **error)
{
  int column = sysprof_rows_column (self, sort);
  g_autofree uint32_t *order = NULL;

  if (column < 0)
    {
      set_unknown_column (self, sort, error);
      return false;
    }
  order = sysprof_rows_order (self, (uint32_t) column);
  if (order == NULL || (self->parent && !keep_below_parents (self, order)))
    return !g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error);
  sysprof_rows_permute (self, order, self->n_rows);
  return true;
}

/* Least weight of a row so that at most `limit` rows remain. `*ties` rows of exactly that
 * weight remain. */
static uint64_t
weight_of_limit (const Rows *rows, uint32_t column, uint32_t limit, uint32_t *ties)
{
  g_autofree uint32_t *order = g_new (uint32_t, MAX (rows->n_rows, 1));
  SortKey key = { rows, column };
  uint64_t least;

  for (uint32_t i = 0; i < rows->n_rows; i++)
    order[i] = i;
  (void) sysprof_sort_if_wanted (order, rows->n_rows, sizeof *order, compare_rows, &key);
  least = sysprof_rows_cells (rows, order[limit - 1])[column].count;
  *ties = 0;
  for (uint32_t i = limit;
       i > 0 && sysprof_rows_cells (rows, order[i - 1])[column].count == least; i--)
    ++*ties;
  return least;
}

void
sysprof_rows_cut (Rows *self, uint32_t limit, uint32_t depth, double min_percent)
{
  int total = sysprof_rows_column (self, "total");
  bool by_weight = self->parent && limit > 0 && limit < self->n_rows && total >= 0;
  g_autofree uint32_t *order = NULL;
  g_autofree uint32_t *depths = NULL;
  g_autofree bool *kept = NULL;
  uint64_t least = 0;
  uint32_t ties = UINT32_MAX, n = 0;

  if (limit == 0 && depth == 0 && min_percent <= 0)
    return;
  if (by_weight)
    least = weight_of_limit (self, (uint32_t) total, limit, &ties);
  order = g_new (uint32_t, MAX (self->n_rows, 1));
  depths = g_new0 (uint32_t, self->n_rows + 1);
  kept = g_new0 (bool, self->n_rows + 1);
  kept[0] = true;
  for (uint32_t i = 0; i < self->n_rows && sysprof_is_wanted_at (i); i++)
    {
      uint32_t parent = self->parent ? self->parent[i] : 0;
      uint64_t weight = total >= 0 ? sysprof_rows_cells (self, i)[total].count : 0;

      depths[i + 1] = parent ? depths[parent] + 1 : 0;
      if (!kept[parent] || (depth > 0 && depths[i + 1] > depth) ||
          (total >= 0 && sysprof_percent (weight, self->total) < min_percent) || weight < least)
        continue;
      if (by_weight && weight == least && ties-- == 0)
        {
          ties = 0;
          continue;
        }
      if (!self->parent && limit > 0 && n == limit)
        break;
      kept[i + 1] = true;
      order[n++] = i;
    }
  sysprof_rows_permute (self, order, n);
}
