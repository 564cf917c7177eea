// SPDX-License-Identifier: GPL-3.0-or-later

/* Building and shaping rows: what all views share. */

#pragma once

#include "views/views.h"

void sysprof_rows_init (Rows *self, const Column *columns, uint32_t n_columns, uint64_t total);
/* The cells of a new row at the end, zeroed but for empty texts; valid until the next row is added. */
Cell *sysprof_rows_add (Rows *self);
/* Same, in a tree; `parent` is 1 + the index of its row, 0 at the top. */
Cell *sysprof_rows_add_child (Rows *self, uint32_t parent);
/* A copy in the arena of the rows. */
const char *sysprof_rows_dup (Rows *self, const char *text);

/* A graph whose values the caller fills, in the arena of the rows. */
double *sysprof_rows_add_graph (Rows *self, Cell *cell, uint32_t n, bool from_zero);

/* Index of a column, -1 without it. */
int sysprof_rows_column (const Rows *self, const char *name);
static inline const Cell *
sysprof_rows_cells (const Rows *self, uint32_t row)
{
  return self->cells + (size_t) row * self->n_columns;
}

/* Sorts by `sort`: numbers falling, texts rising, equal ones as they were. Children stay below their parents. FALSE with
 * `error` for a column that there is not, or where it is cancelled. */
bool sysprof_rows_sort (Rows *self, const char *sort, GError **error);
/* Leaves out what does not contain all terms in its texts, but for what stands above such rows in a tree. Without terms
 * nothing. */
void sysprof_rows_search (Rows *self, const char *terms);
/* Replaces the rows by those of order[n], in which parents come first. What is left out counts as hidden. */
void sysprof_rows_permute (Rows *self, const uint32_t *order, uint32_t n);
/* Leaves out what is deeper than `depth`, below `min_percent` of the total, and all but the `limit` first rows
 * (flat) or the `limit` heaviest (tree). */
void sysprof_rows_cut (Rows *self, uint32_t limit, uint32_t depth, double min_percent);

/* The rows as a linked tree: 0 is a root above all rows, row i is i + 1. */
typedef struct
{
  uint32_t *first_child;  /* [n] 0 = none */
  uint32_t *next_sibling; /* [n] 0 = none */
  uint32_t *parent;       /* [n] */
  uint32_t *depth;        /* [n] of the top rows: 1 */
  uint32_t n;
  uint32_t max_depth;
} RowTree;

void sysprof_row_tree_init (RowTree *self, const Rows *rows);
void sysprof_row_tree_clear (RowTree *self);

/* The next one of a walk from the root, children before siblings; 0 at the end. Begin with 0. */
static inline uint32_t
sysprof_row_tree_next (const RowTree *self, uint32_t at)
{
  if (self->first_child[at])
    return self->first_child[at];
  while (at && !self->next_sibling[at])
    at = self->parent[at];
  return at ? self->next_sibling[at] : 0;
}
