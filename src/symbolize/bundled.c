// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the symbol table that is embedded in a capture: `__symbols__`, written by this program
 * or by Sysprof.
 *
 * Sysprof 3.46 stores, for each run of sampled addresses with one name, the first and the
 * *last* address as they occurred in the stacks. Later versions and this program store the
 * address range of the function, with an exclusive end. A table is in the 3.46 format if it
 * contains an entry whose start equals its end. Such a table lists kernel functions once for
 * every process that was sampled in them. The kernel is the same for all processes, so these
 * entries are merged. */

#include "symbolize/symbolizer.h"

#include "symbolize/packed-table.h"
#include "symbolize/symbol-table.h"
#include "symbolize/transient-kernel-symbols.h"

#include <stdlib.h>
#include <string.h>

#define NAMED_SLOTS   0x4000
#define MOST_OVERLAPS 16 /* entries that start before an entry that contains the address */

#define LINES_BETWEEN 0x1000 /* between two checks for cancelation */
/* Limit on the bytes of text read from a table: the larger of these two. Writers store each
 * text only once, so valid tables stay far below it. */
#define TEXT_LEAST ((size_t) 256 << 20)
#define TEXT_TIMES ((size_t) 16) /* times the size of the table */

/* Caches the symbols of table entries by name: processes that run the same program have the
 * same names. */
typedef struct
{
  SymbolId symbol; /* 0 = free */
  uint32_t name;   /* of the entry */
  uint32_t tag;
  StringId path; /* of the mapping that contains its addresses, in Store.strings */
  bool is_kernel;
} NamedEntry;

typedef struct
{
  GBytes *bytes;
  PackedEntry *user; /* [n_user] sorted */
  uint32_t n_user;
  PackedEntry *kernel; /* [n_kernel] sorted by start; pid 0 */
  uint32_t n_kernel;
  bool is_inclusive; /* written by Sysprof 3.46 */
  size_t text_left;  /* bytes of texts that may still be read */
  NamedEntry *named; /* [NAMED_SLOTS] by name; a name whose slot was reused is interned again */
} PackedTable;

static int
compare_entries (const void *a, const void *b, void *data)
{
  return packed_entry_compare (a, b);
}

static PackedEntry
read_entry (const uint8_t *at, bool is_swapped)
{
  PackedEntry entry;

  memcpy (&entry, at, sizeof entry);
  if (is_swapped)
    entry = (PackedEntry){
      .begin = GUINT64_SWAP_LE_BE (entry.begin),
      .end = GUINT64_SWAP_LE_BE (entry.end),
      .pid = GUINT32_SWAP_LE_BE (entry.pid),
      .name = GUINT32_SWAP_LE_BE (entry.name),
      .tag = GUINT32_SWAP_LE_BE (entry.tag),
    };
  return entry;
}

static bool
is_terminator (const PackedEntry *entry)
{
  return entry->begin == 0 && entry->end == 0 && entry->pid == 0 && entry->name == 0;
}

/* Returns the text at an offset, or NULL if it is not entirely inside the table. Texts may
 * overlap: many suffixes of a few long texts could exhaust the memory, so their total size is
 * limited. */
static const char *
text_at (PackedTable *self, uint32_t offset)
{
  size_t size;
  const char *bytes = g_bytes_get_data (self->bytes, &size);
  const char *end;

  if (offset == 0 || offset >= size)
    return NULL;
  end = memchr (bytes + offset, 0, MIN (size - offset, self->text_left));
  if (end == NULL)
    return NULL;
  self->text_left -= (size_t) (end - (bytes + offset));
  return bytes + offset;
}

/* If Sysprof 3.46 and other profilers find no name, they store the name of the file, which the
 * mapping already provides. Such addresses are left for other sources. */
static bool
is_no_name (const char *name)
{
  static const char *const beginnings[] = { "In file ", "In File ", "In Kernel+0x" };

  for (size_t i = 0; i < G_N_ELEMENTS (beginnings); i++)
    if (g_str_has_prefix (name, beginnings[i]))
      return true;
  return false;
}

