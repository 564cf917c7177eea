// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows: the result of a view, a table or tree of typed cells, and the functions that build,
 * sort and read it. */

#pragma once

#include "util/util.h"

#include <gio/gio.h>

typedef enum
{
  COLUMN_TEXT,
  COLUMN_TEXTS,   /* array of texts */
  COLUMN_OPTIONS, /* array of texts: name and value of options in turn */
  COLUMN_COUNT,
  COLUMN_DURATION, /* ns */
  COLUMN_TIME,     /* ns since the start of the recording */
  COLUMN_BYTES,
  COLUMN_NUMBER, /* an integer that is not a quantity, such as a pid */
  COLUMN_STACK,  /* functions, innermost first */
  COLUMN_BOOL,
  COLUMN_REAL,     /* not finite = no value */
  COLUMN_QUANTITY, /* a real number with a unit of its own */
  COLUMN_GRAPH,    /* series of numbers, drawn as a small graph */
} ColumnKind;

/* The value of a number cell that has no value, except COLUMN_COUNT, which always has one, and
 * COLUMN_REAL and COLUMN_QUANTITY. */
#define NO_NUMBER INT64_MIN

typedef struct
{
  /* Key in JSON and word for --sort. */
  const char *name;
  /* Title above the column in text. */
  const char *title;
  ColumnKind kind;
  /* Show the percentage of Rows.total after the value. Formats for programs do not; JSON has
   * the total. */
  bool share;
  /* The value is a part of the weight, as values with a share are. */
  bool is_weight;
  /* Only formats for programs have this column. */
  bool json_only;
  /* JSON omits the member if the value is an empty text, no number or false. */
  bool may_miss;
  /* In text the column stands last and is truncated at the terminal's width. */
  bool is_long;
  /* 0, or 1 … MOST_EXTRA: narrow terminals omit columns with the greatest value first. */
  uint8_t extra;
  /* Text shows bytes with three digits and a prefix. */
  bool is_short;
  /* Text shows an empty cell for 0. */
  bool hides_zero;
  /* The text is a function name, which is abbreviated where it would be truncated. */
  bool is_function;
  /* The source location of the row's function is shown after this column, as it is after
   * function names. */
  bool has_location;
  /* The text is a command line: its first word may lose its folder where the text would be
   * truncated. */
  bool is_command;
  /* Narrow terminals show the column in a line below its row. */
  bool may_stand_below;
  /* 0, or 1 … MOST_HEADING: text shows the value as a heading above the rows that share it; 2
   * is below 1. */
  uint8_t heading;
  /* Title if the weight is a time; NULL = title. */
  const char *title_of_time;
} Column;

#define MOST_EXTRA   4
#define MOST_HEADING 2

typedef struct
{
  const char *symbol;
  const char *binary;
  const char *file; /* source file of the sampled line; "" = unknown */
  uint32_t line;
  uint8_t kind; /* SymbolKind */
  bool is_inlined;
} StackEntry;

typedef struct
{
  uint32_t n;
  const StackEntry *const *entries; /* [n] innermost first; stacks share them */
} StackText;

typedef struct
{
  uint32_t n;
  uint32_t first;       /* formats for people start here */
  bool from_zero;       /* the axis starts at 0; else at the smallest value */
  double most;          /* value drawn at full height; 0 = the greatest value */
  const double *values; /* [n] not finite = no value */
} GraphValues;

/* Text shows the number with a prefix of the unit that fits. Formats for programs show the
 * number; their rows have the unit in another column. */
typedef struct
{
  double value;     /* not finite = no value */
  const char *unit; /* as for sysprof_dup_quantity(); static, or in the arena */
} Quantity;

typedef union
{
  /* Never NULL; any bytes. In Rows.arena, or lives as long as the store. */
  const char *text;
  const char *const *texts; /* NULL-terminated */
  uint64_t count;
  int64_t number; /* ns, bytes or a plain number */
  const StackText *stack;
  bool flag;
  double real;
  const Quantity *quantity;
  const GraphValues *graph;
} Cell;

#define VIEW_MAX_COLUMNS 16

