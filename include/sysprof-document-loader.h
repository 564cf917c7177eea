// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentLoader: opens a capture as a SysprofDocument.
 *
 *     loader = sysprof_document_loader_new ("capture.syscap");
 *     document = sysprof_document_loader_load (loader, NULL, &error);
 */

#pragma once

#include <gio/gio.h>

#include "sysprof-document-task.h"
#include "sysprof-document.h"
#include "sysprof-symbolizer.h"
#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_LOADER (sysprof_document_loader_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofDocumentLoader,
                      sysprof_document_loader,
                      SYSPROF,
                      DOCUMENT_LOADER,
                      GObject)

/* *(full)* The file is opened when the document is loaded. */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentLoader *sysprof_document_loader_new (const char *filename);

/* *(full)*; NULL with `error` set on failure. The descriptor is duplicated; its position is not
 * changed. */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentLoader *sysprof_document_loader_new_for_fd (int fd, GError **error);

/* The source of symbols. The default, NULL, uses the table in the capture, kernel symbols, ELF
 * files and JIT names. Property "symbolizer". *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_document_loader_get_symbolizer (SysprofDocumentLoader *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_loader_set_symbolizer (SysprofDocumentLoader *self,
                                             SysprofSymbolizer *symbolizer);

/* The progress of loading, 0 to 1. Property "fraction", notified in the main context that
 * started loading. */
SYSPROF_AVAILABLE_IN_ALL
double sysprof_document_loader_get_fraction (SysprofDocumentLoader *self);

/* A description of the current step. *(full, nullable)* Property "message", notified in the
 * same context. Since 48. */
SYSPROF_AVAILABLE_IN_48
char *sysprof_document_loader_dup_message (SysprofDocumentLoader *self);

/* Always NULL, because another thread owns the text. */
SYSPROF_DEPRECATED_IN_48_FOR (sysprof_document_loader_dup_message)
const char *sysprof_document_loader_get_message (SysprofDocumentLoader *self);

/* A list of SysprofDocumentTask: the long operations that are running, such as loading.
 * *(full)* Property "tasks". Since 48. */
SYSPROF_AVAILABLE_IN_48
GListModel *sysprof_document_loader_list_tasks (SysprofDocumentLoader *self);

/* Loads and symbolizes the capture. Iterates the default main context of the calling thread
 * meanwhile. A truncated or damaged capture opens with the part that can be read. *(full)*;
 * NULL with `error` set on failure. */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocument *sysprof_document_loader_load (SysprofDocumentLoader *self,
                                               GCancellable *cancellable,
                                               GError **error);

/* The same, on a separate thread. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_loader_load_async (SysprofDocumentLoader *self,
                                         GCancellable *cancellable,
                                         GAsyncReadyCallback callback,
                                         gpointer user_data);

/* *(full)*; NULL with `error` set on failure. */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocument *sysprof_document_loader_load_finish (SysprofDocumentLoader *self,
                                                      GAsyncResult *result,
                                                      GError **error);

/* Loads a capture that is still being written: returns a new document of everything written so
 * far, also if another file has replaced the first one. `earlier` is not changed.
 *
 * It reads and symbolizes everything again, about 0.4 s per million samples. Wait between two
 * calls for as long as the last one took, to leave half of the CPU time to other programs.
 *
 * *(full, nullable)*; NULL with `error` set on failure, also if the capture was read from a
 * pipe. NULL without `error` if nothing was written since `earlier`.
 *
 *     document = sysprof_document_loader_load (loader, NULL, &error);
 *     // later, repeatedly
 *     newer = sysprof_document_loader_follow (loader, document, NULL, &error);
 *     if (newer != NULL)
 *       g_set_object (&document, newer);
 */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocument *sysprof_document_loader_follow (SysprofDocumentLoader *self,
                                                 SysprofDocument *earlier,
                                                 GCancellable *cancellable,
                                                 GError **error);

/* The same, on a separate thread. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_loader_follow_async (SysprofDocumentLoader *self,
                                           SysprofDocument *earlier,
                                           GCancellable *cancellable,
                                           GAsyncReadyCallback callback,
                                           gpointer user_data);

/* *(full, nullable)*; NULL with `error` set on failure, or without it if nothing new was
 * written. */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocument *sysprof_document_loader_follow_finish (SysprofDocumentLoader *self,
                                                        GAsyncResult *result,
                                                        GError **error);

G_END_DECLS
