// SPDX-License-Identifier: GPL-3.0-or-later

/* What a process has mapped where, while the capture goes by in order of time.
 *
 * A balanced tree of regions that never overlap. A later mapping cuts what it covers out of
 * earlier ones. A forked process shares its parent's tree: a node is changed in place by the
 * space that made it and copied by any other, so a fork costs nothing and a change O(log n).
 * *Owned* by the loading thread. */

#pragma once

#include "store/store.h"

typedef struct
{
  uint64_t start;
  uint64_t end;
  MappingId mapping;
  uint32_t left; /* indices into Regions.region; 0 = none */
  uint32_t right;
  uint32_t priority; /* a parent's is never below its children's */
  uint32_t owner;    /* AddressSpace.owner of who may change it */
} Region;

/* Where the nodes of all spaces live. */
typedef struct
{
  Region *region; /* [n] */
  uint32_t n;
  uint32_t capacity;
  uint32_t n_owners;
  GRand *random;
} Regions;

typedef struct
{
  uint32_t root;
  uint32_t owner;
  uint32_t version; /* grows with each change */
} AddressSpace;

void sysprof_regions_init (Regions *self);
void sysprof_regions_clear (Regions *self);

/* The region that holds `address`, or NULL; valid until the next change of any space. */
const Region *
sysprof_address_space_find (const AddressSpace *self, const Regions *regions, uint64_t address);

/* The region that holds `address`, or else the nearest one before it; NULL = none. */
const Region *sysprof_address_space_find_before (const AddressSpace *self,
                                                 const Regions *regions,
                                                 uint64_t address);

/* Maps [start, end), which must not be empty, over whatever is there. */
void sysprof_address_space_map (AddressSpace *self,
                                Regions *regions,
                                uint64_t start,
                                uint64_t end,
                                MappingId mapping);

/* Makes `child` what `self` is now; later changes of either do not touch the other. */
void sysprof_address_space_fork (AddressSpace *self, Regions *regions, AddressSpace *child);