/* *Owned*; zero is a valid empty value. */
typedef struct
{
  const Column *columns; /* [n_columns] static, or in the arena */
  uint32_t n_columns;
  Cell *cells; /* [n_rows * n_columns] */
  uint32_t n_rows;
  uint32_t capacity;
  /* [n_rows] 1 + index of the parent row, 0 = top level. Parents stand before their children.
   * NULL = flat table. */
  uint32_t *parent;
  const char *recorded_by; /* which option records such events; a sentence, or NULL */
  uint32_t n_hidden;       /* rows that --limit, --min or --depth removed */
  uint64_t total;          /* 100 % */
  /* Part of `total` that belongs to rows that the view did not create because of --min. */
  uint64_t total_left_out;
  bool is_event_list; /* rows of marks, messages and the like, not of samples */
  uint64_t
      n_available; /* if is_event_list: number of events in the capture, before any selection */
  const char *noun;        /* "marks"; NULL = weight_name */
  const char *weight_name; /* "samples" */
  const char *weight_unit; /* "count" */
  const char *lead;        /* sentence to show above the rows, likewise */
  const char *note;        /* sentence to show below the rows, in the arena; or NULL */
  Arena arena;
} Rows;

void sysprof_rows_init (Rows *self, const Column *columns, uint32_t n_columns, uint64_t total);
void sysprof_rows_clear (Rows *self);
/* Appends a row and returns its cells: zero, or empty texts. They are valid until the next row
 * is added. */
Cell *sysprof_rows_add (Rows *self);
/* Same for a tree; `parent` is 1 + the index of the parent row, 0 at the top level. */
Cell *sysprof_rows_add_child (Rows *self, uint32_t parent);
/* Removes a column that means nothing in these rows. */
void sysprof_rows_drop_column (Rows *self, uint32_t column);
/* Returns a copy in the arena of the rows. */
const char *sysprof_rows_dup (Rows *self, const char *text);

/* Gives `cell` a quantity, in the arena. */
void sysprof_rows_set_quantity (Rows *self, Cell *cell, double value, const char *unit);
/* Gives `cell` a graph and returns its `n` values, in the arena, for the caller to fill. */
double *sysprof_rows_add_graph (Rows *self, Cell *cell, uint32_t n, bool from_zero);

/* Index of the column called `name`; -1 if there is none. */
int sysprof_rows_column (const Rows *self, const char *name);
static inline const Cell *
sysprof_rows_cells (const Rows *self, uint32_t row)
{
  return self->cells + (size_t) row * self->n_columns;
}

/* [n_rows] the rows in the order of a column: numbers descending, texts and times ascending,
 * equal rows in their old order. NULL if canceled. *(full)* */
uint32_t *sysprof_rows_order (const Rows *self, uint32_t column);
/* Whether sysprof_rows_order() puts the greatest value of such a column first. */
bool sysprof_column_is_descending (const Column *column);
/* Sorts by the column `sort`: numbers descending, texts ascending, equal rows in their old
 * order. Children stay below their parents. Fails if no column has that name, or when canceled.
 * */
bool sysprof_rows_sort (Rows *self, const char *sort, GError **error);
/* Removes rows whose texts do not contain all `terms`, except the ancestors of rows that do.
 * Does nothing without terms. */
void sysprof_rows_search (Rows *self, const char *terms);
/* Replaces the rows by those listed in order[n], parents first. Counts the others as hidden. */
void sysprof_rows_permute (Rows *self, const uint32_t *order, uint32_t n);
/* Removes rows deeper than `depth`, rows below `min_percent` of the total, and all but `limit`
 * rows: the first ones of a table, the heaviest ones of a tree. 0 = no limit. */
void sysprof_rows_cut (Rows *self, uint32_t limit, uint32_t depth, double min_percent);

/* The rows as a linked tree. Node 0 is a root above all rows; row i is node i + 1. */
typedef struct
{
  uint32_t *first_child;  /* [n] 0 = none */
  uint32_t *next_sibling; /* [n] 0 = none */
  uint32_t *parent;       /* [n] */
  uint32_t *depth;        /* [n] 1 for top-level rows */
  uint32_t n;
  uint32_t max_depth;
} RowTree;

void sysprof_row_tree_init (RowTree *self, const Rows *rows);
void sysprof_row_tree_clear (RowTree *self);

/* The node after `at` in a depth-first traversal, parents first. Start with 0; returns 0 at the
 * end. */
static inline uint32_t
sysprof_row_tree_next (const RowTree *self, uint32_t at)
{
  if (self->first_child[at])
    return self->first_child[at];
  while (at && !self->next_sibling[at])
    at = self->parent[at];
  return at ? self->next_sibling[at] : 0;
}
