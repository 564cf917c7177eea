// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the child of a node by its key. *Owned* by the builder of one tree. */

#pragma once

#include <stdint.h>

typedef struct
{
  uint32_t parent;
  uint32_t what;
  uint32_t node; /* 0 = free: the root is no child */
} NodeSlot;

typedef struct
{
  NodeSlot *slots;  /* [n_slots] open addressing, at most half full */
  uint32_t n_slots; /* a power of two */
  uint32_t n_used;
} NodeSet;

void sysprof_node_set_init (NodeSet *self);
void sysprof_node_set_clear (NodeSet *self);

/* The child, or `fresh`, which then is the child. */
uint32_t
sysprof_node_set_find_or_add (NodeSet *self, uint32_t parent, uint32_t what, uint32_t fresh);
