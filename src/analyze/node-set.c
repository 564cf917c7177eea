// SPDX-License-Identifier: GPL-3.0-or-later

#include "analyze/node-set.h"

#include <glib.h>

#define FIRST_SLOTS 4096

void
sysprof_node_set_init (NodeSet *self)
{
  *self = (NodeSet){ .n_slots = FIRST_SLOTS };
  self->keys = g_new (uint64_t, self->n_slots);
  self->nodes = g_new0 (uint32_t, self->n_slots);
}

void
sysprof_node_set_clear (NodeSet *self)
{
  g_free (self->keys);
  g_free (self->nodes);
  *self = (NodeSet){ 0 };
}

static uint32_t
find_slot (const NodeSet *self, uint64_t key)
{
  uint64_t hash = key * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  uint32_t at = (uint32_t) (hash >> 32) & (self->n_slots - 1);

  while (self->nodes[at] != 0 && self->keys[at] != key)
    at = (at + 1) & (self->n_slots - 1);

  return at;
}

static void
grow (NodeSet *self)
{
  NodeSet old = *self;

  self->n_slots = old.n_slots * 2;
  self->keys = g_new (uint64_t, self->n_slots);
  self->nodes = g_new0 (uint32_t, self->n_slots);
  for (uint32_t i = 0; i < old.n_slots; i++)
    if (old.nodes[i] != 0)
      {
        uint32_t at = find_slot (self, old.keys[i]);

        self->keys[at] = old.keys[i];
        self->nodes[at] = old.nodes[i];
      }

  sysprof_node_set_clear (&old);
}

uint32_t
sysprof_node_set_find_or_add (NodeSet *self, uint32_t parent, uint32_t what, uint32_t fresh)
{
  uint64_t key = ((uint64_t) parent << 32) | what;
  uint32_t at = find_slot (self, key);

  if (self->nodes[at] != 0)
    return self->nodes[at];

  if (self->n_used >= self->n_slots / 2)
    {
      grow (self);
      at = find_slot (self, key);
    }
  self->keys[at] = key;
  self->nodes[at] = fresh;
  self->n_used++;
  return fresh;
}
