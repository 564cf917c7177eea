// SPDX-License-Identifier: GPL-3.0-or-later

/* Names that programs gave to synthetic addresses: one address each, one namespace per file. */

#include "symbolize/symbolizer.h"

static SymbolKind
kind_of (const char *name)
{
  return g_str_has_prefix (name, SYMBOL_CUT_PREFIX) ? SYMBOL_MARKER : SYMBOL_JIT;
}

static bool
resolve (Symbolization *self, GError **error)
{
  const AddressTable *addresses = &self->store->addresses;

  for (AddressId address = 1;
       address < addresses->n && sysprof_symbolization_goes_on (self, address); address++)
    {
      const JitName *found;
      const char *name;

      if (addresses->kind[address] != ADDRESS_JIT ||
          !sysprof_symbolization_is_open (self, address))
        continue;

      found = sysprof_store_find_jit_name (self->store, addresses->address[address]);
      if (found == NULL)
        continue;

      name = sysprof_store_string (self->store, found->name);
      sysprof_symbolization_name (self, address,
                                  &(SymbolAnswer){
                                      .name = name,
                                      .kind = kind_of (name),
                                      .start = found->address,
                                      .end = found->address + 1,
                                  });
    }

  return true;
}

const Symbolizer sysprof_jitmap_symbolizer = { "jitmap", resolve };
