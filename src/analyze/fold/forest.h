// SPDX-License-Identifier: GPL-3.0-or-later

/* Stacks under a shape: what each of their entries stands for, callers before callees, in the order of a walk.
 *
 * All that a shape asks of single entries is settled here: what is hidden, out of focus or folded into its caller has no
 * key and is a part of its parent. Threads have copies of the stacks that they share. *Owned* by whoever builds
 * something of it. */

#pragma once

#include "analyze/analyze.h"

#define FOLD_NOWHERE UINT32_MAX

/* What a node can stand for: a SymbolId, or behind those a process, or behind those a thread. 0 = a part of its parent. */
typedef uint32_t FoldKey;

/* Where stacks end that take part. */
typedef struct
{
  const StackId *stack; /* [n] */
  const int32_t *tid;   /* [n] ascending, or NULL: threads are no matter */
  uint32_t n;
} FoldEnds;

typedef struct
{
  FoldKey key;
  uint32_t end;    /* first node behind all below it */
  uint32_t parent; /* of the root: 0 */
  uint32_t row;    /* see sysprof_fold_forest_mark_rows() */
} ForestNode;

typedef struct
{
  ForestNode *node; /* [n]; 0 = the root of all */
  uint32_t n;
  uint32_t *
      node_of_end; /* [n_ends]; FOLD_NOWHERE = out of focus. Bottom up: where the reading of the stack begins */
  uint32_t *
      top_of_end; /* [n_ends] bottom up only: the node of its process, or of its thread below that */
  int32_t *tids; /* [n_tids] of the threads that have keys */
  uint32_t n_tids;
} FoldForest;

/* Flags of FoldRequest: the nodes that are placed. */
typedef struct
{
  const uint32_t *parent;       /* [n] a caller's number is smaller; 0 = the root */
  const FoldKey *key;           /* [n] or NULL: as the shape has it */
  const StackId *stack;         /* [n] or NULL: the number itself. Of no matter with keys */
  const uint32_t *entry_of_end; /* [n_ends] */
  uint32_t n;
  uint32_t n_ends;
} FoldEntries;

/* A forest of entries with keys. FALSE if cancelled; to be cleared in any case. */
bool sysprof_fold_forest_place (FoldForest *self, const FoldEntries *entries, FoldWork *work);

/* FALSE if cancelled; to be cleared in any case. `shape` without focus for tables. */
bool sysprof_fold_forest_init (FoldForest *self,
                               const Store *store,
                               const SymbolTable *symbols,
                               const TreeShape *shape,
                               const FoldEnds *ends,
                               FoldWork *work);
void sysprof_fold_forest_clear (FoldForest *self);

/* The request for one table. */
typedef struct
{
  FoldTable table;
  const char *focus; /* NULL for FOLD_FUNCTIONS */
} FoldRequest;

/* What of a shape counts for tables. */
TreeShape sysprof_fold_table_shape (const TreeShape *shape);

/* Of a forest of that shape sets `row`: the function of the table to which what ends at the node counts, 0 = none. With
 * FOLD_ROW_COUNTS so does all that passes there: it is not set where the same row counts further out on the stack.
 * FALSE if cancelled. */
#define FOLD_ROW_COUNTS (1u << 31)
bool sysprof_fold_forest_answer (FoldForest *self,
                                 const Store *store,
                                 const SymbolTable *symbols,
                                 const TreeShape *shape,
                                 const FoldRequest *question,
                                 FoldWork *work);

static inline FoldKey
sysprof_fold_process_key (const SymbolTable *symbols, ProcessId process)
{
  return symbols->n + process;
}

static inline FoldKey
sysprof_fold_thread_key (const Store *store, const SymbolTable *symbols, uint32_t thread)
{
  return symbols->n + store->processes.n + thread;
}
