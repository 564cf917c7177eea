// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs the chain: each symbolizer resolves addresses that the previous ones did not resolve.
 * The remaining addresses get a symbol made from their mapping and offset. */

#include "symbolize/lines-ahead.h"
#include "symbolize/lines.h"
#include "symbolize/request.h"
#include "symbolize/symbol-table.h"

#include <string.h>

static const struct
{
  const Symbolizer *symbolizer;
  double share; /* of the total time */
  const char *message;
} chain[] = {
  [SYMBOLIZER_BUNDLED] = { &sysprof_bundled_symbolizer, 0.1, "Reading symbols in the capture" },
  [SYMBOLIZER_KERNEL] = { &sysprof_kallsyms_symbolizer, 0.1, "Resolving kernel functions" },
  [SYMBOLIZER_JIT] = { &sysprof_jitmap_symbolizer, 0.05, "Resolving generated code" },
  [SYMBOLIZER_ELF] = { &sysprof_elf_symbolizer, 0.6, "Resolving functions of files" },
  [SYMBOLIZER_DEBUGINFOD] = { &sysprof_debuginfod_symbolizer, 0.05,
                              "Fetching debug files from servers" },
};

#define SHARE_OF_OWN_NAMES 0.1

G_STATIC_ASSERT (G_N_ELEMENTS (chain) == N_SYMBOLIZERS);

/* --- addresses without a name --- */

static bool
is_special_mapping (const char *path)
{
  return path[0] == '[' || strcmp (path, "//anon") == 0 || path[0] == 0 ||
         g_str_has_prefix (path, "anon_inode:");
}

/* Returns the text between the opening bracket and the plus sign. */
static const char *
place_name (const Store *store, AddressId address, char buffer[64])
{
  const AddressTable *addresses = &store->addresses;
  const Mapping *mapping = &store->mappings[addresses->mapping[address]];
  const char *path;

  switch ((AddressKind) addresses->kind[address])
    {
    case ADDRESS_KERNEL:
      return "kernel";
    case ADDRESS_HYPERVISOR:
      return "hypervisor";
    case ADDRESS_GUEST:
    case ADDRESS_GUEST_USER:
      return "guest";
    case ADDRESS_GUEST_KERNEL:
      return "guest-kernel";
    case ADDRESS_JIT:
      return "jit";
    default:
      break;
    }

  if (addresses->mapping[address] == 0)
    return NULL;
  path = sysprof_store_string (store, mapping->path);
  if (path[0] == 0 || strcmp (path, "//anon") == 0)
    return "anon";
  if (path[0] != '[')
    return sysprof_symbolize_base_name (path);

  g_strlcpy (buffer, path + 1, 64);
  buffer[strcspn (buffer, "]")] = 0;
  return buffer;
}

static UnnamedReason
default_reason (const Symbolization *self, AddressId address)
{
  const Store *store = self->store;
  const AddressTable *addresses = &store->addresses;
  const char *path =
      sysprof_store_string (store, store->mappings[addresses->mapping[address]].path);

  switch ((AddressKind) addresses->kind[address])
    {
    case ADDRESS_KERNEL:
    case ADDRESS_HYPERVISOR:
    case ADDRESS_GUEST_KERNEL:
      return self->is_interrupted ? UNNAMED_SKIPPED : UNNAMED_NO_KERNEL_SYMBOLS;
    case ADDRESS_JIT:
      return UNNAMED_ANONYMOUS;
    default:
      if (addresses->mapping[address] == 0)
        return UNNAMED_NO_MAPPING;
      if (is_special_mapping (path))
        return UNNAMED_ANONYMOUS;
      return self->is_interrupted ? UNNAMED_SKIPPED : UNNAMED_NO_SYMBOLS;
    }
}

/* A cache: the same offset in the same file has the same name in each process that maps it. */
#define OWN_NAME_SLOTS 0x8000

typedef struct
{
  uint64_t offset;
  StringId path; /* 0 = free */
  SymbolId symbol;
} OwnName;

static OwnName *
find_own_name (OwnName *names, StringId path, uint64_t offset)
{
  uint64_t hash = (offset ^ (uint64_t) path << 40) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return &names[(hash >> 32) % OWN_NAME_SLOTS];
}

