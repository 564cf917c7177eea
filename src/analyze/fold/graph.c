// SPDX-License-Identifier: GPL-3.0-or-later

/* The graph of a plan. */

#include "analyze/fold/graph.h"

#include "analyze/fold/graph-entries.h"
#include "analyze/fold/plan.h"
#include "analyze/fold/work.h"

#include <stdlib.h>

/* --- from a plan to a graph --- */

typedef struct
{
  uint64_t total;
  uint32_t run;
} Family;

static int
compare_heavier_first (const void *a, const void *b, void *data)
{
  const Family *left = a, *right = b;

  if (left->total != right->total)
    return left->total > right->total ? -1 : 1;
  return (left->run > right->run) - (left->run < right->run);
}

typedef struct
{
  const FoldPlan *plan;
  uint32_t *size;  /* [n_runs] nodes of the run and all below it that weigh something */
  uint32_t *place; /* [n_runs] the first node in the graph */
  Graph *graph;
} Layout;

static void
find_sizes (Layout *self)
{
  const FoldPlan *plan = self->plan;

  self->size = sysprof_large_new0 (plan->n_runs, sizeof *self->size);
  for (uint32_t i = plan->n_runs; i-- > 0;)
    if (i == 0 || sysprof_fold_plan_total (plan, i) > 0)
      {
        self->size[i] += sysprof_fold_plan_length (plan, i);
        if (i > 0)
          self->size[plan->parent[i]] += self->size[i];
      }
}

/* Families are placed when the run above them has been placed. */
static bool
find_places (Layout *self, bool left_heavy, FoldWork *work)
{
  const FoldPlan *plan = self->plan;
  g_autoptr (GArray) family = g_array_new (FALSE, FALSE, sizeof (Family));

  self->place = sysprof_large_new (plan->n_runs, sizeof *self->place);
  self->place[0] = 0;
  for (uint32_t i = 0; i < plan->n_runs; i++)
    {
      uint32_t at;

      if (!sysprof_fold_work_at (work, i))
        return false;
      if (self->size[i] == 0)
        continue;

      at = self->place[i] + sysprof_fold_plan_length (plan, i);
      g_array_set_size (family, 0);
      FOLD_FOR_EACH_BELOW (plan, i, below)
      if (self->size[below] > 0)
        g_array_append_val (family, ((Family){ sysprof_fold_plan_total (plan, below), below }));
      if (left_heavy && family->len > 1 &&
          !sysprof_fold_work_sort (work, family->data, family->len, sizeof (Family),
                                   compare_heavier_first, NULL))
        return false;
      for (uint32_t j = 0; j < family->len; j++)
        {
          uint32_t below = g_array_index (family, Family, j).run;

          self->place[below] = at;
          at += self->size[below];
        }
    }
  return true;
}

static void
alloc_graph (Graph *graph, uint32_t n, uint32_t n_frames)
{
  *graph = (Graph){
    .n = n,
    .n_frames = n_frames,
    .parent = sysprof_large_new (n, sizeof *graph->parent),
    .end = sysprof_large_new (n, sizeof *graph->end),
    .symbol = sysprof_large_new (n, sizeof *graph->symbol),
    .first_child = sysprof_large_new ((size_t) n + 1, sizeof *graph->first_child),
    .child = sysprof_large_new (n, sizeof *graph->child),
    .self = sysprof_large_new (n, sizeof *graph->self),
    .total = sysprof_large_new (n, sizeof *graph->total),
    .node_of_frame = sysprof_large_new (MAX (n_frames, 1), sizeof *graph->node_of_frame),
  };
}

static bool
fill_nodes (Layout *self, FoldWork *work)
{
  const FoldPlan *plan = self->plan;
  Graph *graph = self->graph;

  for (uint32_t i = 0; i < plan->n_runs; i++)
    {
      uint32_t parent = plan->parent[i], first = self->place[i];
      uint32_t length = sysprof_fold_plan_length (plan, i),
               own = (uint32_t) sysprof_fold_plan_self (plan, i);

      if (!sysprof_fold_work_at (work, i))
        return false;
      if (self->size[i] == 0)
        continue;

      for (uint32_t j = 0; j < length; j++)
        {
          uint32_t node = first + j;

          graph->parent[node] = j > 0 ? node - 1 : 0;
          graph->end[node] = first + self->size[i];
          graph->symbol[node] = plan->key[plan->begin[i] + j];
          graph->self[node] = j + 1 < length ? 0 : own;
          graph->total[node] = (uint32_t) sysprof_fold_plan_total (plan, i);
        }
      if (i > 0)
        graph->parent[first] =
            self->place[parent] + sysprof_fold_plan_length (plan, parent) - 1;
    }
  return true;
}

static void
fill_children (Graph *graph)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < graph->n; i++)
    {
      graph->first_child[i] = n;
      for (uint32_t at = i + 1; at < graph->end[i]; at = graph->end[at])
        graph->child[n++] = at;
    }
  graph->first_child[graph->n] = n;
}

