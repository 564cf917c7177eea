// SPDX-License-Identifier: GPL-3.0-or-later

/* Lays out rows as a flame graph: the horizontal position of each frame in units of weight. */

#include "flame/layout.h"

#include "text/text.h"
#include "views/views.h"

static char *
dup_title (const ViewRequest *request, const Rows *rows)
{
  if (request->title)
    return g_strdup (request->title);
  return request->store ? sysprof_dup_title (request, rows) : g_strdup ("Flame graph");
}

/* The default title has the amount, another one does not. */
static char *
dup_subtitle (const ViewRequest *request, const Rows *rows)
{
  g_autofree char *amount = NULL;

  if (request->subtitle || !request->store)
    return g_strdup (request->subtitle ? request->subtitle : "");
  if (!request->title)
    return g_strdup (sysprof_capture_path (request));
  amount = sysprof_dup_amount (request, rows);
  return g_strdup_printf ("%s: %s", sysprof_capture_path (request), amount);
}

static void
lay_out (Flame *self)
{
  const RowTree *tree = &self->tree;
  g_autofree uint64_t *next_x = g_new0 (uint64_t, tree->n);

  self->x = g_new0 (uint64_t, tree->n);
  for (uint32_t i = 1; i < tree->n && sysprof_is_wanted_at (i); i++)
    {
      uint32_t parent = tree->parent[i];

      self->x[i] = next_x[i] = next_x[parent];
      next_x[parent] += sysprof_flame_weight (self, i);
    }
  self->total = next_x[0];
}

void
sysprof_flame_init (Flame *self, const ViewRequest *request, const Rows *rows)
{
  *self = (Flame){
    .request = request,
    .rows = rows,
    .symbol = sysprof_rows_column (rows, "symbol"),
    .binary = sysprof_rows_column (rows, "binary"),
    .kind = sysprof_rows_column (rows, "kind"),
    .self = sysprof_rows_column (rows, "self"),
    .weight = sysprof_rows_column (rows, "total"),
    .off_cpu = sysprof_rows_column (rows, "off-cpu"),
    .title = dup_title (request, rows),
    .subtitle = dup_subtitle (request, rows),
  };
  sysprof_source_locations_init (&self->locations, rows);
  sysprof_row_tree_init (&self->tree, rows);
  lay_out (self);
}

void
sysprof_flame_clear (Flame *self)
{
  sysprof_row_tree_clear (&self->tree);
  g_free (self->x);
  g_free (self->title);
  g_free (self->subtitle);
  *self = (Flame){ 0 };
}
