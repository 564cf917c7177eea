// SPDX-License-Identifier: GPL-3.0-or-later

/* Sorts the keys of siblings once, so that nodes compare by number. See key-ranks.h. */

#include "analyze/fold/key-ranks.h"

#include "analyze/fold/call-order.h"
#include "analyze/fold/work.h"

#include <stdlib.h>
#include <string.h>

/* Begins of names settle nearly all comparisons, without a look at the names. */
typedef struct
{
  uint64_t begin; /* of the name, as a number of the same order */
  FoldKey key;
} Named;

typedef struct
{
  const Store *store;
  const SymbolTable *symbols;
} Names;

static uint64_t
begin_of (const char *name)
{
  uint64_t begin = 0;

  for (unsigned i = 0; i < sizeof begin; i++)
    {
      begin = begin << 8 | (uint8_t) *name;
      if (*name != '\0')
        name++;
    }
  return begin;
}

static const char *
comm_of (const Names *self, FoldKey key)
{
  return sysprof_store_string (self->store,
                               self->store->processes.row[key - self->symbols->n].comm);
}

static int
compare_names (const void *a, const void *b, void *data)
{
  const Names *names = data;
  const Named *left = a, *right = b;
  int order;

  if (left->begin != right->begin)
    return left->begin < right->begin ? -1 : 1;
  if (left->key < names->symbols->n)
    return sysprof_symbol_compare (names->symbols, left->key, right->key);

  order = strcmp (comm_of (names, left->key), comm_of (names, right->key));
  return order != 0 ? order : (left->key > right->key) - (left->key < right->key);
}

/* Ranks the keys from `begin` to `end`; ranks continue at `*n`. FALSE if canceled. */
static bool
rank (uint32_t *ranks,
      FoldKey begin,
      FoldKey end,
      const Names *names,
      uint32_t *n,
      const FoldWork *work)
{
  g_autofree Named *named = g_new (Named, MAX (end - begin, 1));
  uint32_t n_named = 0;

  for (FoldKey key = begin; key < end; key++)
    if (ranks[key] != 0)
      named[n_named++] =
          (Named){ begin_of (key < names->symbols->n ? sysprof_symbol_name (names->symbols, key)
                                                     : comm_of (names, key)),
                   key };
  if (!sysprof_fold_work_sort (work, named, n_named, sizeof *named, compare_names, names))
    return false;
  for (uint32_t i = 0; i < n_named; i++)
    ranks[named[i].key] = ++*n;
  return true;
}

uint32_t *
sysprof_key_ranks_new (const FoldEntries *entries, const FoldWork *work)
{
  Names names = { entries->keys.store, entries->keys.symbols };
  FoldKey first_process = sysprof_fold_process_key (names.symbols, 0);
  FoldKey first_thread = sysprof_fold_thread_key (names.store, names.symbols, 0);
  g_autofree uint32_t *ranks = g_new0 (uint32_t, first_thread + entries->n_tids + 1);
  uint32_t n = 0;

  if (entries->key != NULL)
    for (uint32_t i = 1; i < entries->n; i++)
      ranks[entries->key[i]] = 1;
  else
    for (FoldKey key = 1; key < first_thread; key++)
      ranks[key] = 1;
  ranks[0] = 0;
  if (!rank (ranks, 1, first_process, &names, &n, work) ||
      !rank (ranks, first_process, first_thread, &names, &n, work))
    return NULL;
  for (uint32_t i = 0; i < entries->n_tids; i++)
    ranks[first_thread + i] = ++n;
  return g_steal_pointer (&ranks);
}
