// SPDX-License-Identifier: GPL-3.0-or-later

/* Prints the result of src/symbolize for every address of a capture, one line each, tabs
 * between:
 *
 *     PID KIND ADDRESS NAME BINARY START END REASON entry|- RAW-NAME
 *
 *     print-symbols [--sandbox] [--ignore-bundled] [--sysroot DIR] [--debug-dir DIR]
 *                   [--pack FILE] [--unnamed FILE] [--kallsyms FILE] [--lines FILE] CAPTURE
 *
 * With --with-lines, FILE:LINE and the symbol's number follow, and at the end of the line its
 * inlined functions. With --ahead, lines are requested while names are resolved.
 */

#include "symbolize/symbolize.h"

#include "util/children/confined-child.h"

#include <stdio.h>

#define N_CHILDREN 6 /* as who loads large captures does */

static char *pack_to, *unnamed_to, *kallsyms_to, *lines_to, *sysroot;
static char **debug_dirs;
static gboolean use_sandbox, ignore_bundled, with_lines, is_ahead;

static const GOptionEntry entries[] = {
  { "sandbox", 0, 0, G_OPTION_ARG_NONE, &use_sandbox, NULL, NULL },
  { "ignore-bundled", 0, 0, G_OPTION_ARG_NONE, &ignore_bundled, NULL, NULL },
  { "sysroot", 0, 0, G_OPTION_ARG_FILENAME, &sysroot, NULL, NULL },
  { "debug-dir", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &debug_dirs, NULL, NULL },
  { "pack", 0, 0, G_OPTION_ARG_FILENAME, &pack_to, NULL, NULL },
  { "unnamed", 0, 0, G_OPTION_ARG_FILENAME, &unnamed_to, NULL, NULL },
  { "kallsyms", 0, 0, G_OPTION_ARG_FILENAME, &kallsyms_to, NULL, NULL },
  { "lines", 0, 0, G_OPTION_ARG_FILENAME, &lines_to, NULL, NULL },
  { "with-lines", 0, 0, G_OPTION_ARG_NONE, &with_lines, NULL, NULL },
  { "ahead", 0, 0, G_OPTION_ARG_NONE, &is_ahead, NULL, NULL },
  { NULL },
};

static void
print_address (const Store *store, const SymbolTable *table, AddressId address)
{
  const AddressTable *addresses = &store->addresses;
  SymbolId id = table->of_address[address];
  const Symbol *symbol = &table->row[id];

  printf (
      "%d\t%s\t%" G_GINT64_MODIFIER "x\t%s\t%s\t%" G_GINT64_MODIFIER "x\t%" G_GINT64_MODIFIER
      "x\t%s\t%s\t%s",
      store->processes.row[addresses->process[address]].pid,
      sysprof_symbol_kind_to_string ((SymbolKind) symbol->kind), addresses->address[address],
      sysprof_symbol_name (table, id), sysprof_symbol_binary (table, id),
      table->function_start[address], table->function_end[address],
      sysprof_unnamed_reason_to_string ((UnnamedReason) symbol->reason),
      symbol->is_entry ? "entry" : "-", sysprof_intern_get (&table->strings, symbol->raw_name));
  if (with_lines)
    printf ("\t%s:%u\t%u", sysprof_intern_get (&table->strings, table->file[address]),
            table->line[address], id);
  puts ("");
}

static void
save (const char *path, GBytes *bytes)
{
  g_autoptr (GError) error = NULL;
  size_t size = 0;
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : "";

  if (path != NULL && !g_file_set_contents (path, data, (gssize) size, &error))
    g_error ("%s", error->message);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("CAPTURE");
  g_autoptr (GError) error = NULL;
  g_autoptr (SymbolTable) table = NULL;
  g_autoptr (Store) store = NULL;
  g_autoptr (GBytes) packed = NULL;
  g_autoptr (GBytes) unnamed = NULL;
  g_autoptr (GBytes) lines = NULL;
  SymbolizeOptions options = { 0 };
  Progress progress = { 0 };

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc != 2)
    return 2;

  options.use_sandbox = use_sandbox;
  options.ignore_bundled = ignore_bundled;
  options.sysroot = sysroot;
  options.debug_dirs = (const char *const *) debug_dirs;
  options.with_lines = is_ahead;
  if (is_ahead)
    sysprof_confined_children_prepare (N_CHILDREN);
  store = sysprof_store_open (argv[1], NULL, &error);
  if (store != NULL)
    table = sysprof_symbolize (store, &options, NULL, &error);
  if (table == NULL || (with_lines && !sysprof_symbol_table_load_lines (table, store, &options,
                                                                        &progress, &error)))
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }

  for (AddressId address = 1; address < store->addresses.n; address++)
    print_address (store, table, address);
  packed = sysprof_symbol_table_pack (table, store);
  unnamed = sysprof_symbol_table_pack_unnamed (table, store);
  if (lines_to != NULL)
    lines = sysprof_symbol_table_pack_lines (table, store, &options, NULL);
  save (pack_to, packed);
  save (unnamed_to, unnamed);
  save (lines_to, lines);
  save (kallsyms_to, sysprof_symbol_table_get_kallsyms (table));
  sysprof_confined_children_dismiss ();
  return 0;
}
