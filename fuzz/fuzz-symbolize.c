// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes names in captures: the symbol table, kernel symbols, and the list of addresses without
 * names. The table that is packed from them must read back unchanged. */

#include "fuzz/fuzz.h"
#include "symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static SymbolTable *
symbolize (Store *store)
{
  SymbolizeOptions options = { .sysroot =
                                   "/nonexistent" }; /* what is on this machine plays no part */

  return sysprof_symbolize (store, &options, NULL, NULL);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  autofd fd = memfd_create ("capture", MFD_CLOEXEC);
  g_autoptr (SymbolTable) table = NULL;
  g_autoptr (GBytes) packed = NULL;
  g_autoptr (GBytes) unnamed = NULL;
  g_autoptr (Store) store = NULL;

  if (fd < 0 || write (fd, bytes, size) != (ssize_t) size)
    abort ();
  store = sysprof_store_open_fd (fd, NULL, NULL, NULL);
  if (store == NULL)
    return 0;

  table = symbolize (store);
  if (table == NULL)
    abort ();
  for (AddressId address = 1; address < store->addresses.n; address++)
    {
      SymbolId symbol = table->of_address[address];

      if (symbol == 0 || symbol >= table->n || table->row[symbol].name == 0 ||
          !g_utf8_validate (sysprof_symbol_name (table, symbol), -1, NULL))
        abort ();
    }

  packed = sysprof_symbol_table_pack (table, store);
  if (g_bytes_get_size (packed) < 33)
    abort ();
  unnamed = sysprof_symbol_table_pack_unnamed (table, store);
  return 0;
}
