// SPDX-License-Identifier: GPL-3.0-or-later

/* Numbers the distinct addresses of a capture. See addresses.h. */

#include "store/stacks/addresses.h"

#include "store/stacks/slots.h"
#include "util/large.h"

#define FIRST_ROWS   4096
#define FIRST_SLOTS  64
#define PAGES_AHEAD  0x4000 /* rows, whose pages are taken at once */
#define N_RARE_KINDS 3      /* that have a process, but for ADDRESS_USER */

typedef struct
{
  void *column; /* where its pointer is */
  size_t item_size;
} Column;

#define MOST_COLUMNS 6

/* Returns how many there are. */
static size_t
list_columns (const Addresses *self, Column columns[MOST_COLUMNS])
{
  AddressTable *table = &self->store->addresses;
  size_t n = 0;

  columns[n++] = (Column){ &table->address, sizeof *table->address };
  columns[n++] = (Column){ &table->kind, sizeof *table->kind };
  columns[n++] = (Column){ &table->process, sizeof *table->process };
  columns[n++] = (Column){ &table->mapping, sizeof *table->mapping };
  columns[n++] = (Column){ &table->is_return, sizeof *table->is_return };
  if (self->store->n_jit_code > 0)
    columns[n++] = (Column){ &table->code, sizeof *table->code };
  return n;
}

static void
grow_rows (Addresses *self)
{
  uint32_t capacity = MAX (self->capacity * 2, FIRST_ROWS);
  Column columns[MOST_COLUMNS];
  size_t n = list_columns (self, columns);

  for (size_t i = 0; i < n; i++)
    {
      void **column = columns[i].column;

      *column = sysprof_growing_renew (*column, self->capacity, capacity, columns[i].item_size);
    }
  self->capacity = capacity;
}

void
sysprof_addresses_finish (Addresses *self)
{
  Column columns[MOST_COLUMNS];
  size_t n = list_columns (self, columns);

  for (size_t i = 0; i < n; i++)
    {
      void **column = columns[i].column;

      *column = sysprof_growing_finish (*column, self->store->addresses.n, self->capacity,
                                        columns[i].item_size);
    }
  self->capacity = self->store->addresses.n;
}

void
sysprof_addresses_drop_rows (Addresses *self)
{
  Column columns[MOST_COLUMNS];
  size_t n = list_columns (self, columns);

  for (size_t i = 0; i < n; i++)
    sysprof_growing_free (*(void **) columns[i].column, self->capacity, columns[i].item_size);
  self->store->addresses = (AddressTable){ 0 };
  self->capacity = 0;
}

static void
take_pages (Addresses *self)
{
  AddressTable *table = &self->store->addresses;
  AddressId id = table->n;
  uint32_t n = MIN (self->capacity - id, PAGES_AHEAD);

  sysprof_large_fault_in (table->address + id, n * sizeof *table->address);
  sysprof_large_fault_in (table->kind + id, n * sizeof *table->kind);
  sysprof_large_fault_in (table->process + id, n * sizeof *table->process);
  sysprof_large_fault_in (table->mapping + id, n * sizeof *table->mapping);
  sysprof_large_fault_in (table->is_return + id, n * sizeof *table->is_return);
}

static AddressId
add_row (Addresses *self, ProcessId process, AddressKind kind, uint64_t address)
{
  AddressTable *table = &self->store->addresses;
  AddressId id = table->n;

  if (id == self->capacity)
    grow_rows (self);
  if (id % PAGES_AHEAD == 0 && id > 0)
    take_pages (self);

  table->address[id] = address;
  table->kind[id] = (uint8_t) kind;
  table->process[id] = process;
  table->mapping[id] = 0;
  table->is_return[id] = true;
  if (table->code != NULL)
    table->code[id] = 0;
  table->n++;
  return id;
}

void
sysprof_addresses_init (Addresses *self, Store *store, Mappings *mappings)
{
  *self = (Addresses){ .store = store,
                       .mappings = mappings,
                       .of_process = g_new0 (AddressSet, store->processes.n),
                       .key = sysprof_random_key () };
  add_row (self, 0, ADDRESS_NONE, 0);
  store->addresses.is_return[0] = false;
}

