// SPDX-License-Identifier: GPL-3.0-or-later

/* Numbers for all that a graph's nodes can stand for: functions first, as in the symbol table, then what is fixed, then
 * processes, threads, and a nameless thread of each process. */

#include "analyze/fold/graph.h"

#include <sysprof-address.h>

#define N_CONTEXTS (ADDRESS_UNMAPPED + 1)

enum
{
  AT_ROOT,
  AT_UNWINDABLE,
  AT_CONTEXTS,
  AT_PROCESSES = AT_CONTEXTS + N_CONTEXTS,
};

uint32_t
sysprof_graph_n_symbols (const Store *store, const SymbolTable *symbols)
{
  return symbols->n + AT_PROCESSES + 2 * store->processes.n + store->processes.n_thread_ids;
}

GraphSymbolId
sysprof_graph_symbol_id (const Store *store, const SymbolTable *symbols, GraphSymbol symbol)
{
  switch (symbol.sort)
    {
    case GRAPH_SYMBOL_FUNCTION:
      return symbol.index;
    case GRAPH_SYMBOL_ROOT:
      return symbols->n + AT_ROOT;
    case GRAPH_SYMBOL_UNWINDABLE:
      return symbols->n + AT_UNWINDABLE;
    case GRAPH_SYMBOL_CONTEXT:
      return symbols->n + AT_CONTEXTS + symbol.index;
    case GRAPH_SYMBOL_PROCESS:
      return symbols->n + AT_PROCESSES + symbol.index;
    case GRAPH_SYMBOL_OTHER_THREAD:
      return symbols->n + AT_PROCESSES + store->processes.n + symbol.index;
    case GRAPH_SYMBOL_THREAD:
      return symbols->n + AT_PROCESSES + 2 * store->processes.n + symbol.index;
    case GRAPH_SYMBOL_NONE:
    default:
      return 0;
    }
}

GraphSymbol
sysprof_graph_symbol (const Store *store, const SymbolTable *symbols, GraphSymbolId id)
{
  uint32_t at = id - symbols->n;
  uint32_t n_processes = store->processes.n;

  if (id == 0)
    return (GraphSymbol){ GRAPH_SYMBOL_NONE, 0 };
  if (id < symbols->n)
    return (GraphSymbol){ GRAPH_SYMBOL_FUNCTION, id };
  if (at == AT_ROOT)
    return (GraphSymbol){ GRAPH_SYMBOL_ROOT, 0 };
  if (at == AT_UNWINDABLE)
    return (GraphSymbol){ GRAPH_SYMBOL_UNWINDABLE, 0 };
  if (at < AT_PROCESSES)
    return (GraphSymbol){ GRAPH_SYMBOL_CONTEXT, at - AT_CONTEXTS };

  at -= AT_PROCESSES;
  if (at < n_processes)
    return (GraphSymbol){ GRAPH_SYMBOL_PROCESS, at };
  if (at < 2 * n_processes)
    return (GraphSymbol){ GRAPH_SYMBOL_OTHER_THREAD, at - n_processes };
  return (GraphSymbol){ GRAPH_SYMBOL_THREAD, at - 2 * n_processes };
}

static const char *
context_name (AddressKind kind)
{
  switch (kind)
    {
    case ADDRESS_KERNEL:
      return "- - Kernel - -";
    case ADDRESS_HYPERVISOR:
      return "- - Hypervisor - -";
    case ADDRESS_GUEST:
      return "- - Guest - -";
    case ADDRESS_GUEST_KERNEL:
      return "- - Guest Kernel - -";
    case ADDRESS_GUEST_USER:
      return "- - Guest User - -";
    default:
      return "- - User - -";
    }
}

char *
sysprof_graph_symbol_dup_name (const Store *store, const SymbolTable *symbols, GraphSymbolId id)
{
  GraphSymbol symbol = sysprof_graph_symbol (store, symbols, id);
  const Processes *processes = &store->processes;
  g_autofree char *comm = NULL;
  g_autofree char *label = NULL;

  switch (symbol.sort)
    {
    case GRAPH_SYMBOL_FUNCTION:
      return g_strdup (sysprof_symbol_name (symbols, symbol.index));
    case GRAPH_SYMBOL_ROOT:
      return g_strdup ("All Processes");
    case GRAPH_SYMBOL_CONTEXT:
      return g_strdup (context_name ((AddressKind) symbol.index));
    case GRAPH_SYMBOL_UNWINDABLE:
      return g_strdup ("Unwindable");
    case GRAPH_SYMBOL_PROCESS:
      comm = g_utf8_make_valid (sysprof_store_string (store, processes->row[symbol.index].comm),
                                -1);
      return g_strdup_printf ("[%s]", comm);
    case GRAPH_SYMBOL_THREAD:
      label = sysprof_store_dup_thread_label (
          store, sysprof_store_process_of_thread (store, symbol.index),
          processes->thread_ids[symbol.index]);
      return g_utf8_make_valid (label, -1);
    case GRAPH_SYMBOL_OTHER_THREAD:
      return g_strdup ("Thread ?");
    case GRAPH_SYMBOL_NONE:
    default:
      return g_strdup ("");
    }
}

static AddressKind
context_of (const Store *store, StackId stack)
{
  AddressKind kind = (AddressKind) store->addresses.kind[store->stacks.address[stack]];

  return kind == ADDRESS_JIT || kind == ADDRESS_UNMAPPED ? ADDRESS_USER : kind;
}

uint32_t
sysprof_graph_stack_symbols (const Store *store,
                             const SymbolTable *symbols,
                             StackId stack,
                             GraphSymbolId *ids,
                             uint32_t capacity,
                             AddressKind *final_context)
{
  AddressKind context = ADDRESS_NONE;
  uint32_t n = 0;

  for (; store->stacks.depth[stack] > 0; stack = store->stacks.parent[stack])
    {
      AddressKind here = context_of (store, stack);

      if (context != ADDRESS_NONE && here != context && n++ < capacity)
        ids[n - 1] = sysprof_graph_symbol_id (store, symbols,
                                              (GraphSymbol){ GRAPH_SYMBOL_CONTEXT, here });
      context = here;
      if (n++ < capacity)
        ids[n - 1] = symbols->of_address[store->stacks.address[stack]];
    }

  if (final_context != NULL)
    *final_context = context;
  return n;
}
