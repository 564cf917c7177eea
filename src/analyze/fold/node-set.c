// SPDX-License-Identifier: GPL-3.0-or-later

/* A hash table from a parent and a key to the child node. See node-set.h. */

#include "analyze/fold/node-set.h"

#include <glib.h>

#define FIRST_SLOTS 4096

void
sysprof_node_set_init (NodeSet *self)
{
  *self = (NodeSet){ .n_slots = FIRST_SLOTS };
  self->slots = g_new0 (NodeSlot, self->n_slots);
}

void
sysprof_node_set_clear (NodeSet *self)
{
  g_free (self->slots);
  *self = (NodeSet){ 0 };
}

static NodeSlot *
find_slot (const NodeSet *self, uint32_t parent, uint32_t what)
{
  uint64_t hash = (((uint64_t) parent << 32) | what) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  uint32_t at = (uint32_t) (hash >> 32) & (self->n_slots - 1);

  while (self->slots[at].node != 0 &&
         (self->slots[at].parent != parent || self->slots[at].what != what))
    at = (at + 1) & (self->n_slots - 1);

  return &self->slots[at];
}

static void
grow (NodeSet *self)
{
  NodeSet old = *self;

  self->n_slots = old.n_slots * 2;
  self->slots = g_new0 (NodeSlot, self->n_slots);
  for (uint32_t i = 0; i < old.n_slots; i++)
    if (old.slots[i].node != 0)
      *find_slot (self, old.slots[i].parent, old.slots[i].what) = old.slots[i];

  sysprof_node_set_clear (&old);
}

uint32_t
sysprof_node_set_find_or_add (NodeSet *self, uint32_t parent, uint32_t what, uint32_t fresh)
{
  NodeSlot *slot = find_slot (self, parent, what);

  if (slot->node != 0)
    return slot->node;

  if (self->n_used >= self->n_slots / 2)
    {
      grow (self);
      slot = find_slot (self, parent, what);
    }
  *slot = (NodeSlot){ parent, what, fresh };
  self->n_used++;
  return fresh;
}
