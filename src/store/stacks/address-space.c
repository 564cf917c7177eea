// SPDX-License-Identifier: GPL-3.0-or-later

/* A treap: a search tree by start that is a heap by random priorities, and so is balanced
 * whatever order a file brings its mappings in. */

#include "store/stacks/address-space.h"

void
sysprof_regions_init (Regions *self)
{
  *self = (Regions){ .n = 1, .capacity = 1024, .random = g_rand_new () };
  self->region = g_new0 (Region, self->capacity); /* 0 is no region */
}

void
sysprof_regions_clear (Regions *self)
{
  g_clear_pointer (&self->region, g_free);
  g_clear_pointer (&self->random, g_rand_free);
}

static uint32_t
add_region (Regions *self, const Region *region)
{
  g_assert (self->n < G_MAXUINT32);
  if (self->n == self->capacity)
    {
      self->capacity = self->capacity > G_MAXUINT32 / 2 ? G_MAXUINT32 : self->capacity * 2;
      self->region = g_renew (Region, self->region, self->capacity);
    }

  self->region[self->n] = *region;
  return self->n++;
}

static uint32_t
new_region (Regions *self,
            const AddressSpace *space,
            uint64_t start,
            uint64_t end,
            MappingId mapping)
{
  Region region = { .start = start,
                    .end = end,
                    .mapping = mapping,
                    .priority = g_rand_int (self->random),
                    .owner = space->owner };

  return add_region (self, &region);
}

/* A node that `space` may change: the same one or its copy. */
static uint32_t
own (Regions *self, const AddressSpace *space, uint32_t node)
{
  Region copy;

  if (self->region[node].owner == space->owner)
    return node;

  copy = self->region[node];
  copy.owner = space->owner;
  return add_region (self, &copy);
}

/* Regions that start before `at` go left, others right. All nodes along the cut are owned
 * then. */
static void
split (Regions *self,
       const AddressSpace *space,
       uint32_t node,
       uint64_t at,
       uint32_t *left,
       uint32_t *right)
{
  uint32_t inner_left, inner_right;

  if (node == 0)
    {
      *left = *right = 0;
      return;
    }

  node = own (self, space, node);
  if (self->region[node].start < at)
    {
      split (self, space, self->region[node].right, at, &inner_left, &inner_right);
      self->region[node].right = inner_left;
      *left = node;
      *right = inner_right;
    }
  else
    {
      split (self, space, self->region[node].left, at, &inner_left, &inner_right);
      self->region[node].left = inner_right;
      *left = inner_left;
      *right = node;
    }
}

/* All of `left` is before all of `right`. */
static uint32_t
merge (Regions *self, const AddressSpace *space, uint32_t left, uint32_t right)
{
  uint32_t inner;

  if (left == 0 || right == 0)
    return left + right;

  if (self->region[left].priority >= self->region[right].priority)
    {
      left = own (self, space, left);
      inner = merge (self, space, self->region[left].right, right);
      self->region[left].right = inner;
      return left;
    }

  right = own (self, space, right);
  inner = merge (self, space, left, self->region[right].left);
  self->region[right].left = inner;
  return right;
}

/* What the last region of `tree` (fresh from split(), so owned) has behind `at` is cut off; the
 * part behind `end` comes back. */
static uint32_t
cut_tail (Regions *self, const AddressSpace *space, uint32_t tree, uint64_t at, uint64_t end)
{
  uint64_t tail_end;

  if (tree == 0)
    return 0;

  while (self->region[tree].right != 0)
    tree = self->region[tree].right;

  tail_end = self->region[tree].end;
  if (tail_end > at)
    self->region[tree].end = at;
  return tail_end > end ? new_region (self, space, end, tail_end, self->region[tree].mapping)
                        : 0;
}

void
sysprof_address_space_map (AddressSpace *self,
                           Regions *regions,
                           uint64_t start,
                           uint64_t end,
                           MappingId mapping)
{
  uint32_t before, covered, behind, tail, middle;

  if (self->owner == 0)
    self->owner = ++regions->n_owners;

  split (regions, self, self->root, start, &before, &behind);
  tail = cut_tail (regions, self, before, start, end);
  split (regions, self, behind, end, &covered, &behind);
  if (tail == 0)
    tail = cut_tail (regions, self, covered, end, end);

  middle = new_region (regions, self, start, end, mapping);
  behind = merge (regions, self, tail, behind);
  self->root = merge (regions, self, merge (regions, self, before, middle), behind);
  self->version++;
}

const Region *
sysprof_address_space_find (const AddressSpace *self, const Regions *regions, uint64_t address)
{
  uint32_t node = self->root;

  while (node != 0)
    {
      const Region *region = &regions->region[node];

      if (address < region->start)
        node = region->left;
      else if (address >= region->end)
        node = region->right;
      else
        return region;
    }

  return NULL;
}

const Region *
sysprof_address_space_find_before (const AddressSpace *self,
                                   const Regions *regions,
                                   uint64_t address)
{
  const Region *found = NULL;
  uint32_t node = self->root;

  while (node != 0)
    {
      const Region *region = &regions->region[node];

      if (region->start <= address)
        found = region;
      node = region->start <= address ? region->right : region->left;
    }

  return found;
}

void
sysprof_address_space_fork (AddressSpace *self, Regions *regions, AddressSpace *child)
{
  child->root = self->root;
  child->version++;
  child->owner = ++regions->n_owners;
  self->owner = ++regions->n_owners;
}
