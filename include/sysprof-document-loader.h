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

/* *(full)* Nothing is opened before the load. */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentLoader *sysprof_document_loader_new (const char *filename);

/* *(full)*; NULL and `error` set. The descriptor is duplicated, its position left alone. */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentLoader *sysprof_document_loader_new_for_fd (int fd, GError **error);

/* Where names come from; NULL is the default: the table in the capture, kernel symbols, ELF files, JIT names. Property
 * "symbolizer". *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_document_loader_get_symbolizer (SysprofDocumentLoader *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_loader_set_symbolizer (SysprofDocumentLoader *self,
                                             SysprofSymbolizer *symbolizer);

/* How far the load is, 0 to 1. Property "fraction", notified in the context that began the load. */
SYSPROF_AVAILABLE_IN_ALL
double sysprof_document_loader_get_fraction (SysprofDocumentLoader *self);

/* What the load is doing. *(full, nullable)* Property "message", notified likewise. Since 48. */
SYSPROF_AVAILABLE_IN_48
char *sysprof_document_loader_dup_message (SysprofDocumentLoader *self);

/* Always NULL: the text belongs to another thread. */
SYSPROF_DEPRECATED_IN_48_FOR (sysprof_document_loader_dup_message)
const char *sysprof_document_loader_get_message (SysprofDocumentLoader *self);

/* Of SysprofDocumentTask: what takes long at the moment, which is the load while it lasts. *(full)* Property "tasks". Since 48. */
SYSPROF_AVAILABLE_IN_48
GListModel *sysprof_document_loader_list_tasks (SysprofDocumentLoader *self);

/* Reads and names everything, and iterates the calling thread's default main context meanwhile. *(full)*; NULL and
 * `error` set. A capture that is cut or damaged opens with what can be read. */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocument *sysprof_document_loader_load (SysprofDocumentLoader *self,
                                               GCancellable *cancellable,
                                               GError **error);

/* The same on a thread of its own. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_loader_load_async (SysprofDocumentLoader *self,
                                         GCancellable *cancellable,
                                         GAsyncReadyCallback callback,
                                         gpointer user_data);

/* *(full)*; NULL and `error` set. */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocument *sysprof_document_loader_load_finish (SysprofDocumentLoader *self,
                                                      GAsyncResult *result,
                                                      GError **error);

/* A capture that is still being written: what has been written by now, as a new document; NULL without `error` where
 * nothing was written since `earlier`, which stays as it is. Also where another file has taken the place of the first.
 * It reads and names all of it again, some 0.4 s for each million samples: whoever looks again and again, and waits for as
 * long as the last look took, leaves half of the time to others.
 * *(full, nullable)*; NULL and `error` set, as for what was read from a pipe.
 *
 *     document = sysprof_document_loader_load (loader, NULL, &error);
 *     // and then, as often as one likes
 *     newer = sysprof_document_loader_follow (loader, document, NULL, &error);
 *     if (newer != NULL)
 *       g_set_object (&document, newer);
 */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocument *sysprof_document_loader_follow (SysprofDocumentLoader *self,
                                                 SysprofDocument *earlier,
                                                 GCancellable *cancellable,
                                                 GError **error);

/* The same on a thread of its own. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_loader_follow_async (SysprofDocumentLoader *self,
                                           SysprofDocument *earlier,
                                           GCancellable *cancellable,
                                           GAsyncReadyCallback callback,
                                           gpointer user_data);

/* *(full, nullable)*; NULL and `error` set, or without it where nothing was written. */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocument *sysprof_document_loader_follow_finish (SysprofDocumentLoader *self,
                                                        GAsyncResult *result,
                                                        GError **error);

G_END_DECLS
