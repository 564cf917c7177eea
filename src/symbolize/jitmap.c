// SPDX-License-Identifier: GPL-3.0-or-later

/* Resolves names that programs assigned to synthetic addresses, one name per address and one
 * namespace per capture file, and names of generated code. */

#include "symbolize/symbolizer.h"

static SymbolKind
kind_of (const char *name)
{
  return g_str_has_prefix (name, SYMBOL_TRUNCATED_PREFIX) ||
                 g_str_has_prefix (name, SYMBOL_CUT_PREFIX)
             ? SYMBOL_MARKER
             : SYMBOL_JIT;
}

static void
name_synthetic (Symbolization *self, AddressId address)
{
  const JitName *found =
      sysprof_store_find_jit_name (self->store, self->store->addresses.address[address]);
  const char *name;

  if (found == NULL)
    return;

  name = sysprof_store_string (self->store, found->name);
  sysprof_symbolization_name (self, address,
                              &(SymbolAnswer){
                                  .name = name,
                                  .kind = kind_of (name),
                                  .start = found->address,
                                  .end = found->address + 1,
                              });
}

static void
name_code (Symbolization *self, AddressId address, const JitCode *code)
{
  sysprof_symbolization_name (self, address,
                              &(SymbolAnswer){
                                  .name = sysprof_store_string (self->store, code->name),
                                  .kind = SYMBOL_JIT,
                                  .start = code->start,
                                  .end = code->end,
                              });
}

static bool
resolve (Symbolization *self, GError **error)
{
  const AddressTable *addresses = &self->store->addresses;

  for (AddressId address = 1;
       address < addresses->n && sysprof_symbolization_goes_on (self, address); address++)
    {
      JitCodeId code = sysprof_address_table_get_code (addresses, address);

      if (!sysprof_symbolization_is_open (self, address))
        continue;
      if (addresses->kind[address] == ADDRESS_JIT)
        name_synthetic (self, address);
      else if (code != 0)
        name_code (self, address, &self->store->jit_code[code]);
    }

  return true;
}

const Symbolizer sysprof_jitmap_symbolizer = { "jitmap", resolve };
