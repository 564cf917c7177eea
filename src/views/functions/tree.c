// SPDX-License-Identifier: GPL-3.0-or-later

/* The call tree, heaviest first. */

#include "views/sample-rows.h"

#include "text/text.h"

#include <math.h>

/* In depth-first order; siblings are linked by descending weight. */
static void
add_nodes (Rows *rows, const ViewRequest *request, const CallTree *tree)
{
  g_autofree uint32_t *row_of_node = g_new0 (uint32_t, MAX (tree->n, 1));
  g_autofree uint8_t *category =
      sysprof_call_tree_categorize (tree, request->symbols, request->shape);
  CallNodeId node = 0;

  while (sysprof_is_wanted_at (rows->n_rows))
    {
      uint32_t parent = node ? row_of_node[tree->parent[node]] : 0;
      Cell *cells = sysprof_rows_add_child (rows, parent);

      row_of_node[node] = rows->n_rows;
      sysprof_rows_set_node (rows, cells, request, tree, node, category);
      if (tree->first_child[node])
        node = tree->first_child[node];
      else
        {
          while (node && !tree->next_sibling[node])
            node = tree->parent[node];
          if (!node)
            return;
          node = tree->next_sibling[node];
        }
    }
}

/* Least weight that --min keeps, so that lighter rows are not created. All rows are needed
 * for a search and for bottom-up trees. */
static uint64_t
least_weight (const ViewRequest *request, const Shape *shape, uint64_t total)
{
  double min = request->min_percent;
  uint64_t least;

  if (min <= 0 || total == 0 || request->search != NULL || shape->bottom_up)
    return 0;

  /* Compare like sysprof_rows_cut() does, despite rounding. */
  least = (uint64_t) ceil (MIN (min / 100, 1) * (double) total);
  while (least > 0 && sysprof_percent (least - 1, total) >= min)
    least--;
  while (sysprof_percent (least, total) < min)
    least++;
  return least;
}

/* Part of the totals that belongs to nodes that were not created. */
static uint64_t
weight_left_out (const CallTree *tree)
{
  uint64_t weight = tree->total[0];

  for (CallNodeId node = 0; node < tree->n; node++)
    weight -= tree->self[node];
  return weight;
}

static bool
fill_tree (const ViewRequest *request, Rows *rows, GError **error)
{
  Shape shape = sysprof_request_shape (request);
  g_autoptr (CallTree) tree = NULL;
  StackWeights weights;

  if (shape.focus && !sysprof_request_needs_focus (request, "tree", error))
    return false;

  sysprof_request_fold (request, shape.threads, &weights);
  tree = sysprof_call_tree_new_above (request->store, request->symbols, &weights, &shape,
                                      least_weight (request, &shape, weights.total));
  sysprof_rows_init (rows, sysprof_function_columns, N_FUNCTION_COLUMNS, weights.total);
  rows->total_left_out = weight_left_out (tree);
  add_nodes (rows, request, tree);
  if (shape.bottom_up)
    sysprof_rows_drop_column (rows, FUNCTION_SELF); /* of the functions at the top alone */
  sysprof_stack_weights_clear (&weights);
  return true;
}

const View sysprof_tree_view = {
  .name = "tree",
  .title = "Call tree",
  .summary = "call tree from the roots or from --focus; --bottom-up: reversed",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_CALL_TREE,
  .fill = fill_tree,
  .text_min_percent = 0.5,
};
