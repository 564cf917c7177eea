// SPDX-License-Identifier: GPL-3.0-or-later

/* Groups of waits. See groups.h. */

#include "views/waits/groups.h"

#include <math.h>
#include <string.h>

#define FIRST_SLOTS 1024

void
sysprof_wait_groups_init (WaitGroups *self)
{
  *self = (WaitGroups){ .groups = g_array_new (FALSE, FALSE, sizeof (WaitGroup)),
                        .slots = g_new0 (uint32_t, FIRST_SLOTS),
                        .n_slots = FIRST_SLOTS };
}

void
sysprof_wait_groups_clear (WaitGroups *self)
{
  g_array_unref (self->groups);
  g_free (self->slots);
}

static uint32_t *
find_slot (const WaitGroups *self, const WaitKey *key)
{
  uint32_t mask = self->n_slots - 1;
  uint64_t hash = 0;
  uint32_t at;

  for (size_t i = 0; i < WAIT_KEY_PARTS; i++)
    {
      hash = (hash ^ key->part[i]) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
      hash ^= hash >> 32;
    }
  at = (uint32_t) hash & mask;
  while (self->slots[at] != 0 &&
         memcmp (&sysprof_wait_groups_get (self, self->slots[at] - 1)->key, key, sizeof *key) !=
             0)
    at = (at + 1) & mask;
  return &self->slots[at];
}

static void
grow (WaitGroups *self)
{
  g_free (self->slots);
  self->n_slots *= 2;
  self->slots = g_new0 (uint32_t, self->n_slots);
  for (uint32_t i = 0; i < self->groups->len; i++)
    *find_slot (self, &sysprof_wait_groups_get (self, i)->key) = i + 1;
}

uint32_t
sysprof_wait_groups_find (WaitGroups *self, const WaitKey *key)
{
  uint32_t *slot = find_slot (self, key);
  WaitGroup fresh = { .key = *key };

  if (*slot != 0)
    return *slot - 1;
  if (self->groups->len >= self->n_slots / 2)
    {
      grow (self);
      slot = find_slot (self, key);
    }
  g_array_append_val (self->groups, fresh);
  *slot = self->groups->len;
  return *slot - 1;
}

WaitGroup *
sysprof_wait_groups_add (WaitGroups *self,
                         const WaitKey *key,
                         const Wait *row,
                         uint32_t wait,
                         int64_t time)
{
  WaitGroup *group = sysprof_wait_groups_get (self, sysprof_wait_groups_find (self, key));
  double each = (double) time / row->stands_for;

  if (group->count == 0 || time / row->stands_for > group->max)
    {
      group->wait = wait;
      group->max = time / row->stands_for;
    }
  group->count += row->stands_for;
  group->time = sysprof_time_sum (group->time, time);
  /* Each wait was recorded with a probability of 1 / stands_for. */
  group->variance += each * each * row->stands_for * (row->stands_for - 1);
  return group;
}

int64_t
sysprof_wait_group_error (const WaitGroup *self)
{
  return (int64_t) fmin (1.96 * sqrt (self->variance), 0x1p62);
}