static void
give_own_name (Symbolization *self, AddressId address, OwnName *names)
{
  const AddressTable *addresses = &self->store->addresses;
  const Mapping *mapping = &self->store->mappings[addresses->mapping[address]];
  char buffer[64];
  const char *place = place_name (self->store, address, buffer);
  const char *path = sysprof_store_string (self->store, mapping->path);
  uint64_t offset = self->link_address[address];
  uint64_t start = self->table->function_start[address];
  g_autofree char *name = NULL;
  OwnName *own = NULL;
  Symbol symbol;

  if (self->reason[address] == UNNAMED_NOT)
    self->reason[address] = (uint8_t) default_reason (self, address);
  /* A mapping without a file has no offsets, so the address is used. */
  if (offset == 0)
    offset = mapping->path != 0 && !is_special_mapping (path)
                 ? sysprof_store_file_offset (self->store, address)
                 : addresses->address[address];
  if (addresses->kind[address] == ADDRESS_USER && mapping->path != 0)
    {
      own = find_own_name (names, mapping->path, offset);
      if (own->path == mapping->path && own->offset == offset)
        {
          self->table->of_address[address] = own->symbol;
          return;
        }
    }

  if (addresses->kind[address] == ADDRESS_UNMAPPED)
    name = g_strdup ("[unmapped]");
  /* If the start of the function is known, all its addresses share one symbol. */
  else if (place != NULL && self->link_address[address] != 0 && start != 0)
    name = g_strdup_printf ("[%s:0x%" G_GINT64_MODIFIER "x]", place,
                            offset - (addresses->address[address] - start));
  else if (place != NULL)
    name = g_strdup_printf ("[%s+0x%" G_GINT64_MODIFIER "x]", place, offset);
  else
    name = g_strdup_printf ("[0x%" G_GINT64_MODIFIER "x]", addresses->address[address]);

  symbol = (Symbol){
    .name = sysprof_symbol_table_intern (self->table, name),
    .kind = (uint8_t) sysprof_default_symbol_kind ((AddressKind) addresses->kind[address]),
    .reason = self->reason[address],
    .is_entry = self->is_entry[address],
  };
  if (symbol.kind == SYMBOL_KERNEL)
    symbol.binary = sysprof_symbol_table_intern (self->table, "[kernel]");
  else if (mapping->path != 0)
    {
      symbol.binary = sysprof_symbol_table_intern (
          self->table, path[0] == '[' ? path : sysprof_symbolize_base_name (path));
      symbol.path = sysprof_symbol_table_intern (self->table, path);
    }
  self->table->of_address[address] = sysprof_symbol_table_add (self->table, &symbol);
  if (own != NULL)
    *own = (OwnName){ offset, mapping->path, self->table->of_address[address] };
}

static void
give_own_names (Symbolization *self)
{
  g_autofree OwnName *names = g_new0 (OwnName, OWN_NAME_SLOTS);

  for (AddressId address = 1;
       address < self->store->addresses.n && sysprof_symbolization_goes_on (self, address);
       address++)
    if (sysprof_symbolization_is_open (self, address) &&
        self->store->addresses.kind[address] != ADDRESS_DATA)
      give_own_name (self, address, names);
}

/* Names of data are only read from files while the capture has no names at all: most addresses
 * are on the heap, and would be looked up in vain each time. */
static bool
resolve_data (const Symbolization *names, GError **error)
{
  Symbolization self;
  bool is_done;

  if (names->store->waits.n_locks == 0 || names->has_bundled_names ||
      !sysprof_symbolize_asks (names->options, SYMBOLIZER_ELF))
    return true;
  sysprof_symbolization_init (&self, &sysprof_data_request, names->store, names->options,
                              names->progress, names->table);
  is_done = sysprof_elf_symbolizer.resolve (&self, error) &&
            !sysprof_progress_set_error_if_cancelled (self.progress, error);
  sysprof_symbolization_clear (&self);
  return is_done;
}

static bool
ask (Symbolization *self, SymbolizerKind kind, GError **error)
{
  if (sysprof_progress_stage (self->progress, chain[kind].share, chain[kind].message) &&
      !chain[kind].symbolizer->resolve (self, error))
    return false;
  return !sysprof_progress_set_error_if_cancelled (self->progress, error);
}

SymbolTable *
sysprof_symbolize (Store *store,
                   const SymbolizeOptions *options,
                   GCancellable *cancellable,
                   GError **error)
{
  Progress progress = { .cancellable = cancellable };

  return sysprof_symbolize_telling (store, options, &progress, error);
}

SymbolTable *
sysprof_symbolize_telling (Store *store,
                           const SymbolizeOptions *options,
                           Progress *progress,
                           GError **error)
{
  g_autoptr (SymbolTable) table = sysprof_symbol_table_new (store->addresses.n);
  int64_t began = g_get_monotonic_time ();
  Symbolization self;
  uint8_t n_chain;
  bool is_done = true;

  sysprof_symbolization_init (&self, &sysprof_names_request, store, options, progress, table);
  if (self.options->with_lines)
    sysprof_symbol_table_take_ahead (
        table, sysprof_lines_ahead_begin (store, self.options, progress->cancellable),
        sysprof_lines_ahead_free);
  n_chain = self.options->n_chain != 0 ? self.options->n_chain : N_SYMBOLIZERS;
  for (uint8_t i = 0; i < n_chain && is_done && !self.options->no_symbols; i++)
    is_done = ask (&self, self.options->n_chain != 0 ? self.options->chain[i] : i, error);
  is_done = is_done && resolve_data (&self, error);

  if (!is_done && self.options->keep_found && sysprof_progress_is_cancelled (progress))
    {
      /* The remaining steps are fast, and their result is wanted. */
      g_clear_error (error);
      self.is_interrupted = table->is_interrupted = is_done = true;
      progress->cancellable = NULL;
    }
  if (is_done &&
      sysprof_progress_stage (progress, SHARE_OF_OWN_NAMES, "Labeling unresolved addresses"))
    give_own_names (&self);
  is_done = is_done && !sysprof_progress_set_error_if_cancelled (progress, error);

  sysprof_symbol_table_take_link_addresses (table, g_steal_pointer (&self.link_address));
  sysprof_symbolization_clear (&self);
  g_debug ("Names of %u addresses took %.1f ms", store->addresses.n,
           (double) (g_get_monotonic_time () - began) / 1000);
  return is_done ? g_steal_pointer (&table) : NULL;
}
