// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows of the flame graph: those of the call tree, in drawing order. */

#include "views/sample-rows.h"

#include "analyze/analyze.h"
#include "text/text.h"

#include <string.h>

/* The columns of functions, and: */
#define OFF_CPU N_FUNCTION_COLUMNS
static const Column off_cpu_column = { "off-cpu", "OFF CPU", COLUMN_BOOL, .json_only = true,
                                       .may_miss = true };

static bool
is_same_node (const ViewRequest *request,
              const CallTree *left,
              CallNodeId a,
              const CallTree *right,
              CallNodeId b)
{
  g_autofree char *name = NULL, *other = NULL;

  if (left->symbol[a] != right->symbol[b] || left->kind[a] != right->kind[b])
    return false;
  if (left->id[a] == right->id[b] || !(request->shape && request->shape->merge_processes))
    return left->id[a] == right->id[b];
  /* Any process of a name may stand for all of them. */
  name = sysprof_call_tree_dup_label (left, request->store, request->symbols, a);
  other = sysprof_call_tree_dup_label (right, request->store, request->symbols, b);
  return strcmp (name, other) == 0;
}

/* Weight of waits below each node of `tree`, [tree->n]. Both trees have the same shape.
 * *(full)* */
static uint64_t *
weigh_nodes (const ViewRequest *request, const CallTree *tree, const CallTree *waits)
{
  uint64_t *weight = g_new0 (uint64_t, tree->n);
  g_autofree CallNodeId *same = g_new0 (CallNodeId, MAX (waits->n, 1));

  for (CallNodeId i = 1; i < waits->n && sysprof_is_wanted_at (i); i++)
    {
      CallNodeId parent = waits->parent[i], at;

      if (parent != 0 && same[parent] == 0)
        continue;
      at = tree->first_child[same[parent]];
      while (at != 0 && !is_same_node (request, tree, at, waits, i))
        at = tree->next_sibling[at];
      same[i] = at;
      if (at != 0)
        weight[at] = waits->total[i];
    }
  return weight;
}

/* [tree->n] the weight of each node that is time off the CPU; NULL if the weights are no
 * such time. *(full)* */
static uint64_t *
weigh_off_cpu (const ViewRequest *request, const CallTree *tree, const Shape *shape)
{
  const char *name = request->filter ? request->filter->weight_name : NULL;
  g_autoptr (CallTree) waiting = NULL;
  ViewRequest of_waits = *request;
  StackWeights weights;
  WeighedWaits waits;
  SampleFilter filter;
  uint64_t *weight;

  if (g_strcmp0 (name, "time") == 0)
    return g_memdup2 (tree->total, tree->n * sizeof *tree->total);
  if (g_strcmp0 (name, "wall") != 0)
    return NULL;

  filter = *request->filter;
  filter.events = NULL;
  filter.event_is_in = NULL;
  sysprof_waits_weigh (&waits, request->store, request->symbols, &filter);
  filter.events = &waits.events;
  filter.event_is_in = waits.is_in;
  of_waits.filter = &filter;
  sysprof_request_fold (&of_waits, shape->threads, &weights);
  waiting = sysprof_call_tree_new (request->store, request->symbols, &weights, shape);
  weight = weigh_nodes (request, tree, waiting);
  sysprof_stack_weights_clear (&weights);
  sysprof_weighed_waits_clear (&waits);
  return weight;
}

static void
add_rectangles (Rows *rows,
                const ViewRequest *request,
                const CallTree *tree,
                const FlameLayout *layout,
                const uint64_t *off_cpu)
{
  g_autofree uint32_t *row_of_node = g_new0 (uint32_t, MAX (tree->n, 1));
  g_autofree uint8_t *category =
      sysprof_call_tree_categorize (tree, request->symbols, request->shape);

  for (uint32_t i = 0; i < layout->n && sysprof_is_wanted_at (i); i++)
    {
      CallNodeId node = layout->node[i];
      Cell *cells = sysprof_rows_add_child (rows, node ? row_of_node[tree->parent[node]] : 0);

      row_of_node[node] = rows->n_rows;
      sysprof_rows_set_node (rows, cells, request, tree, node, category);
      if (off_cpu != NULL)
        cells[OFF_CPU].flag = tree->kind[node] == SYMBOL_KERNEL &&
                              off_cpu[node] >= tree->total[node] - off_cpu[node];
    }
}

static void
init_rows (Rows *rows, uint64_t total, bool has_waits)
{
  Column *columns;

  sysprof_rows_init (rows, sysprof_function_columns, N_FUNCTION_COLUMNS, total);
  if (!has_waits)
    return;
  columns = sysprof_arena_alloc (&rows->arena, (OFF_CPU + 1) * sizeof *columns);
  memcpy (columns, sysprof_function_columns, OFF_CPU * sizeof *columns);
  columns[OFF_CPU] = off_cpu_column;
  rows->columns = columns;
  rows->n_columns = OFF_CPU + 1;
}

static bool
fill_flame (const ViewRequest *request, Rows *rows, GError **error)
{
  Shape shape = sysprof_request_shape (request);
  g_autoptr (CallTree) tree = NULL;
  g_autoptr (FlameLayout) layout = NULL;
  g_autofree uint64_t *off_cpu = NULL;
  StackWeights weights;

  if (shape.focus && !sysprof_request_needs_focus (request, "flame", error))
    return false;

  sysprof_request_fold (request, shape.threads, &weights);
  tree = sysprof_call_tree_new (request->store, request->symbols, &weights, &shape);
  layout =
      sysprof_flame_layout_new (tree, request->store, request->symbols, request->left_heavy, 1);
  off_cpu = weigh_off_cpu (request, tree, &shape);
  init_rows (rows, weights.total, off_cpu != NULL);
  add_rectangles (rows, request, tree, layout, off_cpu);
  sysprof_stack_weights_clear (&weights);
  return true;
}

const View sysprof_flame_view = {
  .name = "flame",
  .title = "Flame graph",
  .summary = "flame graph in the terminal; html: interactive page; svg: picture",
  .begins_with_command = true,
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_CALL_TREE | OPTIONS_FLAME,
  .fill = fill_flame,
  .layout = LAYOUT_FLAME,
};
