// SPDX-License-Identifier: GPL-3.0-or-later

/* Puts frames into a graph by their stacks.
 *
 * A stack is taken apart once per thread that has it, and of a stack that begins like another only what is its own.
 * Nodes are made in any order, callers first, and then laid out as one reads the tree. */

#include "analyze/graph.h"
#include "analyze/graph-nodes.h"
#include "analyze/shown-symbols.h"

typedef struct
{
  const Store *store;
  const SymbolTable *symbols;
  const GraphShape *shape;
  GraphNodes nodes;
  ProcessId *first_of_comm; /* [store->strings.n_strings] or NULL: processes are not merged */
  uint8_t *context;  /* [stacks.n] AddressKind of the innermost address shown; 0 = none is */
  uint8_t *is_shown; /* [stacks.n] */
  uint32_t *node_of_stack; /* [stacks.n] without threads; 0 = not yet */
  NodeSet known;           /* with threads: (stack, thread) → index into `node_of_known` */
  GArray *node_of_known;   /* of uint32_t */
  StackId *path;           /* [longest stack + 1] */
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

static void
find_first_of_comm (Builder *self)
{
  const Processes *processes = &self->store->processes;

  self->first_of_comm = g_new0 (ProcessId, MAX (self->store->strings.n_strings, 1));
  for (ProcessId i = processes->n; i-- > 1;)
    self->first_of_comm[processes->row[i].comm] = i;
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
node_of_process (Builder *self, ProcessId process, GraphSymbolId thread)
{
  uint32_t node = 0;

  if (process != 0)
    {
      ProcessId shown = self->first_of_comm != NULL
                            ? self->first_of_comm[self->store->processes.row[process].comm]
                            : process;

      node = sysprof_graph_nodes_child (&self->nodes, node,
                                        symbol_id (self, GRAPH_SYMBOL_PROCESS, shown));
    }
  if (thread != 0)
    node = sysprof_graph_nodes_child (&self->nodes, node, thread);
  return node;
}

/* Where the node of `stack` is kept; `*is_new` tells that nobody put it there yet. */
static uint32_t *
known_place (Builder *self, StackId stack, GraphSymbolId thread, bool *is_new)
{
  uint32_t fresh, at;

  if (thread == 0)
    {
      *is_new = self->node_of_stack[stack] == 0;
      return &self->node_of_stack[stack];
    }

  fresh = self->node_of_known->len;
  at = sysprof_node_set_find_or_add (&self->known, stack, thread, fresh);
  *is_new = at == fresh;
  if (*is_new)
    g_array_set_size (self->node_of_known, fresh + 1);
  return &g_array_index (self->node_of_known, uint32_t, at);
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
place_below (Builder *self, uint32_t node, StackId stack)
{
  const StackTree *stacks = &self->store->stacks;
  GraphSymbolId marker;

  if (!self->is_shown[stack])
    return node;

  marker = marker_between (self, (AddressKind) self->context[stacks->parent[stack]],
                           (AddressKind) self->context[stack]);
  if (marker != 0)
    node = sysprof_graph_nodes_child (&self->nodes, node, marker);
  return sysprof_graph_nodes_child (&self->nodes, node,
                                    self->symbols->of_address[stacks->address[stack]]);
}

static uint32_t
add_top_down (Builder *self, StackId stack, GraphSymbolId thread)
{
  const StackTree *stacks = &self->store->stacks;
  uint32_t n = 0, node;
  bool is_new;

  for (StackId at = stack;; at = stacks->parent[at])
    {
      const uint32_t *place = known_place (self, at, thread, &is_new);

      node = *place;
      if (!is_new)
        break;
      self->path[n++] = at;
      if (stacks->depth[at] == 0)
        break;
    }

  while (n-- > 0)
    {
      StackId at = self->path[n];

      node = stacks->depth[at] == 0 ? node_of_process (self, at, thread)
                                    : place_below (self, node, at);
      *known_place (self, at, thread, &is_new) = node;
    }
  return node;
}

static uint32_t
add_bottom_up (Builder *self, StackId stack, GraphSymbolId thread)
{
  const StackTree *stacks = &self->store->stacks;
  uint32_t *place;
  uint32_t node;
  bool is_new;

  place = known_place (self, stack, thread, &is_new);
  if (!is_new)
    return *place;

  node = node_of_process (self, sysprof_store_process_of_stack (self->store, stack), thread);
  for (StackId at = stack; stacks->depth[at] > 0; at = stacks->parent[at])
    {
      GraphSymbolId marker;

      if (!self->is_shown[at])
        continue;

      node = sysprof_graph_nodes_child (&self->nodes, node,
                                        self->symbols->of_address[stacks->address[at]]);
      marker = marker_between (self, (AddressKind) self->context[stacks->parent[at]],
                               (AddressKind) self->context[at]);
      if (marker != 0)
        node = sysprof_graph_nodes_child (&self->nodes, node, marker);
    }
  *known_place (self, stack, thread, &is_new) = node;
  return node;
}

static uint32_t
add_frame (Builder *self, StackId stack, int32_t tid)
{
  ProcessId process = sysprof_store_process_of_stack (self->store, stack);
  const Process *row = &self->store->processes.row[process];
  GraphSymbolId thread;
  uint32_t node;

  if ((self->shape->no_process_0 && process != 0 && row->pid == 0) ||
      (self->shape->no_kernel_processes && row->is_kernel))
    return GRAPH_NOWHERE;

  thread = thread_symbol (self, process, tid);
  node = self->shape->bottom_up ? add_bottom_up (self, stack, thread)
                                : add_top_down (self, stack, thread);
  if (self->store->stacks.depth[stack] == 0)
    node = sysprof_graph_nodes_child (&self->nodes, node,
                                      symbol_id (self, GRAPH_SYMBOL_UNWINDABLE, 0));
  return node;
}

static uint32_t
longest_stack (const StackTree *stacks)
{
  uint32_t longest = 0;

  for (StackId i = 0; i < stacks->n; i++)
    longest = MAX (longest, stacks->depth[i]);
  return longest;
}

Graph *
sysprof_graph_new (const Store *store,
                   const SymbolTable *symbols,
                   const GraphFrames *frames,
                   const GraphShape *shape,
                   GCancellable *cancellable)
{
  g_autofree uint32_t *node_of_frame = g_new (uint32_t, MAX (frames->n, 1));
  Builder self = {
    .store = store,
    .symbols = symbols,
    .shape = shape,
    .path = g_new (StackId, longest_stack (&store->stacks) + 1),
    .node_of_stack = g_new0 (uint32_t, MAX (store->stacks.n, 1)),
    .node_of_known = g_array_new (FALSE, TRUE, sizeof (uint32_t)),
  };
  bool is_cancelled = false;
  Graph *graph = NULL;

  sysprof_graph_nodes_init (&self.nodes, symbol_id (&self, GRAPH_SYMBOL_ROOT, 0));
  sysprof_node_set_init (&self.known);
  g_array_set_size (self.node_of_known, 1);
  find_contexts (&self);
  if (shape->merge_processes)
    find_first_of_comm (&self);

  for (uint32_t i = 0; i < frames->n && !is_cancelled; i++)
    {
      node_of_frame[i] = add_frame (&self, frames->stack[i], frames->tid[i]);
      is_cancelled = i % GRAPH_STEP == 0 && g_cancellable_is_cancelled (cancellable);
    }
  if (is_cancelled)
    sysprof_graph_nodes_clear (&self.nodes);
  else
    graph = sysprof_graph_nodes_finish (&self.nodes, store, symbols, shape->left_heavy,
                                        node_of_frame, frames->n, cancellable);

  sysprof_node_set_clear (&self.known);
  g_array_unref (self.node_of_known);
  g_free (self.first_of_comm);
  g_free (self.context);
  g_free (self.is_shown);
  g_free (self.node_of_stack);
  g_free (self.path);
  return graph;
}

Graph *
sysprof_graph_descend (const Graph *self,
                       const Store *store,
                       const SymbolTable *symbols,
                       GraphSymbolId symbol,
                       bool left_heavy,
                       GCancellable *cancellable)
{
  g_autofree uint32_t *moved = g_new (uint32_t, self->n);
  g_autofree uint32_t *node_of_frame = g_new (uint32_t, MAX (self->n_frames, 1));
  uint32_t end = 0; /* of what is below the symbol */
  GraphNodes nodes;

  sysprof_graph_nodes_init (&nodes, symbol);
  for (uint32_t i = 0; i < self->n; i++)
    {
      if (i % GRAPH_STEP == 0 && g_cancellable_is_cancelled (cancellable))
        {
          sysprof_graph_nodes_clear (&nodes);
          return NULL;
        }
      if (i < end)
        moved[i] = sysprof_graph_nodes_child (&nodes, moved[self->parent[i]], self->symbol[i]);
      else if (self->symbol[i] == symbol)
        {
          moved[i] = 0;
          end = self->end[i];
        }
      else
        moved[i] = GRAPH_NOWHERE;
    }

  for (uint32_t i = 0; i < self->n_frames; i++)
    node_of_frame[i] =
        self->node_of_frame[i] != GRAPH_NOWHERE ? moved[self->node_of_frame[i]] : GRAPH_NOWHERE;
  return sysprof_graph_nodes_finish (&nodes, store, symbols, left_heavy, node_of_frame,
                                     self->n_frames, cancellable);
}
