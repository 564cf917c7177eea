// SPDX-License-Identifier: GPL-3.0-or-later

#include "store/addresses.h"

#include "store/slots.h"

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
  table->n++;
  return id;
}

void
sysprof_addresses_init (Addresses *self, Store *store, Mappings *mappings)
{
  *self = (Addresses){
    .store = store, .mappings = mappings, .n_slots = FIRST_SLOTS, .key = sysprof_random_key ()
  };
  self->slots = sysprof_slots_new (self->n_slots, sizeof (AddressSlot));
  add_row (self, 0, ADDRESS_NONE, 0);
  store->addresses.is_return[0] = false;
}

void
sysprof_addresses_clear (Addresses *self)
{
  sysprof_slots_free (self->slots, self->n_slots, sizeof (AddressSlot));
  *self = (Addresses){ 0 };
}

static uint32_t
first_slot (const Addresses *self, ProcessId process, uint8_t kind, uint64_t address)
{
  uint64_t who = (uint64_t) process << 8 | kind;

  return (uint32_t) sysprof_mix (address ^ self->key, who ^ self->key >> 7) &
         (self->n_slots - 1);
}

static void
grow_slots (Addresses *self)
{
  AddressSlot *old = self->slots;
  uint32_t n_old = self->n_slots;

  self->n_slots *= 2;
  self->slots = sysprof_slots_new (self->n_slots, sizeof (AddressSlot));
  for (uint32_t i = 0; i < n_old; i++)
    {
      const AddressSlot *slot = &old[i];
      uint32_t at = first_slot (self, slot->process, slot->kind, slot->address);

      if (slot->id == 0)
        continue;
      while (self->slots[at].id != 0)
        at = (at + 1) & (self->n_slots - 1);
      self->slots[at] = *slot;
    }

  sysprof_slots_free (old, n_old, sizeof (AddressSlot));
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

static void
set_mapping (Addresses *self, AddressId id, MappingId mapping)
{
  AddressTable *table = &self->store->addresses;

  table->mapping[id] = mapping;
  if (mapping != 0)
    table->file_offset[id] =
        offset_in_file (&self->store->mappings[mapping], table->address[id]);
}

/* Is this a caller where there is nothing? Not while it is unknown what the process has mapped. */
static bool
is_nowhere (const Addresses *self, const AddressSlot *key, MappingId mapping, bool is_return)
{
  return key->kind == ADDRESS_USER && is_return && mapping == 0 &&
         sysprof_mappings_has_any (self->mappings, key->process);
}

static AddressId
unmapped (Addresses *self)
{
  if (self->unmapped == 0)
    self->unmapped = add_row (self, 0, ADDRESS_UNMAPPED, 0);
  return self->unmapped;
}

static AddressId
new_row (Addresses *self, const AddressSlot *key, MappingId mapping)
{
  AddressId id = add_row (self, key->process, key->kind, key->address);

  set_mapping (self, id, mapping);
  return id;
}

AddressId
sysprof_addresses_intern (Addresses *self,
                          ProcessId process,
                          AddressKind kind,
                          uint64_t address,
                          bool is_return)
{
  AddressSlot key = { .address = address, .process = process, .kind = (uint8_t) kind };
  MappingId mapping = 0;
  AddressSlot *slot;
  AddressId id;
  uint32_t at;

  if (kind == ADDRESS_KERNEL || kind == ADDRESS_JIT || kind == ADDRESS_HYPERVISOR ||
      kind == ADDRESS_GUEST_KERNEL)
    key.process = 0;
  else if (kind == ADDRESS_USER)
    key.checked_at = sysprof_mappings_version (self->mappings, process);

  at = first_slot (self, key.process, key.kind, address);
  while ((slot = &self->slots[at])->id != 0 &&
         (slot->address != address || slot->process != key.process || slot->kind != key.kind))
    at = (at + 1) & (self->n_slots - 1);

  id = slot->id;
  if (id != 0 && slot->checked_at == key.checked_at)
    mapping = self->store->addresses.mapping[id];
  else if (kind == ADDRESS_USER)
    mapping = sysprof_mappings_find (self->mappings, process, address);

  if (is_nowhere (self, &key, mapping, is_return))
    return unmapped (self);

  if (id == 0)
    {
      key.id = id = new_row (self, &key, mapping);
      *slot = key;
      if (++self->n_used > self->n_slots / 2)
        grow_slots (self);
    }
  else if (slot->checked_at != key.checked_at)
    {
      /* Mappings have changed. If the address means another place in a file now, it gets a row of its own from
       * here on. */
      if (!is_same_place (self->store, id, mapping))
        slot->id = id = new_row (self, &key, mapping);
      slot->checked_at = key.checked_at;
    }

  if (!is_return)
    self->store->addresses.is_return[id] = false;
  return id;
}
