// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCallgraph: frames with a stack, merged into one tree of functions.
 *
 * A list model with one item: the root SysprofCallgraphFrame, "All Processes". sysprof_document_callgraph_async() makes
 * it. It is exact, whatever the depth of its stacks. */

#pragma once

#include <gio/gio.h>

#include "sysprof-document-frame.h"
#include "sysprof-symbol.h"
#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_CALLGRAPH (sysprof_callgraph_get_type ())

typedef enum
{
  SYSPROF_CALLGRAPH_FLAGS_NONE = 0,
  SYSPROF_CALLGRAPH_FLAGS_INCLUDE_THREADS = 1 << 1, /* a level per thread below each process */
  SYSPROF_CALLGRAPH_FLAGS_HIDE_SYSTEM_LIBRARIES = 1 << 2, /* their weight is their caller's */
  SYSPROF_CALLGRAPH_FLAGS_BOTTOM_UP = 1 << 3, /* from the innermost function outwards */
  SYSPROF_CALLGRAPH_FLAGS_CATEGORIZE_FRAMES =
      1 << 4, /* nodes get a category; of rules that cannot be read a message tells */
  SYSPROF_CALLGRAPH_FLAGS_IGNORE_PROCESS_0 = 1 << 5, /* without the idle task */
  SYSPROF_CALLGRAPH_FLAGS_LEFT_HEAVY = 1 << 6,       /* children by weight, not by name */
  SYSPROF_CALLGRAPH_FLAGS_MERGE_SIMILAR_PROCESSES =
      1 << 7, /* those with the same program are one */
  SYSPROF_CALLGRAPH_FLAGS_IGNORE_KERNEL_PROCESSES = 1 << 8, /* without kernel threads */
} SysprofCallgraphFlags;

typedef enum
{
  SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED = 1,
  SYSPROF_CALLGRAPH_CATEGORY_PRESENTATION,
  SYSPROF_CALLGRAPH_CATEGORY_A11Y,
  SYSPROF_CALLGRAPH_CATEGORY_ACTIONS,
  SYSPROF_CALLGRAPH_CATEGORY_CONTEXT_SWITCH,
  SYSPROF_CALLGRAPH_CATEGORY_COREDUMP,
  SYSPROF_CALLGRAPH_CATEGORY_CSS,
  SYSPROF_CALLGRAPH_CATEGORY_GRAPHICS,
  SYSPROF_CALLGRAPH_CATEGORY_ICONS,
  SYSPROF_CALLGRAPH_CATEGORY_INPUT,
  SYSPROF_CALLGRAPH_CATEGORY_IO,
  SYSPROF_CALLGRAPH_CATEGORY_IPC,
  SYSPROF_CALLGRAPH_CATEGORY_JAVASCRIPT,
  SYSPROF_CALLGRAPH_CATEGORY_KERNEL,
  SYSPROF_CALLGRAPH_CATEGORY_LAYOUT,
  SYSPROF_CALLGRAPH_CATEGORY_LOCKING,
  SYSPROF_CALLGRAPH_CATEGORY_MAIN_LOOP,
  SYSPROF_CALLGRAPH_CATEGORY_MEMORY,
  SYSPROF_CALLGRAPH_CATEGORY_PAINT,
  SYSPROF_CALLGRAPH_CATEGORY_TYPE_SYSTEM,
  SYSPROF_CALLGRAPH_CATEGORY_UNWINDABLE,
  SYSPROF_CALLGRAPH_CATEGORY_WINDOWING,

  /*< private >*/
  SYSPROF_CALLGRAPH_CATEGORY_LAST, /* grows with new ones */
} SysprofCallgraphCategory;

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofCallgraph, sysprof_callgraph, SYSPROF, CALLGRAPH, GObject)

/* A place in the tree while weights are added; lives as long as the graph. */
typedef struct _SysprofCallgraphNode SysprofCallgraphNode;

