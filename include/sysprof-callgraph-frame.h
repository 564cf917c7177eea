// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCallgraphFrame: a node of a call graph. A list model of its children. */

#pragma once

#include "sysprof-callgraph.h"
#include "sysprof-document-column.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_CALLGRAPH_FRAME (sysprof_callgraph_frame_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofCallgraphFrame,
                      sysprof_callgraph_frame,
                      SYSPROF,
                      CALLGRAPH_FRAME,
                      GObject)

/* *(none)* Property "symbol". */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbol *sysprof_callgraph_frame_get_symbol (SysprofCallgraphFrame *self);

/* *(none)* Property "callgraph". */
SYSPROF_AVAILABLE_IN_ALL
SysprofCallgraph *sysprof_callgraph_frame_get_callgraph (SysprofCallgraphFrame *self);

/* Property "category". */
SYSPROF_AVAILABLE_IN_ALL
SysprofCallgraphCategory sysprof_callgraph_frame_get_category (SysprofCallgraphFrame *self);

/**
 * sysprof_callgraph_frame_get_augment: (skip)
 * @self: a node
 *
 * Returns: (transfer none) (nullable): as sysprof_callgraph_get_augment()
 */
SYSPROF_AVAILABLE_IN_ALL
gpointer sysprof_callgraph_frame_get_augment (SysprofCallgraphFrame *self);

/**
 * sysprof_callgraph_frame_get_summary_augment: (skip)
 * @self: a node
 *
 * Returns: (transfer none) (nullable): as sysprof_callgraph_get_summary_augment()
 */
SYSPROF_AVAILABLE_IN_ALL
gpointer sysprof_callgraph_frame_get_summary_augment (SysprofCallgraphFrame *self);

/* Whether the node has no children. */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_callgraph_frame_is_leaf (SysprofCallgraphFrame *self);

/* The number of frames whose stacks end here. Property "self". */
SYSPROF_AVAILABLE_IN_51
guint64 sysprof_callgraph_frame_get_self (SysprofCallgraphFrame *self);

/* The number of frames whose stacks contain this node. Property "total". */
SYSPROF_AVAILABLE_IN_51
guint64 sysprof_callgraph_frame_get_total (SysprofCallgraphFrame *self);

/* The sum of a column over the frames whose stacks end here. SYSPROF_DOCUMENT_COLUMN_SIZE sums
 * allocated bytes. The first call computes the sums of all nodes. */
SYSPROF_AVAILABLE_IN_51
gint64 sysprof_callgraph_frame_sum_self (SysprofCallgraphFrame *self,
                                         SysprofDocumentColumn column);

/* The same over all frames whose stacks contain this node. */
SYSPROF_AVAILABLE_IN_51
gint64 sysprof_callgraph_frame_sum_total (SysprofCallgraphFrame *self,
                                          SysprofDocumentColumn column);

/* This node and all nodes below it, parents first, four gint64 each: the position of the parent
 * in this list (-1 for the first), the number of the symbol (for
 * sysprof_document_get_nth_symbol()), and the sums of the column (self and total). With
 * SYSPROF_DOCUMENT_COLUMN_WEIGHT, frames without a weight count 1. *(full)* */
SYSPROF_AVAILABLE_IN_51
GBytes *sysprof_callgraph_frame_dup_nodes (SysprofCallgraphFrame *self,
                                           SysprofDocumentColumn column);

/* Finds the frames whose stack contains this node. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_callgraph_frame_list_traceables_async (SysprofCallgraphFrame *self,
                                                    GCancellable *cancellable,
                                                    GAsyncReadyCallback callback,
                                                    gpointer user_data);

/* A list of SysprofDocumentFrame, in the order of time. *(full)*; NULL with `error` set on
 * failure. */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_frame_list_traceables_finish (SysprofCallgraphFrame *self,
                                                            GAsyncResult *result,
                                                            GError **error);

/* Sums the weights of the nodes below by category. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_callgraph_frame_summarize_async (SysprofCallgraphFrame *self,
                                              GCancellable *cancellable,
                                              GAsyncReadyCallback callback,
                                              gpointer user_data);

/* A list of SysprofCategorySummary, greatest share first. *(full)*; NULL with `error` set on
 * failure. */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_frame_summarize_finish (SysprofCallgraphFrame *self,
                                                      GAsyncResult *result,
                                                      GError **error);

G_END_DECLS