static void
free_sets (AddressSet *sets, size_t n)
{
  for (size_t i = 0; i < n; i++)
    sysprof_slots_free (sets[i].slots, sets[i].n_slots, sizeof (AddressSlot));
}

void
sysprof_addresses_clear (Addresses *self)
{
  uint32_t n_processes = self->store->processes.n;

  free_sets (self->of_process, n_processes);
  free_sets (self->of_all, G_N_ELEMENTS (self->of_all));
  if (self->of_rare != NULL)
    free_sets (self->of_rare, (size_t) n_processes * N_RARE_KINDS);
  g_free (self->of_process);
  g_free (self->of_rare);
  *self = (Addresses){ 0 };
}

void
sysprof_addresses_forget (Addresses *self, ProcessId process)
{
  free_sets (&self->of_process[process], 1);
  self->of_process[process] = (AddressSet){ 0 };
}

static uint32_t
slot_place (const AddressSet *set, uint64_t key, uint64_t address)
{
  return (uint32_t) sysprof_mix (address ^ key, key >> 7) & (set->n_slots - 1);
}

/* The slot of the address, or the free one where it belongs. */
static AddressSlot *
find_slot (const AddressSet *set, uint64_t key, uint64_t address)
{
  uint32_t mask = set->n_slots - 1;
  uint32_t at = slot_place (set, key, address);

  while (set->slots[at].id != 0 && set->slots[at].address != address)
    at = (at + 1) & mask;
  return &set->slots[at];
}

static void
grow_set (AddressSet *set, uint64_t key)
{
  AddressSet old = *set;

  set->n_slots = MAX (old.n_slots * 2, FIRST_SLOTS);
  set->slots = sysprof_slots_new (set->n_slots, sizeof (AddressSlot));
  for (uint32_t i = 0; i < old.n_slots; i++)
    if (old.slots[i].id != 0)
      *find_slot (set, key, old.slots[i].address) = old.slots[i];

  sysprof_slots_free (old.slots, old.n_slots, sizeof (AddressSlot));
}

/* The same where a new address may take it: there is room for one more. */
static AddressSlot *
claim_slot (AddressSet *set, uint64_t key, uint64_t address)
{
  if (set->n_used >= set->n_slots / 2)
    grow_set (set, key);
  return find_slot (set, key, address);
}

static uint64_t
offset_in_file (const Mapping *mapping, uint64_t address)
{
  return address - mapping->start + mapping->file_offset;
}

/* MappingEvents again where it is, code is the same. */
static bool
is_same_code (const Store *store, AddressId id, JitCodeId other)
{
  JitCodeId code = sysprof_address_table_get_code (&store->addresses, id);

  return code == other || (code != 0 && other != 0 &&
                           store->jit_code[code].name == store->jit_code[other].name &&
                           store->jit_code[code].start == store->jit_code[other].start &&
                           store->jit_code[code].end == store->jit_code[other].end);
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
         sysprof_store_file_offset (store, id) ==
             offset_in_file (right, store->addresses.address[id]);
}

static AddressSet *
find_rare_set (Addresses *self, ProcessId process, unsigned kind)
{
  if (self->of_rare == NULL)
    self->of_rare = g_new0 (AddressSet, (size_t) self->store->processes.n * N_RARE_KINDS);
  return &self->of_rare[(size_t) process * N_RARE_KINDS + kind];
}

/* The set of the addresses of a kind, and the process to which they belong. */
static AddressSet *
find_set (Addresses *self, ProcessId process, AddressKind kind, ProcessId *owner)
{
  *owner = process;
  switch (kind)
    {
    case ADDRESS_USER:
      return &self->of_process[process];
    case ADDRESS_GUEST:
      return find_rare_set (self, process, 0);
    case ADDRESS_GUEST_USER:
      return find_rare_set (self, process, 1);
    case ADDRESS_DATA:
      return find_rare_set (self, process, 2);
    default:
      *owner = 0;
      return &self->of_all[kind];
    }
}

