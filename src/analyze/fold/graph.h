// SPDX-License-Identifier: GPL-3.0-or-later

/* The call graph of single frames, for the public SysprofCallgraph.
 *
 * In contrast to a CallTree it knows the node at which the stack of each frame ends. It also
 * has nodes that are no functions: a switch between user and kernel, and stacks without an
 * address. */

#pragma once

#include "analyze/fold/shape.h"

/* Whatever a node can stand for: one number for a function, a process, a thread and so on. */
typedef uint32_t GraphSymbolId;

typedef enum
{
  GRAPH_SYMBOL_NONE,
  GRAPH_SYMBOL_FUNCTION, /* index: SymbolId */
  GRAPH_SYMBOL_ROOT,
  GRAPH_SYMBOL_CONTEXT, /* index: AddressKind */
  GRAPH_SYMBOL_UNWINDABLE,
  GRAPH_SYMBOL_PROCESS,      /* index: ProcessId */
  GRAPH_SYMBOL_THREAD,       /* index: into Processes.thread_ids */
  GRAPH_SYMBOL_OTHER_THREAD, /* index: ProcessId. Of a frame that does not say which */
} GraphSymbolSort;

typedef struct
{
  GraphSymbolSort sort;
  uint32_t index;
} GraphSymbol;

/* How many numbers there are; 0 is none. */
uint32_t sysprof_graph_n_symbols (const Store *store, const SymbolTable *symbols);
GraphSymbolId
sysprof_graph_symbol_id (const Store *store, const SymbolTable *symbols, GraphSymbol symbol);
GraphSymbol
sysprof_graph_symbol (const Store *store, const SymbolTable *symbols, GraphSymbolId id);
/* *(full)* as it is shown; valid UTF-8. */
char *sysprof_graph_symbol_dup_name (const Store *store,
                                     const SymbolTable *symbols,
                                     GraphSymbolId id);

/* The functions of a stack, innermost first, with the symbol of the outer context where the context changes. Fills at
 * most `capacity` of `ids`; returns how many there are. `*final_context` is that of the outermost address; ADDRESS_NONE
 * without any. */
uint32_t sysprof_graph_stack_symbols (const Store *store,
                                      const SymbolTable *symbols,
                                      StackId stack,
                                      GraphSymbolId *ids,
                                      uint32_t capacity,
                                      AddressKind *final_context);

/* What is put into the graph. */
typedef struct
{
  const StackId *stack; /* [n] */
  const int32_t *tid;   /* [n] */
  uint32_t n;
} GraphFrames;

#define GRAPH_NOWHERE UINT32_MAX

/* Nodes lie as one reads the tree: a node, all that is below it, its next sibling. Node 0 is the root. *Frozen*. */
typedef struct
{
  uint32_t n;
  uint32_t *parent;      /* [n]; of the root: 0 */
  uint32_t *end;         /* [n] the first node behind all below it */
  GraphSymbolId *symbol; /* [n] */
  uint32_t *
      first_child; /* [n + 1] index into `child`: the children of node i end where those of i + 1 begin */
  uint32_t *child;         /* [n - 1] */
  uint32_t *self;          /* [n] frames whose stack ends here */
  uint32_t *total;         /* [n] frames whose stack passes here */
  uint32_t *node_of_frame; /* [n_frames]; GRAPH_NOWHERE where it is left out */
  uint32_t n_frames;
} Graph;

/* The shape's members for processes, threads and order count, and `hide_system`. NULL if cancelled. */
Graph *sysprof_graph_new (const Store *store,
                          const SymbolTable *symbols,
                          const GraphFrames *frames,
                          const Shape *shape,
                          GCancellable *cancellable);

/* The graph below `symbol`, merged over its outermost entries; the symbol is the root. NULL
 * if canceled. */
Graph *sysprof_graph_descend (const Graph *self,
                              const Store *store,
                              const SymbolTable *symbols,
                              GraphSymbolId symbol,
                              bool left_heavy,
                              GCancellable *cancellable);
void sysprof_graph_free (Graph *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Graph, sysprof_graph_free)
