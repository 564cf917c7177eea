// SPDX-License-Identifier: GPL-3.0-or-later

#include "store/addresses.h"

#define FIRST_SLOTS 4096

static void
grow_rows (Addresses *self)
{
  AddressTable *table = &self->store->addresses;

  self->capacity = MAX (self->capacity * 2, FIRST_SLOTS);
  table->address = g_renew (uint64_t, table->address, self->capacity);
  table->kind = g_renew (uint8_t, table->kind, self->capacity);
  table->process = g_renew (ProcessId, table->process, self->capacity);
  table->mapping = g_renew (MappingId, table->mapping, self->capacity);
  table->file_offset = g_renew (uint64_t, table->file_offset, self->capacity);
  table->is_return = g_renew (uint8_t, table->is_return, self->capacity);
  self->checked_at = g_renew (uint32_t, self->checked_at, self->capacity);
}

static AddressId
add_row (Addresses *self, ProcessId process, AddressKind kind, uint64_t address)
{
  AddressTable *table = &self->store->addresses;
  AddressId id = table->n;

  if (id == self->capacity)
    grow_rows (self);

  table->address[id] = address;
  table->kind[id] = (uint8_t) kind;
  table->process[id] = process;
  table->mapping[id] = 0;
  table->file_offset[id] = 0;
  table->is_return[id] = true;
  self->checked_at[id] = 0;
  table->n++;
  return id;
}

void
sysprof_addresses_init (Addresses *self, Store *store, Mappings *mappings)
{
  *self = (Addresses){
    .store = store, .mappings = mappings, .n_slots = FIRST_SLOTS, .seed = sysprof_random_seed ()
  };
  self->slots = g_new0 (uint32_t, self->n_slots);
  add_row (self, 0, ADDRESS_NONE, 0);
  store->addresses.is_return[0] = false;
}

void
sysprof_addresses_clear (Addresses *self)
{
  g_free (self->checked_at);
  g_free (self->slots);
  *self = (Addresses){ 0 };
}

static uint32_t
first_slot (const Addresses *self, ProcessId process, AddressKind kind, uint64_t address)
{
  uint64_t who = (uint64_t) process << 8 | kind;

  return (uint32_t) sysprof_mix (address ^ self->seed, who ^ self->seed >> 7) &
         (self->n_slots - 1);
}

/* Rows that were replaced stay reachable only through the stacks that use them. */
static void
grow_slots (Addresses *self)
{
  const AddressTable *table = &self->store->addresses;
  uint32_t *old = self->slots;
  uint32_t n_old = self->n_slots;

  self->n_slots *= 2;
  self->slots = g_new0 (uint32_t, self->n_slots);
  for (uint32_t i = 0; i < n_old; i++)
    {
      AddressId id = old[i];
      uint32_t at;

      if (id == 0)
        continue;
      at = first_slot (self, table->process[id], table->kind[id], table->address[id]);
      while (self->slots[at] != 0)
        at = (at + 1) & (self->n_slots - 1);
      self->slots[at] = id;
    }

  g_free (old);
}

static uint64_t
offset_in_file (const Mapping *mapping, uint64_t address)
{
  return address - mapping->start + mapping->file_offset;
}

static bool
is_same_place (const Store *store, AddressId id, MappingId other)
{
  const Mapping *left = &store->mappings[store->addresses.mapping[id]];
  const Mapping *right = &store->mappings[other];

  if (left == right)
    return true;

  return store->addresses.mapping[id] != 0 && other != 0 && left->path == right->path &&
         left->inode == right->inode && left->build_id == right->build_id &&
         store->addresses.file_offset[id] ==
             offset_in_file (right, store->addresses.address[id]);
}

/* The row to use from now on for the address of row `id`. */
static AddressId
check_mapping (Addresses *self, AddressId id, uint32_t version)
{
  AddressTable *table = &self->store->addresses;
  ProcessId process = table->process[id];
  uint64_t address = table->address[id];
  MappingId mapping = sysprof_mappings_find (self->mappings, process, address);

  if (!is_same_place (self->store, id, mapping))
    {
      id = add_row (self, process, table->kind[id], address);
      table->mapping[id] = mapping;
      if (mapping != 0)
        table->file_offset[id] = offset_in_file (&self->store->mappings[mapping], address);
    }

  self->checked_at[id] = version;
  return id;
}

static AddressId
add_address (Addresses *self, ProcessId process, AddressKind kind, uint64_t address)
{
  AddressTable *table = &self->store->addresses;
  AddressId id = add_row (self, process, kind, address);

  if (kind == ADDRESS_USER)
    {
      MappingId mapping = sysprof_mappings_find (self->mappings, process, address);

      table->mapping[id] = mapping;
      if (mapping != 0)
        table->file_offset[id] = offset_in_file (&self->store->mappings[mapping], address);
      self->checked_at[id] = sysprof_mappings_version (self->mappings, process);
    }

  return id;
}

AddressId
sysprof_addresses_intern (Addresses *self,
                          ProcessId process,
                          AddressKind kind,
                          uint64_t address,
                          bool is_return)
{
  AddressTable *table = &self->store->addresses;
  uint32_t at;
  AddressId id;

  if (kind == ADDRESS_KERNEL || kind == ADDRESS_JIT || kind == ADDRESS_HYPERVISOR ||
      kind == ADDRESS_GUEST_KERNEL)
    process = 0;

  at = first_slot (self, process, kind, address);
  while ((id = self->slots[at]) != 0 &&
         (table->address[id] != address || table->process[id] != process ||
          table->kind[id] != kind))
    at = (at + 1) & (self->n_slots - 1);

  if (id == 0)
    {
      id = self->slots[at] = add_address (self, process, kind, address);
      if (table->n > self->n_slots / 2)
        grow_slots (self);
    }
  else if (kind == ADDRESS_USER)
    {
      uint32_t version = sysprof_mappings_version (self->mappings, process);

      if (self->checked_at[id] != version)
        id = self->slots[at] = check_mapping (self, id, version);
    }

  table->is_return[id] &= is_return;
  return id;
}
