// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes `__symbols__`: one entry per function and process, so that the capture shows the same
 * names on a machine without the recorded files.
 *
 * Kernel functions are listed under pid 0. Sysprof 3.46 only searches entries with the pid of
 * the sample. For it they are listed again under every process that was sampled in them, as
 * long as these copies stay within a limit. */

#include "symbolize/symbol-table.h"

#include "symbolize/packed-table.h"

#include <string.h>

#define MOST_KERNEL_COPIES 65536 /* entries: 2 MiB */

typedef struct
{
  const SymbolTable *table;
  const Store *store;
  GArray *entries; /* of PackedEntry; `name` and `tag` are StringIds until they are written */
} Packer;

static int
compare_entries (const void *a, const void *b, void *data)
{
  return packed_entry_compare (a, b);
}

static uint64_t
lookup_address (const AddressTable *addresses, AddressId address)
{
  return addresses->address[address] - (addresses->is_return[address] != 0);
}

/* Whether the name comes from the kernel, a file, or a program that generated the code. Names
 * of synthetic addresses are recorded in separate frames. */
static bool
is_packed (const Packer *self, AddressId address)
{
  const Symbol *symbol = &self->table->row[self->table->of_address[address]];

  return symbol->reason == UNNAMED_NOT && !symbol->is_inlined &&
         (symbol->kind == SYMBOL_USER || symbol->kind == SYMBOL_KERNEL ||
          symbol->kind == SYMBOL_DATA ||
          (symbol->kind == SYMBOL_JIT && self->store->addresses.kind[address] == ADDRESS_USER));
}

static void
add_entry (Packer *self, AddressId address, uint32_t pid, bool is_point)
{
  const SymbolTable *table = self->table;
  const Symbol *symbol = &table->row[table->of_address[address]];
  uint64_t at = lookup_address (&self->store->addresses, address);
  PackedEntry entry = {
    .begin = table->function_start[address],
    .end = table->function_end[address],
    .pid = pid,
    .name = symbol->name,
    .tag = symbol->binary,
  };

  if (is_point || at < entry.begin || at >= entry.end)
    {
      entry.begin = at;
      entry.end = at + 1;
    }
  g_array_append_val (self->entries, entry);
}

static uint32_t
pid_of_address (const Packer *self, AddressId address)
{
  const AddressTable *addresses = &self->store->addresses;

  if (addresses->kind[address] != ADDRESS_USER && addresses->kind[address] != ADDRESS_DATA)
    return 0;
  return (uint32_t) self->store->processes.row[addresses->process[address]].pid;
}

/* A set of nonzero numbers. */
typedef struct
{
  uint64_t *slots; /* [n_slots] open addressing, a power of two */
  uint32_t n_slots;
  uint32_t n;
} NumberSet;

static uint64_t *
find_slot (const NumberSet *self, uint64_t number)
{
  uint32_t mask = self->n_slots - 1;
  uint32_t at = (uint32_t) ((number * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)) >> 32) & mask;

  while (self->slots[at] != 0 && self->slots[at] != number)
    at = (at + 1) & mask;
  return &self->slots[at];
}

/* Returns FALSE if the number was in the set already. */
static bool
add_number (NumberSet *self, uint64_t number)
{
  uint64_t *slot;

  if (self->n * 2 >= self->n_slots)
    {
      NumberSet larger = { .n_slots = MAX (self->n_slots * 2, 1024), .n = self->n };

      larger.slots = g_new0 (uint64_t, larger.n_slots);
      for (uint32_t i = 0; i < self->n_slots; i++)
        if (self->slots[i] != 0)
          *find_slot (&larger, self->slots[i]) = self->slots[i];
      g_free (self->slots);
      *self = larger;
    }

  slot = find_slot (self, number);
  if (*slot == number)
    return false;
  *slot = number;
  self->n++;
  return true;
}

/* Adds an entry for each pair of a process and a kernel symbol in its stacks. */
static void
add_kernel_copies (Packer *self)
{
  const StackTree *stacks = &self->store->stacks;
  const AddressTable *addresses = &self->store->addresses;
  g_autofree uint32_t *pid =
      g_new0 (uint32_t, MAX (stacks->n, 1)); /* of the process of each stack */
  uint32_t first = self->entries->len;
  NumberSet seen = { 0 };

  for (StackId stack = 1;
       stack < stacks->n && seen.n <= MOST_KERNEL_COPIES && sysprof_is_wanted_at (stack);
       stack++)
    {
      AddressId address = stacks->address[stack];

      if (stacks->depth[stack] == 0)
        {
          pid[stack] = stack < self->store->processes.n
                           ? (uint32_t) self->store->processes.row[stack].pid
                           : 0;
          continue;
        }

      pid[stack] = pid[stacks->parent[stack]];
      if (pid[stack] != 0 && addresses->kind[address] == ADDRESS_KERNEL &&
          is_packed (self, address) &&
          add_number (&seen, (uint64_t) pid[stack] << 32 | self->table->of_address[address]))
        add_entry (self, address, pid[stack], false);
    }

  if (seen.n > MOST_KERNEL_COPIES)
    g_array_set_size (self->entries, first);
  g_free (seen.slots);
}

/* Sorts the entries, and removes duplicates and overlaps, because other profilers use a binary
 * search. */