/* Writers sort the entries, but the input is untrusted. */
static void
sort_entries (PackedEntry *entries, uint32_t n, const Progress *progress)
{
  for (uint32_t i = 1; i < n; i++)
    if (packed_entry_compare (&entries[i - 1], &entries[i]) > 0)
      {
        (void) sysprof_progress_sort (progress, entries, n, sizeof *entries, compare_entries,
                                      NULL); /* the caller checks for cancelation */
        return;
      }
}

static bool
load_table (PackedTable *self, GBytes *bytes, bool is_swapped, const Progress *progress)
{
  size_t size;
  const uint8_t *data = g_bytes_get_data (bytes, &size);
  size_t n = 0;

  for (;; n++)
    {
      PackedEntry entry;

      if ((n + 1) * PACKED_ENTRY_SIZE > size)
        return false; /* the strings start after the last entry, so they cannot be located */
      entry = read_entry (data + n * PACKED_ENTRY_SIZE, is_swapped);
      if (is_terminator (&entry))
        break;
    }

  self->bytes = g_bytes_ref (bytes);
  self->text_left = MAX (TEXT_LEAST, TEXT_TIMES * size);
  self->user = g_new (PackedEntry, n + 1);
  self->kernel = g_new (PackedEntry, n + 1);
  for (size_t i = 0; i < n; i++)
    {
      PackedEntry entry = read_entry (data + i * PACKED_ENTRY_SIZE, is_swapped);
      const char *name = text_at (self, entry.name);

      if (i % LINES_BETWEEN == 0 && sysprof_progress_is_cancelled (progress))
        return false;
      if (entry.end < entry.begin)
        continue;
      self->is_inclusive |= entry.begin == entry.end;
      if (name != NULL && is_no_name (name))
        continue;
      if (packed_entry_is_kernel (&entry))
        {
          entry.pid = 0;
          self->kernel[self->n_kernel++] = entry;
        }
      else
        {
          self->user[self->n_user++] = entry;
        }
    }

  sort_entries (self->user, self->n_user, progress);
  sort_entries (self->kernel, self->n_kernel, progress);
  return true;
}

/* Merges overlapping runs of one function that was sampled in several processes, such as [10,
 * 14] and [12, 20]. */
static void
join_kernel_entries (PackedTable *self)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < self->n_kernel; i++)
    {
      const PackedEntry *entry = &self->kernel[i];
      PackedEntry *last = n > 0 ? &self->kernel[n - 1] : NULL;
      const char *name = text_at (self, entry->name);

      if (last != NULL && entry->begin <= last->end && name != NULL &&
          (entry->name == last->name || g_strcmp0 (text_at (self, last->name), name) == 0))
        last->end = MAX (last->end, entry->end);
      else
        self->kernel[n++] = *entry;
    }

  self->n_kernel = n;
}

static const PackedEntry *
find_entry (const PackedTable *self,
            const PackedEntry *entries,
            uint32_t n,
            uint32_t pid,
            uint64_t address)
{
  uint32_t low = 0;

  for (uint32_t high = n; low < high;)
    {
      uint32_t middle = low + (high - low) / 2;
      const PackedEntry *entry = &entries[middle];

      if (entry->pid < pid || (entry->pid == pid && entry->begin <= address))
        low = middle + 1;
      else
        high = middle;
    }

  for (unsigned step = 0; low > 0 && step < MOST_OVERLAPS; step++)
    {
      const PackedEntry *entry = &entries[--low];

      if (entry->pid != pid)
        break;
      if (address < entry->end || address == entry->begin ||
          (self->is_inclusive && address == entry->end))
        return entry;
    }

  return NULL;
}

/* --- entries of all addresses, on all CPUs: cache misses dominate the time --- */

#define GRAIN      0x4000 /* addresses */
#define LOOK_AHEAD 16     /* addresses */
#define NO_ENTRY   UINT32_MAX

typedef struct
{
  const Symbolization *symbolization;
  const PackedTable *table;
  uint32_t *entry; /* [store->addresses.n] index of a user or kernel entry; NO_ENTRY = none */
  /* [store->processes.n] whether it reports the names of its generated code */
  bool *tells_code;
} Lookup;

