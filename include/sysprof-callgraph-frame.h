// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCallgraphFrame: a node of a call graph. A list model of its children. */

#pragma once

#include "sysprof-callgraph.h"

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
