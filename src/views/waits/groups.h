// SPDX-License-Identifier: GPL-3.0-or-later

/* Groups waits by a key of numbers, and sums up each group. */

#pragma once

#include "views/waits/selected-waits.h"

#define WAIT_KEY_PARTS 7

typedef struct
{
  uint32_t part[WAIT_KEY_PARTS];
} WaitKey;

typedef struct
{
  WaitKey key;
  uint32_t wait;    /* the longest */
  uint64_t count;   /* of waits */
  int64_t time;     /* ns */
  int64_t max;      /* ns, of one wait */
  int64_t runnable; /* ns, for the caller to add up */
  double variance;  /* ns², because some waits represent several */
} WaitGroup;

/* *Owned* by the view that fills. A hash table with open addressing, at most half full. */
typedef struct
{
  GArray *groups;   /* WaitGroup, in the order in which they were found */
  uint32_t *slots;  /* [n_slots] 1 + index of a group; 0 = free */
  uint32_t n_slots; /* a power of two */
} WaitGroups;

void sysprof_wait_groups_init (WaitGroups *self);
void sysprof_wait_groups_clear (WaitGroups *self);
/* Index of the group with that key, which may be new. */
uint32_t sysprof_wait_groups_find (WaitGroups *self, const WaitKey *key);
/* Adds a wait that counts with `time` ns, and returns its group, valid until the next call. */
WaitGroup *sysprof_wait_groups_add (WaitGroups *self,
                                    const WaitKey *key,
                                    const Wait *row,
                                    uint32_t wait,
                                    int64_t time);

static inline WaitGroup *
sysprof_wait_groups_get (const WaitGroups *self, uint32_t i)
{
  return &g_array_index (self->groups, WaitGroup, i);
}

/* 95 % confidence: the sum of the times is known up to this number of ns. */
int64_t sysprof_wait_group_error (const WaitGroup *self);