/* The name of generated code depends on the time, which the table cannot express: an address
 * may get a name later that it did not have before. */
static bool
is_generated (const Lookup *self, AddressId address)
{
  const Store *store = self->symbolization->store;
  const AddressTable *addresses = &store->addresses;

  return sysprof_address_table_get_code (addresses, address) != 0 ||
         (self->tells_code[addresses->process[address]] &&
          sysprof_store_may_be_generated (store, addresses->mapping[address]));
}

static void
find_entries (size_t begin, size_t end, unsigned worker, void *data)
{
  const Lookup *self = data;
  const PackedTable *table = self->table;
  const Store *store = self->symbolization->store;
  const AddressTable *addresses = &store->addresses;

  for (AddressId address = (AddressId) begin; address < end; address++)
    {
      bool is_kernel = addresses->kind[address] == ADDRESS_KERNEL;
      bool is_open = sysprof_symbolization_is_open (self->symbolization, address);
      const PackedEntry *entries = is_kernel ? table->kernel : table->user;
      /* Sysprof 3.46 stores addresses as they occurred in the stacks. */
      uint64_t at = table->is_inclusive
                        ? addresses->address[address]
                        : sysprof_symbolization_lookup_address (self->symbolization, address);
      const PackedEntry *entry = NULL;

      if (is_kernel && is_open)
        entry = find_entry (table, entries, table->n_kernel, 0, at);
      else if (sysprof_symbolization_is_user (self->symbolization, address) &&
               !is_generated (self, address))
        entry =
            find_entry (table, entries, table->n_user,
                        (uint32_t) store->processes.row[addresses->process[address]].pid, at);
      self->entry[address] = entry != NULL ? (uint32_t) (entry - entries) : NO_ENTRY;
    }
}

/* --- names --- */

static void
name_address (Symbolization *self, PackedTable *table, AddressId address, uint32_t number)
{
  const AddressTable *addresses = &self->store->addresses;
  bool is_kernel = addresses->kind[address] == ADDRESS_KERNEL;
  const PackedEntry *entry = is_kernel ? &table->kernel[number] : &table->user[number];
  StringId path = self->store->mappings[addresses->mapping[address]].path;
  SymbolAnswer answer = { .kind = sysprof_default_symbol_kind (addresses->kind[address]) };
  NamedEntry *named;

  if (!table->is_inclusive)
    {
      answer.start = entry->begin;
      answer.end = entry->end;
    }
  named = &table->named[(entry->name ^ path << 4 ^ is_kernel) % NAMED_SLOTS];
  if (named->symbol != 0 && named->name == entry->name && named->tag == entry->tag &&
      named->path == path && named->is_kernel == is_kernel)
    {
      sysprof_symbolization_name_again (self, address, named->symbol, answer.start, answer.end);
      return;
    }

  answer.name = text_at (table, entry->name);
  if (answer.name == NULL || g_str_has_prefix (answer.name, "- -"))
    return;

  answer.binary = text_at (table, entry->tag);
  if (is_kernel && (answer.binary == NULL || answer.binary[0] != '['))
    answer.binary = "[kernel]"; /* Sysprof 3.46 writes "Kernel" */
  if (!is_kernel && addresses->mapping[address] != 0)
    {
      answer.path = sysprof_store_string (self->store, path);
      answer.binary = sysprof_symbolize_base_name (answer.path);
    }
  *named = (NamedEntry){ sysprof_symbolization_name (self, address, &answer), entry->name,
                         entry->tag, path, is_kernel };
}

static void
expect_entry (const Lookup *self, AddressId address)
{
  bool is_kernel = self->symbolization->store->addresses.kind[address] == ADDRESS_KERNEL;

  if (self->entry[address] != NO_ENTRY)
    __builtin_prefetch (
        &(is_kernel ? self->table->kernel : self->table->user)[self->entry[address]]);
}