static AddressId
unmapped (Addresses *self)
{
  if (self->unmapped == 0)
    self->unmapped = add_row (self, 0, ADDRESS_UNMAPPED, 0);
  return self->unmapped;
}

static AddressId
new_row (Addresses *self,
         ProcessId process,
         AddressKind kind,
         uint64_t address,
         MappingId mapping,
         JitCodeId code)
{
  AddressId id = add_row (self, process, kind, address);

  self->store->addresses.mapping[id] = mapping;
  if (code != 0)
    self->store->addresses.code[id] = code;
  return id;
}

void
sysprof_addresses_expect (const Addresses *self, ProcessId process, uint64_t address)
{
  const AddressSet *set = &self->of_process[process];

  if (set->slots != NULL)
    __builtin_prefetch (&set->slots[slot_place (set, self->key, address)]);
}

AddressId
sysprof_addresses_intern (Addresses *self,
                          ProcessId process,
                          AddressKind kind,
                          uint64_t address,
                          bool is_return)
{
  uint32_t version =
      kind == ADDRESS_USER ? sysprof_mappings_version (self->mappings, process) : 0;
  MappingId mapping = 0;
  JitCodeId code = 0;
  AddressSlot *slot;
  ProcessId owner;
  AddressSet *set = find_set (self, process, kind, &owner);
  AddressId id;
  bool is_mapped, is_checked;

  slot = claim_slot (set, self->key, address);
  id = slot->id;
  is_checked = id != 0 && slot->checked_at == version &&
               /* Code was looked up before the address, because it is a return address. */
               (is_return || self->store->addresses.code == NULL ||
                !self->store->addresses.is_return[id]);
  if (!is_checked && kind == ADDRESS_USER)
    {
      mapping = sysprof_mappings_find (self->mappings, process, address);
      /* What a call returns to may be the next function. */
      code = sysprof_mappings_find_code (self->mappings, process, mapping, address - is_return);
    }
  else if (!is_checked && kind == ADDRESS_DATA)
    mapping = sysprof_mappings_find_before (self->mappings, process, address);
  is_mapped = is_checked ? slot->is_mapped : mapping != 0;

  /* A caller where there is nothing. Not while it is unknown what the process has mapped. */
  if (kind == ADDRESS_USER && is_return && !is_mapped &&
      sysprof_mappings_has_any (self->mappings, process))
    return unmapped (self);

  if (id == 0)
    {
      id = new_row (self, owner, kind, address, mapping, code);
      *slot = (AddressSlot){ address, version, is_mapped, id };
      set->n_used++;
    }
  else if (!is_checked)
    {
      /* Mappings have changed. If the address means another place in a file, or other code now,
       * it gets a row of its own from here on. */
      if (!is_same_place (self->store, id, mapping) || !is_same_code (self->store, id, code))
        slot->id = id = new_row (self, owner, kind, address, mapping, code);
      slot->checked_at = version;
      slot->is_mapped = is_mapped;
    }

  if (!is_return)
    self->store->addresses.is_return[id] = false;
  return id;
}

/* The row of an address that is the same in all processes. */
static AddressId
intern_shared (Addresses *self, AddressKind kind, uint64_t address)
{
  AddressSet *set = &self->of_all[kind];
  AddressSlot *slot = claim_slot (set, self->key, address);

  if (slot->id == 0)
    {
      *slot = (AddressSlot){ address, 0, false, new_row (self, 0, kind, address, 0, 0) };
      set->n_used++;
    }
  return slot->id;
}

void
sysprof_addresses_absorb (Addresses *self, const AddressTable *other, AddressId *id)
{
  AddressTable *table = &self->store->addresses;

  id[0] = 0;
  for (AddressId i = 1; i < other->n; i++)
    {
      AddressKind kind = (AddressKind) other->kind[i];

      if (kind == ADDRESS_UNMAPPED)
        id[i] = unmapped (self);
      else if (other->process[i] == 0)
        id[i] = intern_shared (self, kind, other->address[i]);
      else
        id[i] = new_row (self, other->process[i], kind, other->address[i], other->mapping[i],
                         sysprof_address_table_get_code (other, i));
      table->is_return[id[i]] &= other->is_return[i];
    }
}
