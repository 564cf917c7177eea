// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes entries of the stacks of frames.
 *
 * Each entry of a stack is added once per thread that has it, however many stacks pass it. */

#include "analyze/fold/graph-entries.h"

#include "analyze/fold/call-order.h"
#include "analyze/fold/list.h"
#include "analyze/fold/node-set.h"
#include "analyze/fold/shown-symbols.h"
#include "analyze/fold/work.h"

#include <stdlib.h>
#include <string.h>

typedef struct
{
  const Store *store;
  const SymbolTable *symbols;
  const Shape *shape;
  NumberList parent, key;   /* of entries; 0 = the root */
  ProcessId *first_of_comm; /* [store->strings.n_strings] or NULL: processes are not merged */
  uint8_t *context;  /* [stacks.n] AddressKind of the innermost address shown; 0 = none is */
  uint8_t *is_shown; /* [stacks.n] */
  uint32_t *entry_of_stack; /* [stacks.n] without threads; 0 = not yet */
  NodeSet known; /* with threads: (stack, thread) → 1 + index into `entry_of_known` */
  NumberList entry_of_known; /* 0 = not yet */
  NodeSet unwindable;        /* (entry, 0) → the one below for stacks that end there */
  NumberList path;
} Builder;

static GraphSymbolId
symbol_id (const Builder *self, GraphSymbolSort sort, uint32_t index)
{
  return sysprof_graph_symbol_id (self->store, self->symbols, (GraphSymbol){ sort, index });
}

static uint8_t *
find_system_libraries (const Store *store)
{
  uint8_t *is_system = g_new0 (uint8_t, MAX (store->n_mappings, 1));

  for (MappingId i = 1; i < store->n_mappings; i++)
    is_system[i] =
        sysprof_is_system_library (sysprof_store_string (store, store->mappings[i].path));
  return is_system;
}

/* Parents come before their children. */
static void
find_contexts (Builder *self)
{
  const Store *store = self->store;
  const StackTree *stacks = &store->stacks;
  g_autofree uint8_t *is_system =
      self->shape->hide_system ? find_system_libraries (store) : NULL;

  self->context = g_new0 (uint8_t, MAX (stacks->n, 1));
  self->is_shown = g_new0 (uint8_t, MAX (stacks->n, 1));
  for (StackId i = 0; i < stacks->n; i++)
    {
      AddressId address = stacks->address[i];
      uint8_t kind = store->addresses.kind[address];

      if (stacks->depth[i] == 0)
        continue;

      self->is_shown[i] = is_system == NULL || kind != ADDRESS_USER ||
                          !is_system[store->addresses.mapping[address]];
      if (kind == ADDRESS_JIT || kind == ADDRESS_UNMAPPED)
        kind = ADDRESS_USER;
      self->context[i] = self->is_shown[i] ? kind : self->context[stacks->parent[i]];
    }
}

/* The thread's symbol; 0 where threads are no matter. */
static GraphSymbolId
thread_symbol (const Builder *self, ProcessId process, int32_t tid)
{
  const Process *row = &self->store->processes.row[process];
  const int32_t *ids = self->store->processes.thread_ids;
  uint32_t low = row->first_thread, high = row->first_thread + row->n_threads;

  if (!self->shape->threads)
    return 0;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (ids[middle] == tid)
        return symbol_id (self, GRAPH_SYMBOL_THREAD, middle);
      if (ids[middle] < tid)
        low = middle + 1;
      else
        high = middle;
    }

  return symbol_id (self, GRAPH_SYMBOL_OTHER_THREAD, process);
}

static uint32_t
add_entry (Builder *self, uint32_t parent, GraphSymbolId key)
{
  number_list_add (&self->parent, parent);
  number_list_add (&self->key, key);
  return self->key.n - 1;
}

/* A process has an entry even where it is not shown, as has the thread below it where threads matter. */
static uint32_t
add_process (Builder *self, ProcessId process, GraphSymbolId thread)
{
  GraphSymbolId key = 0;
  uint32_t entry;

  if (process != 0)
    key = symbol_id (self, GRAPH_SYMBOL_PROCESS,
                     self->first_of_comm != NULL
                         ? self->first_of_comm[self->store->processes.row[process].comm]
                         : process);
  entry = add_entry (self, 0, key);
  return thread != 0 ? add_entry (self, entry, thread) : entry;
}