static void
use_table (Symbolization *self, PackedTable *table)
{
  uint32_t n_addresses = self->store->addresses.n;
  Lookup lookup = { .symbolization = self,
                    .table = table,
                    .tells_code = g_new0 (bool, self->store->processes.n) };

  join_kernel_entries (table);
  table->named = g_new0 (NamedEntry, NAMED_SLOTS);
  self->has_kernel_names = table->n_kernel > 0;
  self->has_bundled_names = true;
  for (JitCodeId code = 1; code < self->store->n_jit_code; code++)
    lookup.tells_code[self->store->jit_code[code].process] = true;
  lookup.entry = sysprof_large_new (n_addresses, sizeof *lookup.entry);
  sysprof_parallel_ranges (n_addresses, GRAIN, find_entries, &lookup);
  for (AddressId address = 1;
       address < n_addresses && sysprof_symbolization_goes_on (self, address); address++)
    {
      if (address + LOOK_AHEAD < n_addresses)
        expect_entry (&lookup, address + LOOK_AHEAD);
      if (lookup.entry[address] != NO_ENTRY)
        name_address (self, table, address, lookup.entry[address]);
    }

  g_free (lookup.entry);
  g_free (lookup.tells_code);
}

static void
clear_table (PackedTable *self)
{
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_free (self->user);
  g_free (self->kernel);
  g_free (self->named);
}

/* --- __unnamed__ --- */

typedef struct
{
  uint32_t pid;
  uint64_t address;
  uint64_t link_address;
  uint64_t function; /* link-time address of its first byte; 0 = unknown */
  UnnamedReason reason;
  bool is_entry;
} UnnamedLine;

/* A hash table by process and address. If a key occurs twice, the first line counts. */
typedef struct
{
  UnnamedLine *line; /* [n] in the order of the file */
  uint32_t n;
  uint32_t *slots;  /* [n_slots] index of a line + 1; 0 = free */
  uint32_t n_slots; /* a power of two, at least twice `n` */
  uint64_t factor;  /* odd random factor of the hash, so that no file can provoke collisions */
} UnnamedLines;

/* Returns the slot of the line, or the free slot where it would be inserted. */
static uint32_t *
find_slot (const UnnamedLines *self, uint32_t pid, uint64_t address)
{
  uint64_t hash = (address + pid * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)) * self->factor;
  uint32_t at = (uint32_t) (hash >> 32) & (self->n_slots - 1);

  for (; self->slots[at] != 0; at = (at + 1) & (self->n_slots - 1))
    {
      const UnnamedLine *line = &self->line[self->slots[at] - 1];

      if (line->pid == pid && line->address == address)
        break;
    }
  return &self->slots[at];
}

static void
index_lines (UnnamedLines *self)
{
  self->factor = ((uint64_t) g_random_int () << 32 | g_random_int ()) | 1;
  for (self->n_slots = 16; self->n_slots / 2 < self->n;)
    self->n_slots *= 2;
  self->slots = g_new0 (uint32_t, self->n_slots);
  for (uint32_t i = 0; i < self->n; i++)
    {
      uint32_t *slot = find_slot (self, self->line[i].pid, self->line[i].address);

      if (*slot == 0)
        *slot = i + 1;
    }
}

static void
clear_lines (UnnamedLines *self)
{
  g_free (self->line);
  g_free (self->slots);
}

/* Many consecutive lines have the same reason. */
static UnnamedReason
parse_reason (Text word, const UnnamedLine *before)
{
  if (before != NULL && sysprof_text_equal (word, sysprof_unnamed_reason_word (before->reason)))
    return before->reason;
  return sysprof_unnamed_reason_from_word (word);
}

static bool
parse_line (Text line, const UnnamedLine *before, UnnamedLine *unnamed)
{
  uint64_t pid;
  Text word;

  if (!sysprof_text_u64 (&line, &pid) || pid > G_MAXUINT32 || !sysprof_text_skip (&line, " ") ||
      !sysprof_text_hex (&line, &unnamed->address) || !sysprof_text_skip (&line, " ") ||
      !sysprof_text_hex (&line, &unnamed->link_address) ||
      !sysprof_text_next_word (&line, &word))
    return false;

  unnamed->pid = (uint32_t) pid;
  unnamed->reason = parse_reason (word, before);
  unnamed->is_entry = false;
  unnamed->function = 0;
  while (sysprof_text_next_word (&line, &word))
    if (sysprof_text_equal (word, "entry"))
      unnamed->is_entry = true;
    else if (sysprof_text_equal (word, "function"))
      {
        /* The function cannot start after an address inside it. */
        if (!sysprof_text_skip (&line, " ") || !sysprof_text_hex (&line, &unnamed->function) ||
            unnamed->function > unnamed->link_address)
          return false;
      }
  return unnamed->reason != UNNAMED_NOT && unnamed->reason < N_UNNAMED;
}

