// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares functions and nodes for display. See call-order.h. */

#include "analyze/fold/call-order.h"

#include <string.h>

static int
compare_u32 (uint32_t a, uint32_t b)
{
  return (a > b) - (a < b);
}

int
sysprof_symbol_compare (const SymbolTable *symbols, SymbolId a, SymbolId b)
{
  const Symbol *left = &symbols->row[a];
  const Symbol *right = &symbols->row[b];
  int order = 0;

  if (left->name != right->name)
    order = strcmp (sysprof_symbol_name (symbols, a), sysprof_symbol_name (symbols, b));
  if (order == 0 && left->binary != right->binary)
    order = strcmp (sysprof_symbol_binary (symbols, a), sysprof_symbol_binary (symbols, b));
  return order != 0 ? order : compare_u32 (a, b);
}

static const char *
comm_of (const CallOrder *self, CallNodeId node)
{
  return sysprof_store_string (self->store,
                               self->store->processes.row[self->tree->id[node]].comm);
}

int
sysprof_call_node_compare_name (const void *a, const void *b, void *order)
{
  const CallOrder *self = order;
  CallNodeId left = *(const CallNodeId *) a;
  CallNodeId right = *(const CallNodeId *) b;
  int result;

  switch (self->tree->kind[left])
    {
    case SYMBOL_PROCESS:
      result = strcmp (comm_of (self, left), comm_of (self, right));
      return result != 0 ? result : compare_u32 (self->tree->id[left], self->tree->id[right]);
    case SYMBOL_THREAD:
      return compare_u32 (self->tree->id[left], self->tree->id[right]);
    default:
      return sysprof_symbol_compare (self->symbols, self->tree->symbol[left],
                                     self->tree->symbol[right]);
    }
}