/* The entry of `stack`; 0 = not added yet. */
static uint32_t *
known_place (Builder *self, StackId stack, GraphSymbolId thread)
{
  uint32_t fresh, at;

  if (thread == 0)
    return &self->entry_of_stack[stack];

  fresh = self->entry_of_known.n + 1;
  at = sysprof_node_set_find_or_add (&self->known, stack, thread, fresh);
  if (at == fresh)
    number_list_add (&self->entry_of_known, 0);
  return &self->entry_of_known.item[at - 1];
}

/* `inner` is the context of an address, `outer` that of its caller; ADDRESS_NONE: it has none. The marker between them,
 * or 0. */
static GraphSymbolId
marker_between (const Builder *self, AddressKind outer, AddressKind inner)
{
  if (outer == inner || inner == ADDRESS_NONE)
    return 0;
  if (outer == ADDRESS_NONE)
    return inner == ADDRESS_USER ? 0 : symbol_id (self, GRAPH_SYMBOL_CONTEXT, inner);
  return symbol_id (self, GRAPH_SYMBOL_CONTEXT, outer);
}

static uint32_t
add_below (Builder *self, uint32_t entry, StackId stack)
{
  const StackTree *stacks = &self->store->stacks;
  GraphSymbolId marker;

  if (!self->is_shown[stack])
    return entry;

  marker = marker_between (self, (AddressKind) self->context[stacks->parent[stack]],
                           (AddressKind) self->context[stack]);
  if (marker != 0)
    entry = add_entry (self, entry, marker);
  return add_entry (self, entry, self->symbols->of_address[stacks->address[stack]]);
}

static uint32_t
entry_of_stack (Builder *self, StackId stack, GraphSymbolId thread)
{
  const StackTree *stacks = &self->store->stacks;
  uint32_t entry = 0;

  self->path.n = 0;
  for (StackId at = stack;; at = stacks->parent[at])
    {
      entry = *known_place (self, at, thread);
      if (entry != 0)
        break;
      number_list_add (&self->path, at);
      if (stacks->depth[at] == 0)
        break;
    }

  for (uint32_t i = self->path.n; i-- > 0;)
    {
      StackId at = self->path.item[i];

      entry =
          stacks->depth[at] == 0 ? add_process (self, at, thread) : add_below (self, entry, at);
      *known_place (self, at, thread) = entry;
    }
  return entry;
}

/* GRAPH_NOWHERE where it is left out. */
static uint32_t
find_entry (Builder *self, StackId stack, int32_t tid)
{
  ProcessId process = sysprof_store_process_of_stack (self->store, stack);
  const Process *row = &self->store->processes.row[process];
  uint32_t entry, fresh, below;

  if ((self->shape->no_process_0 && process != 0 && row->pid == 0) ||
      (self->shape->no_kernel_processes && row->is_kernel))
    return GRAPH_NOWHERE;

  entry = entry_of_stack (self, stack, thread_symbol (self, process, tid));
  if (self->store->stacks.depth[stack] > 0)
    return entry;

  fresh = self->key.n;
  below = sysprof_node_set_find_or_add (&self->unwindable, entry, 0, fresh);
  return below == fresh ? add_entry (self, entry, symbol_id (self, GRAPH_SYMBOL_UNWINDABLE, 0))
                        : below;
}

/* Bottom up: of each entry its process, or its thread below that. */
static void
find_tops (FoldEntries *self, bool threads)
{
  self->top = sysprof_large_new (self->n, sizeof *self->top);
  self->top[0] = 0;
  for (uint32_t i = 1; i < self->n; i++)
    {
      uint32_t parent = self->parent[i];
      bool is_top = parent == 0 || (threads && self->parent[parent] == 0);

      self->top[i] = is_top ? i : self->top[parent];
    }
}