static void
read_lines (UnnamedLines *self, GBytes *bytes, Progress *progress)
{
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (UnnamedLine));
  size_t size;
  const char *data = g_bytes_get_data (bytes, &size);
  Text text = { data, data + size };
  Text line;

  while (sysprof_text_next_line (&text, &line))
    {
      const UnnamedLine *before =
          lines->len > 0 ? &g_array_index (lines, UnnamedLine, lines->len - 1) : NULL;
      UnnamedLine unnamed;

      if (lines->len % LINES_BETWEEN == 0 && sysprof_progress_is_cancelled (progress))
        break;
      if (parse_line (line, before, &unnamed))
        g_array_append_val (lines, unnamed);
    }
  self->n = lines->len;
  self->line = (UnnamedLine *) (void *) g_array_free (lines, FALSE);
  if (!sysprof_progress_is_cancelled (progress))
    index_lines (self);
}

static void
use_unnamed (Symbolization *self, const UnnamedLines *lines)
{
  const AddressTable *addresses = &self->store->addresses;

  for (AddressId address = 1;
       address < addresses->n && sysprof_symbolization_goes_on (self, address); address++)
    {
      const UnnamedLine *found;
      UnnamedAnswer answer;
      uint32_t number;

      if (addresses->kind[address] != ADDRESS_USER ||
          !sysprof_symbolization_is_open (self, address))
        continue;
      number = *find_slot (
          lines, (uint32_t) self->store->processes.row[addresses->process[address]].pid,
          addresses->address[address]);
      if (number == 0)
        continue;

      found = &lines->line[number - 1];
      answer = (UnnamedAnswer){
        .reason = found->reason,
        .link_address = found->link_address,
        .is_entry = found->is_entry,
      };
      if (found->function != 0)
        answer.start = found->address - (found->link_address - found->function);
      sysprof_symbolization_explain (self, address, &answer);
      self->is_told[address] = true;
    }
}

/* --- both tables --- */

typedef struct
{
  const Store *store;
  Progress *progress;
  PackedTable table;
  bool has_table;
  UnnamedLines unnamed;
  bool has_unnamed;
} Brought;

/* A table that cannot be decompressed is treated as missing. */
static void
read_brought (size_t begin, size_t end, unsigned worker, void *data)
{
  Brought *self = data;

  for (size_t i = begin; i < end; i++)
    {
      g_autoptr (GBytes) bytes = sysprof_store_read_file_cancellable (
          self->store, i == 0 ? "__symbols__" : "__unnamed__", self->progress->cancellable,
          NULL);

      if (bytes == NULL)
        continue;
      if (i == 0)
        self->has_table =
            load_table (&self->table, bytes, self->store->is_swapped, self->progress);
      else
        {
          read_lines (&self->unnamed, bytes, self->progress);
          self->has_unnamed = true;
        }
    }
}

static bool
resolve (Symbolization *self, GError **error)
{
  Brought brought = { .store = self->store, .progress = self->progress };

  if (self->options->ignore_bundled)
    return true;

  /* These names depend on the time, which the table cannot express. */
  if (self->options->kernel_symbols == NULL)
    sysprof_name_transient_kernel_symbols (self);
  sysprof_parallel_ranges (2, 1, read_brought, &brought);
  if (brought.has_table && !sysprof_progress_is_cancelled (self->progress))
    use_table (self, &brought.table);
  if (brought.has_unnamed && !sysprof_progress_is_cancelled (self->progress))
    use_unnamed (self, &brought.unnamed);
  clear_table (&brought.table);
  clear_lines (&brought.unnamed);
  return true;
}

const Symbolizer sysprof_bundled_symbolizer = { "bundled", resolve };
