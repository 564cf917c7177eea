// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCallgraph: frames with a stack, merged into one tree of functions.
 *
 * A list model with one item: the root SysprofCallgraphFrame, "All Processes".
 * sysprof_document_callgraph_async() creates it. Stacks of any depth are complete in it. */

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
  SYSPROF_CALLGRAPH_FLAGS_HIDE_SYSTEM_LIBRARIES = 1 << 2, /* count for the caller */
  SYSPROF_CALLGRAPH_FLAGS_BOTTOM_UP = 1 << 3,             /* innermost functions first */
  SYSPROF_CALLGRAPH_FLAGS_CATEGORIZE_FRAMES =
      1 << 4, /* nodes get a category; unreadable rules are reported by a message */
  SYSPROF_CALLGRAPH_FLAGS_IGNORE_PROCESS_0 = 1 << 5, /* without the idle task */
  SYSPROF_CALLGRAPH_FLAGS_LEFT_HEAVY = 1 << 6,       /* children by weight, not by name */
  SYSPROF_CALLGRAPH_FLAGS_MERGE_SIMILAR_PROCESSES =
      1 << 7, /* one node for processes with the same program */
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

/* A node of the tree while weights are added. It is valid as long as the graph. */
typedef struct _SysprofCallgraphNode SysprofCallgraphNode;

/**
 * SysprofAugmentationFunc:
 * @callgraph: the graph
 * @node: the node where the frame's stack ends
 * @frame: a frame with a stack: a SysprofDocumentTraceable
 * @summarize: whether the areas of functions must be filled, too
 * @user_data: the data that was passed with the function
 *
 * Adds the weight of a frame to the areas of its node and, by following
 * sysprof_callgraph_node_parent(), of its callers.
 *
 * The function is called once for each frame, in the thread that requested the graph. If
 * @summarize is %TRUE, add the weight once to the area of each function of the stack, also of
 * recursive ones.
 * If it is %FALSE, the tree is derived from another one; do not change the areas of functions.
 */
typedef void (*SysprofAugmentationFunc) (SysprofCallgraph *callgraph,
                                         SysprofCallgraphNode *node,
                                         SysprofDocumentFrame *frame,
                                         gboolean summarize,
                                         gpointer user_data);

/* A list of SysprofCallgraphSymbol: every function once, heaviest first. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_list_symbols (SysprofCallgraph *self);

/* A list of SysprofCallgraphSymbol: the direct callers of `symbol`, heaviest first. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_list_callers (SysprofCallgraph *self, SysprofSymbol *symbol);

/* A list of SysprofDocumentFrame: the frames of the graph whose stack contains `symbol`, in the
 * order of time. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_list_traceables_for_symbol (SysprofCallgraph *self,
                                                          SysprofSymbol *symbol);

/* The same for all symbols whose name contains `pattern`. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_list_traceables_for_symbols_matching (SysprofCallgraph *self,
                                                                    const char *pattern);

/* Merges the trees below all calls of `symbol`. Of recursive calls the outermost counts. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_callgraph_descendants_async (SysprofCallgraph *self,
                                          SysprofSymbol *symbol,
                                          GCancellable *cancellable,
                                          GAsyncReadyCallback callback,
                                          gpointer user_data);

/* A list with one SysprofCallgraphFrame, that of the symbol. *(full)*; NULL with `error` set on
 * failure. */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_descendants_finish (SysprofCallgraph *self,
                                                  GAsyncResult *result,
                                                  GError **error);

/**
 * sysprof_callgraph_get_augment: (skip)
 * @self: a graph
 * @node: a node of it
 *
 * Returns the area of the node. Its size was requested with the graph; it is zeroed at first.
 *
 * Returns: (transfer none) (nullable): the area; %NULL if its size is 0
 */
SYSPROF_AVAILABLE_IN_ALL
gpointer sysprof_callgraph_get_augment (SysprofCallgraph *self, SysprofCallgraphNode *node);

/**
 * sysprof_callgraph_get_summary_augment: (skip)
 * @self: a graph
 * @node: (nullable): a node of it; %NULL for the root
 *
 * Returns the area of the node's function, which all nodes of the function share.
 *
 * Returns: (transfer none) (nullable): the area; %NULL if its size is 0
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

/* Finds the frames whose stack contains exactly this node. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_callgraph_list_traceables_for_node_async (SysprofCallgraph *self,
                                                       SysprofCallgraphNode *node,
                                                       GCancellable *cancellable,
                                                       GAsyncReadyCallback callback,
                                                       gpointer user_data);

/* A list of SysprofDocumentFrame, in the order of time. *(full)*; NULL with `error` set on
 * failure. */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_list_traceables_for_node_finish (SysprofCallgraph *self,
                                                               GAsyncResult *result,
                                                               GError **error);

G_END_DECLS
