// SPDX-License-Identifier: GPL-3.0-or-later

/* Entries for calls that have no address of their own: what a compiler inlined. */

#include "store/store.h"

/* Stacks that one tree may have for them: so many times as before, or this many. */
#define MOST_TIMES  8
#define MOST_STACKS (UINT32_C (16) << 20)

typedef struct
{
  Store *store;
  const uint16_t *n_inner;
  AddressId *first; /* [addresses.n] the row of its outermost inner call */
  StackId *moved;   /* [stacks.n] the new number of each stack */
  uint32_t n_addresses;
  uint32_t n_stacks;
} Insertion;

/* FALSE if nothing is to insert, or too much. */
static bool
number_addresses (Insertion *self)
{
  const AddressTable *addresses = &self->store->addresses;
  uint64_t n = addresses->n;

  for (AddressId i = 0; i < addresses->n; i++)
    {
      self->first[i] = (AddressId) n;
      n += self->n_inner[i];
      if (n > UINT32_MAX)
        return false;
    }
  self->n_addresses = (uint32_t) n;
  return n > addresses->n;
}

static uint32_t
count_inner (const Insertion *self, StackId stack)
{
  const StackTree *stacks = &self->store->stacks;

  return stacks->depth[stack] > 0 ? self->n_inner[stacks->address[stack]] : 0;
}

static bool
number_stacks (Insertion *self)
{
  const StackTree *stacks = &self->store->stacks;
  uint64_t most = MAX (MOST_STACKS, (uint64_t) stacks->n * MOST_TIMES);
  uint64_t n = 0;

  for (StackId i = 0; i < stacks->n; i++)
    {
      n += count_inner (self, i);
      if (n >= MIN (most, UINT32_MAX))
        return false;
      self->moved[i] = (StackId) n++;
    }
  self->n_stacks = (uint32_t) n;
  return true;
}

void
sysprof_store_extend_column (void *column,
                             size_t size,
                             uint32_t n,
                             const uint16_t *n_inner,
                             uint32_t n_rows)
{
  void **array = column;
  char *larger, *at;

  if (*array == NULL)
    return;
  larger = sysprof_large_new (MAX (n_rows, 1), size);
  memcpy (larger, *array, n * size);
  at = larger + n * size;
  for (AddressId i = 0; i < n; i++)
    for (uint32_t j = 0; j < n_inner[i]; j++, at += size)
      memcpy (at, larger + i * size, size);
  g_free (*array);
  *array = larger;
}

static void
extend (const Insertion *self, void *column, size_t size)
{
  sysprof_store_extend_column (column, size, self->store->addresses.n, self->n_inner,
                               self->n_addresses);
}

static void
insert_addresses (const Insertion *self)
{
  AddressTable *addresses = &self->store->addresses;

  extend (self, &addresses->address, sizeof *addresses->address);
  extend (self, &addresses->kind, sizeof *addresses->kind);
  extend (self, &addresses->process, sizeof *addresses->process);
  extend (self, &addresses->mapping, sizeof *addresses->mapping);
  extend (self, &addresses->is_return, sizeof *addresses->is_return);
  extend (self, &addresses->code, sizeof *addresses->code);
  addresses->n = self->n_addresses;
}

/* NULL where a stack would be too deep. */
static uint16_t *
insert_depths (const Insertion *self)
{
  const StackTree *old = &self->store->stacks;
  uint16_t *depths = sysprof_large_new (MAX (self->n_stacks, 1), sizeof *depths);

  for (StackId i = 0; i < old->n; i++)
    {
      uint32_t n_inner = count_inner (self, i);
      StackId at = self->moved[i] - n_inner;
      uint32_t depth = old->depth[i] > 0 ? depths[self->moved[old->parent[i]]] + 1u : 0;

      if (depth + n_inner > UINT16_MAX)
        {
          g_free (depths);
          return NULL;
        }
      for (uint32_t j = 0; j <= n_inner; j++)
        depths[at + j] = (uint16_t) (depth + j);
    }
  return depths;
}

static StackId *
insert_parents (const Insertion *self)
{
  const StackTree *old = &self->store->stacks;
  StackId *parents = sysprof_large_new (MAX (self->n_stacks, 1), sizeof *parents);

  for (StackId i = 0; i < old->n; i++)
    {
      uint32_t n_inner = count_inner (self, i);
      StackId at = self->moved[i] - n_inner;

      parents[at] = self->moved[old->parent[i]];
      for (uint32_t j = 1; j <= n_inner; j++)
        parents[at + j] = at + j - 1;
    }
  return parents;
}

static AddressId *
insert_callees (const Insertion *self)
{
  const StackTree *old = &self->store->stacks;
  AddressId *addresses = sysprof_large_new (MAX (self->n_stacks, 1), sizeof *addresses);

  for (StackId i = 0; i < old->n; i++)
    {
      uint32_t n_inner = count_inner (self, i);
      StackId at = self->moved[i] - n_inner;
      AddressId address = old->address[i];

      addresses[at] = address;
      for (uint32_t j = 1; j <= n_inner; j++)
        addresses[at + j] = self->first[address] + j - 1;
    }
  return addresses;
}

/* What is innermost keeps the number that leads to the old one; its function is what it called.
 * One column after the other, so that no two of them are there twice. FALSE where a stack would
 * be too deep. */
static bool
insert_stacks (const Insertion *self)
{
  StackTree *stacks = &self->store->stacks;
  uint16_t *depths = insert_depths (self);
  StackId *parents;
  AddressId *addresses;

  if (depths == NULL)
    return false;
  parents = insert_parents (self);
  g_free (stacks->parent);
  stacks->parent = parents;
  addresses = insert_callees (self);
  g_free (stacks->address);
  stacks->address = addresses;
  g_free (stacks->depth);
  stacks->depth = depths;
  stacks->n = self->n_stacks;
  return true;
}

static void
move (const Insertion *self, StackId *column, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    column[i] = self->moved[column[i]];
}

bool
sysprof_store_insert_inlined_calls (Store *store, const uint16_t *n_inner)
{
  Insertion self = { .store = store, .n_inner = n_inner };
  bool is_done;

  self.first = sysprof_large_new (MAX (store->addresses.n, 1), sizeof *self.first);
  self.moved = sysprof_large_new (MAX (store->stacks.n, 1), sizeof *self.moved);
  is_done = number_addresses (&self) && number_stacks (&self) && insert_stacks (&self);
  if (is_done)
    {
      insert_addresses (&self);
      move (&self, store->samples.stack, store->samples.n);
      move (&self, store->allocations.stack, store->allocations.n);
      move (&self, store->traces.stack, store->traces.n);
      move (&self, store->waits.events.stack, store->waits.events.n);
      move (&self, store->heap.stack, store->heap.n);
      for (uint32_t i = 0; i < store->waits.events.n; i++)
        store->waits.row[i].waker_stack = self.moved[store->waits.row[i].waker_stack];
    }

  g_free (self.first);
  g_free (self.moved);
  return is_done;
}
