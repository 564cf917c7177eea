// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocument: a loaded capture.
 *
 * A list model of SysprofDocumentFrame: every frame of the capture, in the order of time. All
 * lists create their items on demand. Two requests for an item may return different objects
 * that are sysprof_document_frame_equal(). */

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

/* The base name of the file; without a name, "Recording at" and the local time. *(full)*
 * Property "title". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_dup_title (SysprofDocument *self);

/* The time of the recording, if the title does not contain it. *(full, nullable)* Property
 * "subtitle". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_dup_subtitle (SysprofDocument *self);

/* Start and end of the recording, CLOCK_MONOTONIC. *(none)* Property "time-span". */
SYSPROF_AVAILABLE_IN_ALL
const SysprofTimeSpan *sysprof_document_get_time_span (SysprofDocument *self);

/* A list of SysprofDocumentCounter, in the order of their definition. *(full)* Property
 * "counters". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_counters (SysprofDocument *self);

/* The counter of that name. *(full, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentCounter *
sysprof_document_find_counter (SysprofDocument *self, const char *category, const char *name);

/* A list of SysprofDocumentSample. *(full)* Property "samples". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_samples (SysprofDocument *self);

/* Looks up an embedded file. `path` also matches the compressed file `path`.gz. *(full,
 * nullable)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentFile *sysprof_document_lookup_file (SysprofDocument *self, const char *path);

/* *(full, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentProcess *sysprof_document_lookup_process (SysprofDocument *self, int pid);

/* A list of SysprofDocumentProcess: all processes in frames of the capture, in the order of
 * their first frame. *(full)* Property "processes". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_processes (SysprofDocument *self);

/* A list of SysprofCpuInfo. *(full)* Property "cpu-info". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_cpu_info (SysprofDocument *self);

/* A list of SysprofDocumentFile, in the order of their first parts. *(full)* Property "files".
 */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_files (SysprofDocument *self);

/* A list of SysprofDocumentAllocation, including frees. *(full)* Property "allocations". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_allocations (SysprofDocument *self);

/* A list of SysprofDocumentLog. *(full)* Property "logs". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_logs (SysprofDocument *self);

/* A list of SysprofDocumentMetadata. *(full)* Property "metadata". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_metadata (SysprofDocument *self);

/* A list of SysprofDocumentDBusMessage. *(full)* Property "dbus-messages". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_dbus_messages (SysprofDocument *self);

/* A list of SysprofDocumentJitmap. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_jitmaps (SysprofDocument *self);

/* A list of SysprofDocumentTraceable: all frames with a stack, in the order of time. *(full)*
 */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_traceables (SysprofDocument *self);

/* Samples whose stack contains a context marker (user or kernel), and samples without one.
 * *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_samples_with_context_switch (SysprofDocument *self);
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_samples_without_context_switch (SysprofDocument *self);

/* A list of SysprofDocumentMark. *(full)* Property "marks". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_marks (SysprofDocument *self);

/* The marks of one group. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_marks_by_group (SysprofDocument *self, const char *group);

/* A list with one list of SysprofMarkCatalog per group; both are sorted by name. *(full)*
 * Property "marks-catalog". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_catalog_marks (SysprofDocument *self);

/* Writes a copy of the capture. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_save_async (SysprofDocument *self,
                                  GFile *file,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data);

/* Returns FALSE with `error` set on failure. */
SYSPROF_AVAILABLE_IN_ALL
gboolean
sysprof_document_save_finish (SysprofDocument *self, GAsyncResult *result, GError **error);

/* Creates the table of symbols for the embedded file `__symbols__`. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_serialize_symbols_async (SysprofDocument *self,
                                               GCancellable *cancellable,
                                               GAsyncReadyCallback callback,
                                               gpointer user_data);

/* *(full)*; NULL with `error` set on failure. */
SYSPROF_AVAILABLE_IN_ALL
GBytes *sysprof_document_serialize_symbols_finish (SysprofDocument *self,
                                                   GAsyncResult *result,
                                                   GError **error);

/* A column of all frames of a list, in its order, one gint64 each. For language bindings, where
 * a call per item is slow. Frames of other documents are skipped. *(full)* */
SYSPROF_AVAILABLE_IN_51
GBytes *sysprof_document_dup_column (SysprofDocument *self,
                                     GListModel *frames,
                                     SysprofDocumentColumn column);

/* The start and end of each frame of a list, in its order, two gint64 each. They differ only
 * for marks with a duration. *(full)* */
SYSPROF_AVAILABLE_IN_51
GBytes *sysprof_document_dup_spans (SysprofDocument *self, GListModel *frames);

/* The frames that are in both lists, in the order of `a`. *(full)* */
SYSPROF_AVAILABLE_IN_51
GListModel *sysprof_document_intersect (SysprofDocument *self, GListModel *a, GListModel *b);

/* The symbol with this number, as in sysprof_callgraph_frame_dup_nodes(). *(none,
 * nullable)* */
SYSPROF_AVAILABLE_IN_51
SysprofSymbol *sysprof_document_get_nth_symbol (SysprofDocument *self, guint number);

/* A list of SysprofSymbol: the functions in the stack of the frame, innermost first. *(full)*
 */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_symbols_in_traceable (SysprofDocument *self,
                                                        SysprofDocumentTraceable *traceable);

/**
 * sysprof_document_symbolize_traceable: (skip)
 * @self: a document
 * @traceable: a frame of it with a stack
 * @symbols: (array length=n_symbols): the symbols, innermost first, owned by the document
 * @n_symbols: the size of @symbols
 * @final_context: (out) (optional): the context of the end of the stack
 *
 * Returns: the number of symbols
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
 * @flags: the shape of the graph
 * @traceables: a list of frames of the document; those without a stack are skipped
 * @augment_size: the size of the area of each node and function in bytes, 0 for none
 * @augment_func: (scope notified) (closure augment_func_data)
 *   (destroy augment_func_data_destroy) (nullable): adds the weight of a frame
 * @augment_func_data: for @augment_func
 * @augment_func_data_destroy: frees @augment_func_data with the graph
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the graph is complete
 * @user_data: for @callback
 *
 * Merges the stacks of frames into a tree. Without @augment_func each frame weighs 1;
 * sysprof_callgraph_frame_get_total() returns the sums.
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

/* *(full)*; NULL with `error` set on failure. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCallgraph *
sysprof_document_callgraph_finish (SysprofDocument *self, GAsyncResult *result, GError **error);

/* Whether a call graph or a table of symbols is being created. Property "busy". */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_document_get_busy (SysprofDocument *self);

G_END_DECLS
