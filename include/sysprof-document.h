// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocument: a capture, read.
 *
 * A list model of SysprofDocumentFrame: every frame of the capture, in the order of time. All lists are views that make
 * their items when they are asked for; asked twice, they may make two that are sysprof_document_frame_equal(). */

#pragma once

#include <gio/gio.h>

#include "sysprof-address.h"
#include "sysprof-callgraph.h"
#include "sysprof-document-column.h"
#include "sysprof-document-counter.h"
#include "sysprof-document-file.h"
#include "sysprof-document-process.h"
#include "sysprof-document-traceable.h"
#include "sysprof-symbol.h"
#include "sysprof-time-span.h"
#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT (sysprof_document_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofDocument, sysprof_document, SYSPROF, DOCUMENT, GObject)

/* The base name of the file; without a name, "Recording at" and the local time. *(full)* Property "title". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_dup_title (SysprofDocument *self);

/* When it was recorded, where the title does not say it already. *(full, nullable)* Property "subtitle". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_dup_subtitle (SysprofDocument *self);

/* Begin and end of the recording, CLOCK_MONOTONIC. *(none)* Property "time-span". */
SYSPROF_AVAILABLE_IN_ALL
const SysprofTimeSpan *sysprof_document_get_time_span (SysprofDocument *self);

/* Of SysprofDocumentCounter, in the order of their definition. *(full)* Property "counters". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_counters (SysprofDocument *self);

/* The counter of that name. *(full, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentCounter *
sysprof_document_find_counter (SysprofDocument *self, const char *category, const char *name);

/* Of SysprofDocumentSample. *(full)* Property "samples". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_samples (SysprofDocument *self);

/* The file of that name; one that is stored as `path`.gz is meant too. *(full, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentFile *sysprof_document_lookup_file (SysprofDocument *self, const char *path);

/* *(full, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentProcess *sysprof_document_lookup_process (SysprofDocument *self, int pid);

/* Of SysprofDocumentProcess: those that any frame names, in the order in which the capture mentions them. *(full)*
 * Property "processes". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_processes (SysprofDocument *self);

/* Of SysprofCpuInfo. *(full)* Property "cpu-info". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_cpu_info (SysprofDocument *self);

/* Of SysprofDocumentFile, in the order in which they begin. *(full)* Property "files". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_files (SysprofDocument *self);

/* Of SysprofDocumentAllocation, what was freed among them. *(full)* Property "allocations". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_allocations (SysprofDocument *self);

/* Of SysprofDocumentLog. *(full)* Property "logs". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_logs (SysprofDocument *self);

/* Of SysprofDocumentMetadata. *(full)* Property "metadata". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_metadata (SysprofDocument *self);

/* Of SysprofDocumentDBusMessage. *(full)* Property "dbus-messages". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_dbus_messages (SysprofDocument *self);

/* Of SysprofDocumentJitmap. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_jitmaps (SysprofDocument *self);

/* Of SysprofDocumentTraceable: all frames with a stack, in the order of time. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_traceables (SysprofDocument *self);

/* The two halves of the samples: those whose stack has a marker of a context, user or kernel, and those without. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_samples_with_context_switch (SysprofDocument *self);
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_samples_without_context_switch (SysprofDocument *self);

/* Of SysprofDocumentMark. *(full)* Property "marks". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_marks (SysprofDocument *self);

/* Those of one group. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_marks_by_group (SysprofDocument *self, const char *group);

/* Of lists, one per group, of SysprofMarkCatalog; both sorted by name. *(full)* Property "marks-catalog". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_catalog_marks (SysprofDocument *self);

/* Writes a copy of the capture. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_save_async (SysprofDocument *self,
                                  GFile *file,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data);

/* FALSE and `error` set where it was not written. */
SYSPROF_AVAILABLE_IN_ALL
gboolean
sysprof_document_save_finish (SysprofDocument *self, GAsyncResult *result, GError **error);

/* Makes the table of names that a capture can carry as its file `__symbols__`. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_serialize_symbols_async (SysprofDocument *self,
                                               GCancellable *cancellable,
                                               GAsyncReadyCallback callback,
                                               gpointer user_data);

/* *(full)*; NULL and `error` set. */
SYSPROF_AVAILABLE_IN_ALL
GBytes *sysprof_document_serialize_symbols_finish (SysprofDocument *self,
                                                   GAsyncResult *result,
                                                   GError **error);

/* A column of all frames of a list, in its order: one gint64 each, for callers whom each item costs a call. Frames of other
 * documents are left out. *(full)* Ours. */
SYSPROF_AVAILABLE_IN_51
GBytes *sysprof_document_dup_column (SysprofDocument *self,
                                     GListModel *frames,
                                     SysprofDocumentColumn column);

/* When each frame of a list begins and ends, in its order: two gint64 each, equal but for marks with a duration. *(full)*
 * Ours. */
SYSPROF_AVAILABLE_IN_51
GBytes *sysprof_document_dup_spans (SysprofDocument *self, GListModel *frames);

/* The frames that are in both lists, in the order of `a`. *(full)* Ours. */
SYSPROF_AVAILABLE_IN_51
GListModel *sysprof_document_intersect (SysprofDocument *self, GListModel *a, GListModel *b);

/* The symbol of that number, as sysprof_callgraph_frame_dup_nodes() gives them. *(none, nullable)* Ours. */
SYSPROF_AVAILABLE_IN_51
SysprofSymbol *sysprof_document_get_nth_symbol (SysprofDocument *self, guint number);

/* Of SysprofSymbol: the functions of the frame's stack, innermost first. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_symbols_in_traceable (SysprofDocument *self,
                                                        SysprofDocumentTraceable *traceable);

/**
 * sysprof_document_symbolize_traceable: (skip)
 * @self: a document
 * @traceable: a frame of it with a stack
 * @symbols: (array length=n_symbols): takes the symbols, innermost first; they are the document's
 * @n_symbols: how many there is room for
 * @final_context: (out) (optional): takes the context in which the stack ended
 *
 * Returns: how many were filled in
 */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_symbolize_traceable (SysprofDocument *self,
                                            SysprofDocumentTraceable *traceable,
                                            SysprofSymbol **symbols,
                                            guint n_symbols,
                                            SysprofAddressContext *final_context);

/**
 * sysprof_document_callgraph_async:
 * @self: a document
 * @flags: what the graph looks like
 * @traceables: a list of frames of the document; those without a stack are left out
 * @augment_size: bytes that each node and each function gets for weights, 0 for none
 * @augment_func: (scope notified) (closure augment_func_data) (destroy augment_func_data_destroy) (nullable): adds what a
 *   frame weighs
 * @augment_func_data: for @augment_func
 * @augment_func_data_destroy: frees it, with the graph
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the graph is done
 * @user_data: for @callback
 *
 * Merges the stacks of frames into a tree. Without a function of one's own each frame weighs 1, which
 * sysprof_callgraph_frame_get_total() tells.
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_callgraph_async (SysprofDocument *self,
                                       SysprofCallgraphFlags flags,
                                       GListModel *traceables,
                                       gsize augment_size,
                                       SysprofAugmentationFunc augment_func,
                                       gpointer augment_func_data,
                                       GDestroyNotify augment_func_data_destroy,
                                       GCancellable *cancellable,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data);

/* *(full)*; NULL and `error` set. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCallgraph *
sysprof_document_callgraph_finish (SysprofDocument *self, GAsyncResult *result, GError **error);

/* Whether call graphs or symbols are being made. Property "busy". */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_document_get_busy (SysprofDocument *self);

G_END_DECLS