/**
 * SysprofAugmentationFunc:
 * @callgraph: the graph that is made
 * @node: the node where the frame's stack ends
 * @frame: a frame with a stack: a SysprofDocumentTraceable
 * @summarize: whether the areas of functions shall be filled too
 * @user_data: what was given with the function
 *
 * Adds what a frame weighs to the areas of its node and, walking along sysprof_callgraph_node_parent(), of its callers.
 *
 * Called once for each frame, in the thread that asked for the graph. Where @summarize is %TRUE, the area of each
 * function of the stack takes the weight once, however often it recurs; where it is %FALSE, a tree is filled that was
 * derived from another, and the areas of functions are left alone.
 */
typedef void (*SysprofAugmentationFunc) (SysprofCallgraph *callgraph,
                                         SysprofCallgraphNode *node,
                                         SysprofDocumentFrame *frame,
                                         gboolean summarize,
                                         gpointer user_data);

/* Of SysprofCallgraphSymbol: every function once, heaviest first. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_list_symbols (SysprofCallgraph *self);

/* Of SysprofCallgraphSymbol: what calls `symbol` directly, heaviest first. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_list_callers (SysprofCallgraph *self, SysprofSymbol *symbol);

/* Of SysprofDocumentFrame: those of the graph whose stack contains `symbol`, in the order of time. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_list_traceables_for_symbol (SysprofCallgraph *self,
                                                          SysprofSymbol *symbol);

/* The same for all symbols whose name contains `pattern`. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_list_traceables_for_symbols_matching (SysprofCallgraph *self,
                                                                    const char *pattern);

/* All that is below `symbol`, merged over all places that call it; where it recurs, below the outermost. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_callgraph_descendants_async (SysprofCallgraph *self,
                                          SysprofSymbol *symbol,
                                          GCancellable *cancellable,
                                          GAsyncReadyCallback callback,
                                          gpointer user_data);

/* A list of one SysprofCallgraphFrame, the symbol's. *(full)*; NULL and `error` set. */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_descendants_finish (SysprofCallgraph *self,
                                                  GAsyncResult *result,
                                                  GError **error);

/**
 * sysprof_callgraph_get_augment: (skip)
 * @self: a graph
 * @node: a node of it
 *
 * The node's own area, of as many bytes as were asked for with the graph; zeroed at first.
 *
 * Returns: (transfer none) (nullable): the area; %NULL if none were asked for
 */
SYSPROF_AVAILABLE_IN_ALL
gpointer sysprof_callgraph_get_augment (SysprofCallgraph *self, SysprofCallgraphNode *node);

/**
 * sysprof_callgraph_get_summary_augment: (skip)
 * @self: a graph
 * @node: (nullable): a node of it; %NULL for the root
 *
 * The area of the node's function, which all its nodes share.
 *
 * Returns: (transfer none) (nullable): the area; %NULL if none were asked for
 */
SYSPROF_AVAILABLE_IN_ALL
gpointer sysprof_callgraph_get_summary_augment (SysprofCallgraph *self,
                                                SysprofCallgraphNode *node);

/**
 * sysprof_callgraph_node_parent: (skip)
 * @node: a node
 *
 * Returns: (transfer none) (nullable): the caller's node; %NULL at the root
 */
SYSPROF_AVAILABLE_IN_ALL
SysprofCallgraphNode *sysprof_callgraph_node_parent (SysprofCallgraphNode *node);

/* Finds the frames whose stack passes through exactly that node. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_callgraph_list_traceables_for_node_async (SysprofCallgraph *self,
                                                       SysprofCallgraphNode *node,
                                                       GCancellable *cancellable,
                                                       GAsyncReadyCallback callback,
                                                       gpointer user_data);

/* Of SysprofDocumentFrame, in the order of time. *(full)*; NULL and `error` set. */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_list_traceables_for_node_finish (SysprofCallgraph *self,
                                                               GAsyncResult *result,
                                                               GError **error);

G_END_DECLS
