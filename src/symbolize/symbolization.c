// SPDX-License-Identifier: GPL-3.0-or-later

/* What all symbolizers use: the facts of the capture, and functions that store answers in the
 * table. */

#include "symbolize/fetched-files.h"
#include "symbolize/request.h"
#include "symbolize/symbol-table.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* --- was the recording made on this boot? --- */

/* Returns NULL if the capture does not contain the key. */
static const char *
find_metadata (const Store *store, const char *key)
{
  const Metadata *row = sysprof_store_find_metadata (store, key, NULL);

  return row != NULL ? sysprof_store_string (store, row->value) : NULL;
}

LocateOptions
sysprof_symbolization_locate_options (const Symbolization *self)
{
  return (LocateOptions){ .store = self->store,
                          .cancellable = self->progress->cancellable,
                          .sysroot = self->options->sysroot,
                          .debug_dirs = self->options->debug_dirs,
                          .inner_debug_dirs = self->options->inner_debug_dirs,
                          .is_this_boot = self->is_this_boot,
                          .is_elsewhere = self->is_elsewhere };
}

const char *
sysprof_symbolization_find_metadata (const Symbolization *self, const char *key)
{
  return find_metadata (self->store, key);
}

static bool
is_same_metadata (const Store *store, const char *key, const char *here, bool is_required)
{
  const char *there = find_metadata (store, key);

  return there != NULL ? strcmp (there, here) == 0 : !is_required;
}

/* Returns the boot time in seconds since 1970. The clock includes suspend time, so the result
 * stays the same during one boot. */
static int64_t
boot_time (void)
{
  struct timespec since_boot;

  if (clock_gettime (CLOCK_BOOTTIME, &since_boot) != 0)
    return G_MAXINT64;
  return g_get_real_time () / G_USEC_PER_SEC - since_boot.tv_sec;
}

/* Whether kernel and host name are those of the capture, and it was recorded after this boot.
 * Then addresses of the kernel and of running processes are still valid. */
static bool
is_this_boot (const Store *store)
{
  /* seconds by which the wall clock may have been adjusted */
  static const int64_t clock_slack = 5;
  g_autoptr (GDateTime) made = g_date_time_new_from_iso8601 (store->capture_time, NULL);
  struct utsname here;

  if (made == NULL || uname (&here) != 0)
    return false;

  return is_same_metadata (store, "uname.release", here.release, true) &&
         is_same_metadata (store, "uname.version", here.version, false) &&
         is_same_metadata (store, "uname.machine", here.machine, false) &&
         is_same_metadata (store, "hostname", here.nodename, false) &&
         g_date_time_to_unix (made) + clock_slack >= boot_time ();
}

/* --- functions in which a process, a thread or a kernel context starts --- */

/* A stack that ends in one of them is complete, because only another such function calls it.
 * A trailing star matches any suffix. The list contains only names that no other function has;
 * a program's own `start` is not included. */
static const char *const user_names[] = {
  /* the linker's start files, and the C libraries (glibc, musl, bionic) */
  "_start",
  "_start_c",
  "__libc_start_main*",
  "__libc_start_call_main",
  "generic_start_main*",
  "__libc_init",
  "start_thread",
  "clone",
  "__clone",
  "__GI___clone",
  "clone3",
  "__clone3",
  "__GI___clone3",
  "__start_thread",
  "__pthread_start*",
  /* the dynamic loader */
  "_dl_start_user",
  "_dl_start",
  "_dlstart",
  "_dlstart_c",
  /* Go, whose goroutines have separate stacks */
  "runtime.goexit*",
  "runtime.rt0_go*",
  "runtime.mstart*",
  "_rt0_*",
};

/* Entry points from user mode (entry_SYSCALL_64 and similar) are not included: after them the
 * user part of the stack must follow, and a stack without that part is truncated. */
static const char *const kernel_names[] = {
  "ret_from_fork*",
  "secondary_startup*",
  "common_startup_64",
  "start_secondary",
  "start_kernel",
  "x86_64_start_kernel",
  "x86_64_start_reservations",
  "__secondary_switched",
  "__primary_switched",
};

static bool
matches (const char *pattern, const char *name)
{
  size_t size = strlen (pattern);

  if (pattern[size - 1] == '*')
    return strncmp (pattern, name, size - 1) == 0;
  return strcmp (pattern, name) == 0;
}

bool
sysprof_symbol_name_is_entry (const char *name, SymbolKind kind)
{
  const char *const *names = kind == SYMBOL_KERNEL ? kernel_names : user_names;
  size_t n = kind == SYMBOL_KERNEL ? G_N_ELEMENTS (kernel_names) : G_N_ELEMENTS (user_names);

  if (kind != SYMBOL_KERNEL && kind != SYMBOL_USER)
    return false;

  for (size_t i = 0; i < n; i++)
    if (matches (names[i], name))
      return true;

  return false;
}