/* The nodes of the plan that weigh something. NULL if cancelled. `run_of_frame` has FOLD_NOWHERE where a frame is left out. */
static Graph *
lay_out (const FoldPlan *plan,
         GraphSymbolId root,
         bool left_heavy,
         const uint32_t *run_of_frame,
         uint32_t n_frames,
         FoldWork *work)
{
  g_autoptr (Graph) graph = g_new0 (Graph, 1);
  Layout self = { .plan = plan, .graph = graph };
  bool is_done;

  find_sizes (&self);
  is_done = find_places (&self, left_heavy, work);
  if (is_done)
    {
      alloc_graph (graph, self.size[0], n_frames);
      is_done = fill_nodes (&self, work);
    }
  if (is_done)
    {
      graph->symbol[0] = root;
      fill_children (graph);
      for (uint32_t i = 0; i < n_frames; i++)
        graph->node_of_frame[i] = run_of_frame[i] != FOLD_NOWHERE
                                      ? self.place[run_of_frame[i]] +
                                            sysprof_fold_plan_length (plan, run_of_frame[i]) - 1
                                      : GRAPH_NOWHERE;
    }

  g_free (self.size);
  g_free (self.place);
  return is_done ? g_steal_pointer (&graph) : NULL;
}

/* *Takes* the entries. `ends` has the entry where each frame ends, or GRAPH_NOWHERE; it is
 * overwritten. NULL if cancelled. */
static Graph *
fold (FoldEntries *entries,
      const Store *store,
      const SymbolTable *symbols,
      GraphSymbolId root,
      bool left_heavy,
      uint32_t *ends,
      uint32_t n_frames,
      FoldWork *work)
{
  g_autofree uint32_t *run_of_entry = sysprof_large_new (entries->n, sizeof *run_of_entry);
  FoldPlan plan = { 0 };
  Graph *graph = NULL;
  uint32_t *rank = sysprof_graph_ranks_new (store, symbols, entries, work);

  if (rank != NULL &&
      sysprof_fold_plan_init (&plan, entries, rank, sysprof_graph_n_symbols (store, symbols), 0,
                              run_of_entry, work))
    {
      for (uint32_t i = 0; i < n_frames; i++)
        if (ends[i] != GRAPH_NOWHERE)
          ends[i] = run_of_entry[ends[i]];
      graph = lay_out (&plan, root, left_heavy, ends, n_frames, work);
    }
  sysprof_fold_entries_clear (entries);
  sysprof_fold_plan_clear (&plan);
  return graph;
}

/* --- graphs --- */

Graph *
sysprof_graph_new (const Store *store,
                   const SymbolTable *symbols,
                   const GraphFrames *frames,
                   const Shape *shape,
                   GCancellable *cancellable)
{
  GraphSymbolId root =
      sysprof_graph_symbol_id (store, symbols, (GraphSymbol){ GRAPH_SYMBOL_ROOT, 0 });
  g_autofree uint32_t *ends = sysprof_large_new (MAX (frames->n, 1), sizeof *ends);
  FoldWork work = { .cancellable = cancellable };
  FoldEntries entries;

  if (!sysprof_graph_entries_init (&entries, ends, store, symbols, frames, shape, &work))
    {
      sysprof_fold_entries_clear (&entries);
      return NULL;
    }
  return fold (&entries, store, symbols, root, shape->left_heavy, ends, frames->n, &work);
}

/* Makes entries of a graph. Nodes that are not below the symbol, and the symbol at its outermost
 * node, have no key. */
static void
take_below (FoldEntries *entries, const Graph *graph, GraphSymbolId symbol)
{
  uint32_t end = 0; /* of the nodes below the symbol */

  *entries = (FoldEntries){ .n = graph->n,
                            .parent = graph->parent,
                            .key = sysprof_large_new (graph->n, sizeof *entries->key),
                            .own_weight = sysprof_large_new (graph->n, sizeof (uint64_t)) };
  entries->weight = entries->own_weight;
  for (uint32_t i = 0; i < graph->n; i++)
    {
      bool is_below = i < end;

      entries->key[i] = is_below ? graph->symbol[i] : 0;
      if (!is_below && graph->symbol[i] == symbol)
        {
          end = graph->end[i];
          is_below = true;
        }
      entries->own_weight[i] = is_below ? graph->self[i] : 0;
    }
}

Graph *
sysprof_graph_descend (const Graph *self,
                       const Store *store,
                       const SymbolTable *symbols,
                       GraphSymbolId symbol,
                       bool left_heavy,
                       GCancellable *cancellable)
{
  g_autofree uint32_t *ends = sysprof_large_new (MAX (self->n_frames, 1), sizeof *ends);
  FoldWork work = { .cancellable = cancellable };
  FoldEntries entries;

  take_below (&entries, self, symbol);
  memcpy (ends, self->node_of_frame, self->n_frames * sizeof *ends);
  return fold (&entries, store, symbols, symbol, left_heavy, ends, self->n_frames, &work);
}

void
sysprof_graph_free (Graph *self)
{
  if (self == NULL)
    return;

  g_free (self->parent);
  g_free (self->end);
  g_free (self->symbol);
  g_free (self->first_child);
  g_free (self->child);
  g_free (self->self);
  g_free (self->total);
  g_free (self->node_of_frame);
  g_free (self);
}
