// SPDX-License-Identifier: GPL-3.0-or-later

/* Gives each distinct address its row in Store.addresses. *Owned* by one thread, as is the
 * store. */

#pragma once

#include "store/stacks/mappings.h"

/* Whole in itself, so that a look-up touches one line of the cache. */
typedef struct
{
  uint64_t address;
  /* version of the process's mappings when the row was last found right */
  uint32_t checked_at : 31;
  uint32_t is_mapped : 1; /* what the row says, which is farther away */
  AddressId id;           /* 0 = free */
} AddressSlot;

typedef struct
{
  AddressSlot *slots; /* [n_slots] by address; NULL as long as it is empty */
  uint32_t n_slots;   /* a power of two */
  uint32_t n_used;
} AddressSet;

/* One set per process: few run at a time, and the sets of those stay in the cache. */
typedef struct
{
  Store *store;
  Mappings *mappings;
  /* of the rows, which are growing arrays (util/large.h) until they are finished */
  uint32_t capacity;
  AddressSet *of_process; /* [processes.n] user code */
  /* by kind, where an address is the same in all processes */
  AddressSet of_all[ADDRESS_DATA + 1];
  AddressSet *of_rare; /* [N_RARE_KINDS * processes.n] NULL until there are some */
  AddressId unmapped;  /* 0 = none yet */
  uint64_t key;
} Addresses;

void sysprof_addresses_init (Addresses *self, Store *store, Mappings *mappings);
void sysprof_addresses_clear (Addresses *self);
/* Parameters for adding addresses of user code of `process`. */
void sysprof_addresses_forget (Addresses *self, ProcessId process);
/* The rows become arrays of the store like any other; no more are added. */
void sysprof_addresses_finish (Addresses *self);
/* There are no more rows. */
void sysprof_addresses_drop_rows (Addresses *self);

/* Prefetches the slot of an address of user code. */
void sysprof_addresses_expect (const Addresses *self, ProcessId process, uint64_t address);

/* The row of `address` as `process` sees it now. `is_return` says how it was met this time; a
 * caller where nothing is mapped, though it is known what the process has mapped, is the row of
 * ADDRESS_UNMAPPED. */
AddressId sysprof_addresses_intern (Addresses *self,
                                    ProcessId process,
                                    AddressKind kind,
                                    uint64_t address,
                                    bool is_return);

/* Adds the rows of another table of the same store, which has other processes. `id`
 * [other->n] gets the new number of each. */
void sysprof_addresses_absorb (Addresses *self, const AddressTable *other, AddressId *id);
