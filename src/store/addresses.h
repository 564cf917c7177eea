// SPDX-License-Identifier: GPL-3.0-or-later

/* Gives each distinct address its row in Store.addresses. *Owned* by the loading thread. */

#pragma once

#include "store/mappings.h"

typedef struct
{
  Store *store;
  Mappings *mappings;
  uint32_t *
      checked_at; /* [capacity] version of the process's mappings when the row was last found right */
  uint32_t capacity;
  uint32_t *slots;  /* [n_slots] AddressId, 0 = free */
  uint32_t n_slots; /* a power of two */
  uint64_t seed;
} Addresses;

void sysprof_addresses_init (Addresses *self, Store *store, Mappings *mappings);
void sysprof_addresses_clear (Addresses *self);

/* The row of `address` as `process` sees it now. `is_return` says how it was met this time. */
AddressId sysprof_addresses_intern (Addresses *self,
                                    ProcessId process,
                                    AddressKind kind,
                                    uint64_t address,
                                    bool is_return);

/* Scatters well; keyed so that a file cannot be made to collide. */
static inline uint64_t
sysprof_mix (uint64_t a, uint64_t b)
{
  __uint128_t product = (__uint128_t) (a ^ 0x9e3779b97f4a7c15) * (b ^ 0xd1b54a32d192ed03);

  return (uint64_t) product ^ (uint64_t) (product >> 64);
}

static inline uint64_t
sysprof_random_seed (void)
{
  return (uint64_t) g_random_int () << 32 | g_random_int ();
}