bool
sysprof_graph_entries_init (FoldEntries *self,
                            uint32_t *ends,
                            const Store *store,
                            const SymbolTable *symbols,
                            const GraphFrames *frames,
                            const Shape *shape,
                            FoldWork *work)
{
  Builder builder = { .store = store, .symbols = symbols, .shape = shape };
  bool is_done = true;

  builder.entry_of_stack =
      sysprof_large_new0 (MAX (store->stacks.n, 1), sizeof *builder.entry_of_stack);
  sysprof_node_set_init (&builder.known);
  sysprof_node_set_init (&builder.unwindable);
  find_contexts (&builder);
  if (shape->merge_processes)
    builder.first_of_comm = sysprof_first_of_comm_new (store);

  add_entry (&builder, 0, 0);
  for (uint32_t i = 0; i < frames->n && is_done; i++)
    {
      ends[i] = find_entry (&builder, frames->stack[i], frames->tid[i]);
      is_done = sysprof_fold_work_at (work, i);
    }

  *self = (FoldEntries){ .n = builder.key.n,
                         .key = builder.key.item,
                         .parent = builder.parent.item,
                         .own_parent = builder.parent.item };
  self->weight = self->own_weight = sysprof_large_new0 (self->n, sizeof *self->own_weight);
  for (uint32_t i = 0; i < frames->n && is_done; i++)
    if (ends[i] != GRAPH_NOWHERE)
      self->own_weight[ends[i]]++;
  if (is_done && shape->bottom_up)
    find_tops (self, shape->threads);

  number_list_clear (&builder.entry_of_known);
  number_list_clear (&builder.path);
  sysprof_node_set_clear (&builder.known);
  sysprof_node_set_clear (&builder.unwindable);
  g_free (builder.first_of_comm);
  g_free (builder.context);
  g_free (builder.is_shown);
  g_free (builder.entry_of_stack);
  return is_done;
}

/* --- the order of siblings --- */

typedef struct
{
  const SymbolTable *symbols;
  char **name; /* [n_symbols] NULL of functions */
} Names;

static int
compare_by_name (const void *a, const void *b, void *data)
{
  const Names *names = data;
  GraphSymbolId left = *(const GraphSymbolId *) a, right = *(const GraphSymbolId *) b;
  int order;

  if (names->name[left] == NULL && names->name[right] == NULL)
    return sysprof_symbol_compare (names->symbols, left, right);

  order = strcmp (names->name[left] != NULL ? names->name[left]
                                            : sysprof_symbol_name (names->symbols, left),
                  names->name[right] != NULL ? names->name[right]
                                             : sysprof_symbol_name (names->symbols, right));
  return order != 0 ? order : (left > right) - (left < right);
}

/* Threads come first, by number: they have no other siblings than "Thread ?". */
uint32_t *
sysprof_graph_ranks_new (const Store *store,
                         const SymbolTable *symbols,
                         const FoldEntries *entries,
                         const FoldWork *work)
{
  uint32_t n_symbols = sysprof_graph_n_symbols (store, symbols), n = 0, n_named = 0;
  uint32_t *rank = g_new0 (uint32_t, n_symbols);
  g_autofree GraphSymbolId *named = NULL;
  Names names = { symbols, g_new0 (char *, n_symbols) };
  bool is_done;

  for (uint32_t i = 1; i < entries->n; i++)
    rank[entries->key[i]] = 1;
  rank[0] = 0;
  named = g_new (GraphSymbolId, n_symbols);
  for (GraphSymbolId i = 1; i < n_symbols; i++)
    {
      if (rank[i] == 0)
        continue;
      if (sysprof_graph_symbol (store, symbols, i).sort == GRAPH_SYMBOL_THREAD)
        {
          rank[i] = ++n;
          continue;
        }
      if (i >= symbols->n)
        names.name[i] = sysprof_graph_symbol_dup_name (store, symbols, i);
      named[n_named++] = i;
    }
  is_done =
      sysprof_fold_work_sort (work, named, n_named, sizeof *named, compare_by_name, &names);
  for (uint32_t i = 0; i < n_named; i++)
    rank[named[i]] = ++n;

  for (GraphSymbolId i = symbols->n; i < n_symbols; i++)
    g_free (names.name[i]);
  g_free (names.name);
  if (!is_done)
    g_clear_pointer (&rank, g_free);
  return rank;
}
