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

/* Whether it calls nothing. */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_callgraph_frame_is_leaf (SysprofCallgraphFrame *self);

/* How many frames' stacks end here. Ours. Property "self". */
SYSPROF_AVAILABLE_IN_51
guint64 sysprof_callgraph_frame_get_self (SysprofCallgraphFrame *self);

/* How many frames' stacks pass here or end here. Ours. Property "total". */
SYSPROF_AVAILABLE_IN_51
guint64 sysprof_callgraph_frame_get_total (SysprofCallgraphFrame *self);

/* The sum of a column over the frames whose stacks end here: SYSPROF_DOCUMENT_COLUMN_SIZE gives the bytes that were
 * allocated. Made for all nodes when one is first asked. Ours. */
SYSPROF_AVAILABLE_IN_51
gint64 sysprof_callgraph_frame_sum_self (SysprofCallgraphFrame *self,
                                         SysprofDocumentColumn column);

/* The same over those whose stacks pass here, too. Ours. */
SYSPROF_AVAILABLE_IN_51
gint64 sysprof_callgraph_frame_sum_total (SysprofCallgraphFrame *self,
                                          SysprofDocumentColumn column);

/* This node and all below it as one reads the tree, four gint64 each: the position of its parent in this list (-1 for the
 * first), the number of its symbol (for sysprof_document_get_nth_symbol()), and the sums of the column as above. With
 * SYSPROF_DOCUMENT_COLUMN_WEIGHT, frames that are not weighed count 1. *(full)* Ours. */
SYSPROF_AVAILABLE_IN_51
GBytes *sysprof_callgraph_frame_dup_nodes (SysprofCallgraphFrame *self,
                                           SysprofDocumentColumn column);

/* Finds the frames whose stack passes here. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_callgraph_frame_list_traceables_async (SysprofCallgraphFrame *self,
                                                    GCancellable *cancellable,
                                                    GAsyncReadyCallback callback,
                                                    gpointer user_data);

/* Of SysprofDocumentFrame, in the order of time. *(full)*; NULL and `error` set. */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_frame_list_traceables_finish (SysprofCallgraphFrame *self,
                                                            GAsyncResult *result,
                                                            GError **error);

/* Adds up by category what is below. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_callgraph_frame_summarize_async (SysprofCallgraphFrame *self,
                                              GCancellable *cancellable,
                                              GAsyncReadyCallback callback,
                                              gpointer user_data);

/* Of SysprofCategorySummary, greatest share first. *(full)*; NULL and `error` set. */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_callgraph_frame_summarize_finish (SysprofCallgraphFrame *self,
                                                      GAsyncResult *result,
                                                      GError **error);

G_END_DECLS
