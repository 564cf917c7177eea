// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows of the flame graph: those of the call tree, in drawing order. */

#include "views/sample-rows.h"

static void
add_rectangles (Rows *rows,
                const ViewRequest *request,
                const CallTree *tree,
                const FlameLayout *layout)
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
    }
}

static bool
fill_flame (const ViewRequest *request, Rows *rows, GError **error)
{
  Shape shape = sysprof_request_shape (request);
  g_autoptr (CallTree) tree = NULL;
  g_autoptr (FlameLayout) layout = NULL;
  StackWeights weights;

  if (shape.focus && !sysprof_request_needs_focus (request, "flame", error))
    return false;

  sysprof_request_fold (request, shape.threads, &weights);
  tree = sysprof_call_tree_new (request->store, request->symbols, &weights, &shape);
  layout =
      sysprof_flame_layout_new (tree, request->store, request->symbols, request->left_heavy, 1);
  sysprof_rows_init (rows, sysprof_function_columns, N_FUNCTION_COLUMNS, weights.total);
  add_rectangles (rows, request, tree, layout);
  sysprof_stack_weights_clear (&weights);
  return true;
}

const View sysprof_flame_view = {
  .name = "flame",
  .title = "Flame graph",
  .summary = "flame graph in the terminal; html: interactive page; svg: picture",
  .fill = fill_flame,
  .layout = LAYOUT_FLAME,
  .uses_focus = true,
};
