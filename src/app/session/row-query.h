// SPDX-License-Identifier: GPL-3.0-or-later

/* The rows of a view for a focus: the query of every table, chart of rows and flame graph. */

#pragma once

#include "app/session/query.h"

/* Which allocations weights of bytes sum. */
typedef enum
{
  HEAP_ALL,
  HEAP_LEAKS,       /* never freed */
  HEAP_TEMPORARIES, /* freed at once */
} HeapChoice;

/* Which rows. Texts are copied by app_row_query_new(). */
typedef struct
{
  const char *view;
  const char *const *switches; /* static, NULL-terminated; NULL = none */
  /* Function instead of the root of the focus; NULL = that of the focus; "" = none. */
  const char *root;
  const char *track; /* of counters: keep those of this track; NULL = all */
  /* WEIGHT_DEFAULT = that of the focus for samples; WEIGHT_BYTES = that for allocations. */
  Weight weight;
  HeapChoice heap;
  const char
      *search; /* terms that rows must contain, for the views that find them; NULL = all */
  bool ignores_time;  /* the rows of the whole recording */
  bool ignores_shape; /* rows of processes and the like take filters, not the shape of trees */
  /* Only samples of this path of a call tree, unless it is empty. Copied as well. */
  StackPath path;
  bool has_path;
  int32_t pid;      /* only this process; 0 = all */
  const char *sort; /* column, static; NULL = the order of the view */
  uint32_t limit;
  const char
      *missing; /* translatable, static: how to record its data, if the section has other */
} RowQuery;

/* Rows and all that they borrow. Frozen. */
typedef struct
{
  gatomicrefcount n_references;
  AppSession *session;
  const Focus *focus;
  const View *view;
  RowQuery query;
  Selection selection; /* borrows from `focus` */
  char **times;        /* NULL = all */
  char *processes[2];
  ResolvedSelection resolved;
  ChosenWeights weights;
  uint8_t *is_on_path; /* events of query.path; NULL = all */
  uint8_t *is_of_heap; /* allocations of query.heap; NULL = all */
  char *search;
  ViewRequest request; /* for renderers */
  Rows rows;
} RowResult;

RowResult *app_row_result_ref (RowResult *self);
void app_row_result_unref (RowResult *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RowResult, app_row_result_unref)

extern const QueryKind app_row_query_kind; /* input: RowQuery *, result: RowResult * */
RowQuery *app_row_query_new (const RowQuery *query);

/* The path of a row of a call tree, or the function of a row of another view. FALSE if the row
 * is neither. Clear with app_stack_path_clear(). */
bool app_row_result_get_path (const RowResult *self, uint32_t row, StackPath *path);
void app_stack_path_clear (StackPath *path);

/* Text of a cell by the name of its column; NULL if the view has no such column. *(full)* */
char *app_row_result_dup_cell (const RowResult *self, uint32_t row, const char *column);
/* Number of a cell of a column of times, durations, bytes or numbers; `otherwise` if there is
 * none. */
int64_t app_row_result_get_number (const RowResult *self,
                                   uint32_t row,
                                   const char *column,
                                   int64_t otherwise);
