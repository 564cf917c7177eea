// SPDX-License-Identifier: GPL-3.0-or-later

/* Graphs are laid out from plans, as call trees are. */

#include "analyze/fold/graph.h"

#include "analyze/fold/graph-forest.h"
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
  const uint64_t *sums;
  uint32_t *size;  /* [runs.n] nodes of the run and all below it that weigh something */
  uint32_t *place; /* [runs.n] the first node in the graph */
  Graph *graph;
} Layout;

static uint64_t
total_of (const Layout *self, uint32_t run)
{
  return sysprof_fold_runs_total (&self->plan->runs, self->sums, run);
}

static uint32_t
length_of (const Layout *self, uint32_t run)
{
  return self->plan->begin[run + 1] - self->plan->begin[run];
}

static void
find_sizes (Layout *self)
{
  const FoldRuns *runs = &self->plan->runs;

  self->size = sysprof_large_new0 (runs->n, sizeof *self->size);
  for (uint32_t i = runs->n; i-- > 0;)
    if (i == 0 || total_of (self, i) > 0)
      {
        self->size[i] += length_of (self, i);
        if (i > 0)
          self->size[runs->parent[i]] += self->size[i];
      }
}

/* Families are placed when the run above them has been placed. */
static bool
find_places (Layout *self, bool left_heavy, FoldWork *work)
{
  const FoldRuns *runs = &self->plan->runs;
  g_autoptr (GArray) family = g_array_new (FALSE, FALSE, sizeof (Family));

  self->place = sysprof_large_new (runs->n, sizeof *self->place);
  self->place[0] = 0;
  for (uint32_t i = 0; i < runs->n; i++)
    {
      uint32_t at;

      if (!sysprof_fold_work_at (work, i))
        return false;
      if (self->size[i] == 0)
        continue;

      at = self->place[i] + length_of (self, i);
      g_array_set_size (family, 0);
      FOLD_FOR_EACH_BELOW (runs, i, below)
      if (self->size[below] > 0)
        g_array_append_val (family, ((Family){ total_of (self, below), below }));
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

  for (uint32_t i = 0; i < plan->runs.n; i++)
    {
      uint32_t parent = plan->runs.parent[i], first = self->place[i];
      uint32_t length = length_of (self, i),
               own = (uint32_t) (self->sums[i + 1] - self->sums[i]);

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
          graph->total[node] = (uint32_t) total_of (self, i);
        }
      if (i > 0)
        graph->parent[first] = self->place[parent] + length_of (self, parent) - 1;
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

/* The nodes of the plan that weigh something. NULL if cancelled. `run_of_frame` has runs.n where a frame is left out. */
static Graph *
lay_out (const FoldPlan *plan,
         const uint64_t *sums,
         GraphSymbolId root,
         bool left_heavy,
         const uint32_t *run_of_frame,
         uint32_t n_frames,
         FoldWork *work)
{
  g_autoptr (Graph) graph = g_new0 (Graph, 1);
  Layout self = { .plan = plan, .sums = sums, .graph = graph };
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
        graph->node_of_frame[i] =
            run_of_frame[i] < plan->runs.n
                ? self.place[run_of_frame[i]] + length_of (&self, run_of_frame[i]) - 1
                : GRAPH_NOWHERE;
    }

  g_free (self.size);
  g_free (self.place);
  return is_done ? g_steal_pointer (&graph) : NULL;
}

/* *Takes* the forest. `of_frame` tells the end of each frame, or GRAPH_NOWHERE; it is written over. NULL if cancelled. */
static Graph *
fold (FoldForest *forest,
      uint32_t n_ends,
      const Store *store,
      const SymbolTable *symbols,
      GraphSymbolId root,
      bool left_heavy,
      uint32_t *of_frame,
      uint32_t n_frames,
      FoldWork *work)
{
  g_autofree uint64_t *sums = NULL;
  FoldPlan plan = { 0 };
  Graph *graph = NULL;
  uint32_t *rank = sysprof_graph_ranks_new (store, symbols, forest, work);

  if (rank != NULL &&
      sysprof_fold_plan_init_forest (&plan, forest, rank,
                                     sysprof_graph_n_symbols (store, symbols), n_ends, work))
    {
      sums = sysprof_fold_runs_new_sums (&plan.runs);
      for (uint32_t i = 0; i < n_frames; i++)
        {
          of_frame[i] =
              of_frame[i] != GRAPH_NOWHERE ? plan.runs.of_end[of_frame[i]] : plan.runs.n;
          sums[of_frame[i] + 1]++;
        }
      if (sysprof_fold_runs_sum (&plan.runs, sums, work))
        graph = lay_out (&plan, sums, root, left_heavy, of_frame, n_frames, work);
    }
  sysprof_fold_forest_clear (forest);
  sysprof_fold_plan_clear (&plan);
  return graph;
}

/* --- graphs --- */

Graph *
sysprof_graph_new (const Store *store,
                   const SymbolTable *symbols,
                   const GraphFrames *frames,
                   const GraphShape *shape,
                   GCancellable *cancellable)
{
  GraphSymbolId root =
      sysprof_graph_symbol_id (store, symbols, (GraphSymbol){ GRAPH_SYMBOL_ROOT, 0 });
  g_autofree uint32_t *of_frame = sysprof_large_new (MAX (frames->n, 1), sizeof *of_frame);
  FoldWork work = { .cancellable = cancellable };
  FoldForest forest;
  uint32_t n_ends;

  if (!sysprof_graph_forest_init (&forest, &n_ends, of_frame, store, symbols, frames, shape,
                                  &work))
    {
      sysprof_fold_forest_clear (&forest);
      return NULL;
    }
  return fold (&forest, n_ends, store, symbols, root, shape->left_heavy, of_frame, frames->n,
               &work);
}

/* Stores a graph like a forest. Entries that are not below the symbol, and the symbol at its
 * outermost entry, have no key. */
static void
take_below (FoldForest *forest, const Graph *graph, GraphSymbolId symbol, uint32_t *n_ends)
{
  uint32_t end = 0; /* of the entries below the symbol */

  *forest = (FoldForest){ .n = graph->n,
                          .node = sysprof_large_new (graph->n, sizeof *forest->node),
                          .node_of_end = sysprof_large_new (graph->n, sizeof (uint32_t)) };
  *n_ends = graph->n;
  for (uint32_t i = 0; i < graph->n; i++)
    {
      bool is_below = i < end;

      forest->node[i] = (ForestNode){ .key = is_below ? graph->symbol[i] : 0,
                                      .end = graph->end[i],
                                      .parent = graph->parent[i] };
      if (!is_below && graph->symbol[i] == symbol)
        {
          end = graph->end[i];
          is_below = true;
        }
      forest->node_of_end[i] = is_below && graph->self[i] > 0 ? i : FOLD_NOWHERE;
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
  g_autofree uint32_t *of_frame = sysprof_large_new (MAX (self->n_frames, 1), sizeof *of_frame);
  FoldWork work = { .cancellable = cancellable };
  FoldForest forest;
  uint32_t n_ends;

  take_below (&forest, self, symbol, &n_ends);
  for (uint32_t i = 0; i < self->n_frames; i++)
    of_frame[i] = self->node_of_frame[i];
  return fold (&forest, n_ends, store, symbols, symbol, left_heavy, of_frame, self->n_frames,
               &work);
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
