// SPDX-License-Identifier: GPL-3.0-or-later

/* Where the rectangles of a flame graph lie. */

#include "analyze/analyze.h"
#include "analyze/fold/call-order.h"

typedef struct
{
  FlameLayout *layout;
  uint32_t capacity;
  CallNodeId *family; /* [family_capacity] the children in hand */
  uint32_t family_capacity;
} Builder;

static void
append (Builder *self, CallNodeId node, uint64_t x, uint64_t width, uint32_t depth)
{
  FlameLayout *layout = self->layout;

  if (layout->n == self->capacity)
    {
      self->capacity = MAX (256, self->capacity * 2);
      layout->node = g_renew (CallNodeId, layout->node, self->capacity);
      layout->x = g_renew (uint64_t, layout->x, self->capacity);
      layout->width = g_renew (uint64_t, layout->width, self->capacity);
      layout->depth = g_renew (uint16_t, layout->depth, self->capacity);
    }
  layout->node[layout->n] = node;
  layout->x[layout->n] = x;
  layout->width[layout->n] = width;
  layout->depth[layout->n] = (uint16_t) depth;
  layout->max_depth = MAX (layout->max_depth, depth);
  layout->n++;
}

static uint32_t
collect_children (Builder *self, const CallTree *tree, CallNodeId parent)
{
  uint32_t n = 0;

  for (CallNodeId i = tree->first_child[parent]; i != 0; i = tree->next_sibling[i])
    {
      if (n == self->family_capacity)
        {
          self->family_capacity = MAX (64, self->family_capacity * 2);
          self->family = g_renew (CallNodeId, self->family, self->family_capacity);
        }
      self->family[n++] = i;
    }

  return n;
}

FlameLayout *
sysprof_flame_layout_new (const CallTree *tree,
                          const Store *store,
                          const SymbolTable *symbols,
                          bool left_heavy,
                          uint64_t min_width)
{
  CallOrder order = { tree, store, symbols };
  Builder self = { .layout = g_new0 (FlameLayout, 1) };
  FlameLayout *layout = self.layout;

  /* The rectangles are also the queue of nodes whose children are not yet placed: depth by
   * depth. */
  append (&self, 0, 0, tree->total[0], 0);
  for (uint32_t i = 0;
       i < layout->n && layout->depth[i] < UINT16_MAX && sysprof_is_wanted_at (i); i++)
    {
      uint32_t n = collect_children (&self, tree, layout->node[i]);
      uint64_t x = layout->x[i];

      if (!left_heavy && n > 1 &&
          !sysprof_sort_if_wanted (self.family, n, sizeof *self.family,
                                   sysprof_call_node_compare_name, &order))
        break;
      for (uint32_t j = 0; j < n; j++)
        {
          uint64_t width = tree->total[self.family[j]];

          if (width >= min_width)
            append (&self, self.family[j], x, width, layout->depth[i] + 1u);
          x += width;
        }
    }

  g_free (self.family);
  return layout;
}

void
sysprof_flame_layout_free (FlameLayout *self)
{
  if (self == NULL)
    return;

  g_free (self->node);
  g_free (self->x);
  g_free (self->width);
  g_free (self->depth);
  g_free (self);
}
