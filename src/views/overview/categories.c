// SPDX-License-Identifier: GPL-3.0-or-later

/* Kinds of work: each sample counts once, for the category of its innermost function. A
 * function without a category of its own inherits that of its caller. */

#include "views/overview/summary-parts.h"
#include "views/sample-rows.h"

enum
{
  CATEGORY,
  SELF,
  N_COLUMNS,
};

static const Column columns[] = {
  [CATEGORY] = { "category", "CATEGORY", COLUMN_TEXT },
  [SELF] = { "self", "SELF", COLUMN_COUNT, .share = true },
};

static bool
fill_categories (const ViewRequest *request, Rows *rows, GError **error)
{
  const Store *store = request->store;
  g_autofree uint8_t *category =
      sysprof_stacks_categorize (store, request->symbols, request->shape);
  uint64_t sums[N_CATEGORIES] = { 0 };
  StackWeights weights;

  sysprof_request_fold (request, false, &weights);
  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    sums[category[i]] += weights.self[i];

  sysprof_rows_init (rows, columns, N_COLUMNS, weights.total);
  for (;;)
    {
      unsigned most = 0;
      Cell *cells;

      for (unsigned i = 1; i < N_CATEGORIES; i++)
        if (sums[i] > sums[most])
          most = i;
      if (sums[most] == 0)
        break;
      cells = sysprof_rows_add (rows);
      cells[CATEGORY].text = sysprof_category_to_string ((Category) most);
      cells[SELF].count = sums[most];
      sums[most] = 0;
    }
  sysprof_stack_weights_clear (&weights);
  return true;
}

const View sysprof_categories_view = {
  .name = "categories",
  .title = "Categories",
  .fill = fill_categories,
};