static void
tidy_entries (Packer *self)
{
  PackedEntry *entries = (PackedEntry *) (void *) self->entries->data;
  uint32_t n = 0;

  (void) sysprof_sort_if_wanted (entries, self->entries->len, sizeof *entries, compare_entries,
                                 NULL);
  for (uint32_t i = 0; i < self->entries->len && sysprof_is_wanted_at (i); i++)
    {
      PackedEntry *last = n > 0 ? &entries[n - 1] : NULL;

      /* The entry is of the same function, or of one that was at this address at another time.
       * The shorter entry comes first and is kept. */
      if (last != NULL && last->pid == entries[i].pid && last->begin == entries[i].begin)
        continue;
      if (last != NULL && last->pid == entries[i].pid && last->end > entries[i].begin)
        last->end = entries[i].begin;
      entries[n++] = entries[i];
    }

  g_array_set_size (self->entries, n);
}

static bool
is_covered (const Packer *self, AddressId address)
{
  const PackedEntry *entries = (const PackedEntry *) (const void *) self->entries->data;
  uint64_t at = lookup_address (&self->store->addresses, address);
  uint32_t pid = pid_of_address (self, address);
  uint32_t low = 0;

  for (uint32_t high = self->entries->len; low < high;)
    {
      uint32_t middle = low + (high - low) / 2;

      if (entries[middle].pid < pid ||
          (entries[middle].pid == pid && entries[middle].begin <= at))
        low = middle + 1;
      else
        high = middle;
    }

  return low > 0 && entries[low - 1].pid == pid && at < entries[low - 1].end;
}

/* If functions are nested, the entry of the outer one was truncated. Its addresses after the
 * inner function get entries of one byte. */
static void
add_what_was_cut (Packer *self)
{
  uint32_t n = self->entries->len;
  g_autoptr (GArray) cut = g_array_new (FALSE, FALSE, sizeof (AddressId));

  for (AddressId address = 1;
       address < self->store->addresses.n && sysprof_is_wanted_at (address); address++)
    if (is_packed (self, address) && !is_covered (self, address))
      g_array_append_val (cut, address);

  for (uint32_t i = 0; i < cut->len; i++)
    {
      AddressId address = g_array_index (cut, AddressId, i);

      add_entry (self, address, pid_of_address (self, address), true);
    }
  if (self->entries->len > n)
    tidy_entries (self);
}

/* Returns the offset of the string in the file. The string is appended when its offset is first
 * needed. */
static uint32_t
offset_of_string (const Packer *self,
                  GByteArray *file,
                  uint32_t *offsets,
                  StringId id,
                  uint32_t empty)
{
  const char *text = sysprof_intern_get (&self->table->strings, id);

  if (id == 0)
    return empty;
  if (offsets[id] == 0)
    {
      offsets[id] = file->len;
      g_byte_array_append (file, (const guint8 *) text, (guint) strlen (text) + 1);
    }
  return offsets[id];
}

static GBytes *
write_table (const Packer *self)
{
  static const PackedEntry terminator = { 0 };
  PackedEntry *entries = (PackedEntry *) (void *) self->entries->data;
  uint32_t n = self->entries->len;
  GByteArray *file = g_byte_array_new ();
  g_autofree uint32_t *offsets = g_new0 (uint32_t, self->table->strings.n_strings);
  uint32_t empty = (n + 1) * PACKED_ENTRY_SIZE;

  g_byte_array_set_size (file, n * PACKED_ENTRY_SIZE);
  g_byte_array_append (file, (const guint8 *) &terminator, sizeof terminator);
  g_byte_array_append (file, (const guint8 *) "", 1);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      entries[i].name = offset_of_string (self, file, offsets, entries[i].name, empty);
      entries[i].tag = offset_of_string (self, file, offsets, entries[i].tag, empty);
    }
  if (n > 0)
    memcpy (file->data, entries, n * PACKED_ENTRY_SIZE);

  return g_byte_array_free_to_bytes (file);
}

GBytes *
sysprof_symbol_table_pack (const SymbolTable *table, const Store *store)
{
  Packer self = {
    .table = table,
    .store = store,
    .entries = g_array_new (FALSE, FALSE, sizeof (PackedEntry)),
  };
  GBytes *bytes;

  for (AddressId address = 1; address < store->addresses.n && sysprof_is_wanted_at (address);
       address++)
    if (is_packed (&self, address))
      add_entry (&self, address, pid_of_address (&self, address), false);
  add_kernel_copies (&self);
  tidy_entries (&self);
  add_what_was_cut (&self);

  bytes = write_table (&self);
  g_array_unref (self.entries);
  return bytes;
}

GBytes *
sysprof_symbol_table_pack_unnamed (const SymbolTable *table, const Store *store)
{
  const AddressTable *addresses = &store->addresses;
  GString *text = g_string_new (NULL);
  uint64_t link_address, start;

  for (AddressId address = 1; address < addresses->n && sysprof_is_wanted_at (address);
       address++)
    {
      const Symbol *symbol = &table->row[table->of_address[address]];

      if (symbol->reason == UNNAMED_NOT || addresses->kind[address] != ADDRESS_USER ||
          addresses->mapping[address] == 0)
        continue;

      link_address = sysprof_symbol_table_get_link_address (table, address);
      start = table->function_start[address];
      g_string_append_printf (text, "%u %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %s%s",
                              (uint32_t) store->processes.row[addresses->process[address]].pid,
                              addresses->address[address], link_address,
                              sysprof_unnamed_reason_word ((UnnamedReason) symbol->reason),
                              symbol->is_entry ? " entry" : "");
      if (link_address != 0 && start != 0)
        g_string_append_printf (text, " function %" G_GINT64_MODIFIER "x",
                                link_address - (addresses->address[address] - start));
      g_string_append_c (text, '\n');
    }

  if (text->len == 0)
    {
      g_string_free (text, TRUE);
      return NULL;
    }
  return g_string_free_to_bytes (text);
}