/* --- answers --- */

void
sysprof_symbolization_note_gap (const Symbolization *self,
                                const char *path,
                                DebugGapKind kind,
                                uint32_t n,
                                const char *what)
{
  SymbolTable *table = self->table;
  const DebugGap gap = {
    .binary = sysprof_symbol_table_intern (table, sysprof_symbolize_base_name (path)),
    .what = sysprof_symbol_table_intern (table, what),
    .n = n,
    .kind = (uint8_t) kind,
  };

  if (self->request->reports_gaps)
    sysprof_symbol_table_note_gap (table, &gap);
}

void
sysprof_symbolization_name_again (Symbolization *self,
                                  AddressId address,
                                  SymbolId symbol,
                                  uint64_t start,
                                  uint64_t end)
{
  SymbolTable *table = self->table;

  table->of_address[address] = symbol;
  table->function_start[address] = start;
  table->function_end[address] = end;
  self->reason[address] = UNNAMED_NOT;
}

SymbolId
sysprof_symbolization_name (Symbolization *self, AddressId address, const SymbolAnswer *answer)
{
  SymbolTable *table = self->table;
  SymbolId id;
  Symbol symbol = { .kind = (uint8_t) answer->kind, .is_entry = answer->is_entry };

  symbol.name = sysprof_symbol_table_intern (table, answer->name);
  if (symbol.name == 0)
    return 0;
  if (answer->raw_name != NULL && strcmp (answer->raw_name, answer->name) != 0)
    symbol.raw_name = sysprof_symbol_table_intern (table, answer->raw_name);
  symbol.binary = sysprof_symbol_table_intern (table, answer->binary);
  symbol.path = sysprof_symbol_table_intern (table, answer->path);
  symbol.is_entry |= sysprof_symbol_name_is_entry (
      answer->raw_name != NULL ? answer->raw_name : answer->name, answer->kind);

  id = sysprof_symbol_table_add (table, &symbol);
  sysprof_symbolization_name_again (self, address, id, answer->start, answer->end);
  return id;
}

void
sysprof_symbolization_explain (Symbolization *self,
                               AddressId address,
                               const UnnamedAnswer *answer)
{
  if (self->is_told[address])
    return;

  self->reason[address] = (uint8_t) answer->reason;
  self->link_address[address] = answer->link_address;
  self->is_entry[address] = answer->is_entry;
  self->table->function_start[address] = answer->start;
  self->table->function_end[address] = answer->end;
}

/* --- --- */

static void
clear_wanted_module (void *module)
{
  g_array_unref (((WantedModule *) module)->addresses);
}

void
sysprof_symbolization_init (Symbolization *self,
                            const SymbolRequest *request,
                            Store *store,
                            const SymbolizeOptions *options,
                            Progress *progress,
                            SymbolTable *table)
{
  static const SymbolizeOptions no_options = { 0 };
  uint32_t n = store->addresses.n;

  *self = (Symbolization){
    .request = request,
    .store = store,
    .options = options != NULL ? options : &no_options,
    .progress = progress,
    .table = table,
    .is_this_boot = is_this_boot (store),
    .budget =
        options != NULL && options->budget != NULL ? options->budget : &store->file_budget,
    .reason = g_new0 (uint8_t, n + 1),
    .link_address = g_new0 (uint64_t, n + 1),
    .is_entry = g_new0 (uint8_t, n + 1),
    .is_told = g_new0 (uint8_t, n + 1),
    .wanted = g_array_new (FALSE, FALSE, sizeof (WantedFile)),
    .wanted_modules = g_array_new (FALSE, FALSE, sizeof (WantedModule)),
  };
  g_array_set_clear_func (self->wanted_modules, clear_wanted_module);
  /* Other recorders do not record the machine, so their captures are assumed to be from this
   * one. */
  self->is_elsewhere = !self->is_this_boot && find_metadata (store, "uname.release") != NULL;
}

void
sysprof_symbolization_clear (Symbolization *self)
{
  g_free (self->reason);
  g_free (self->link_address);
  g_free (self->is_entry);
  g_free (self->is_told);
  g_array_unref (self->wanted);
  g_array_unref (self->wanted_modules);
}

SymbolKind
sysprof_default_symbol_kind (AddressKind kind)
{
  switch (kind)
    {
    case ADDRESS_KERNEL:
    case ADDRESS_HYPERVISOR:
    case ADDRESS_GUEST_KERNEL:
      return SYMBOL_KERNEL;
    case ADDRESS_JIT:
      return SYMBOL_JIT;
    case ADDRESS_DATA:
      return SYMBOL_DATA;
    default:
      return SYMBOL_USER;
    }
}
