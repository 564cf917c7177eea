// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentTraceable: the interface of frames with a stack. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_TRACEABLE (sysprof_document_traceable_get_type ())

SYSPROF_AVAILABLE_IN_ALL
GType sysprof_document_traceable_get_type (void) G_GNUC_CONST;

typedef struct _SysprofDocumentTraceable SysprofDocumentTraceable;
typedef struct _SysprofDocumentTraceableInterface SysprofDocumentTraceableInterface;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SysprofDocumentTraceable, g_object_unref)

G_GNUC_UNUSED static inline SysprofDocumentTraceable *
SYSPROF_DOCUMENT_TRACEABLE (gpointer object)
{
  return G_TYPE_CHECK_INSTANCE_CAST (object, sysprof_document_traceable_get_type (),
                                     SysprofDocumentTraceable);
}

G_GNUC_UNUSED static inline gboolean
SYSPROF_IS_DOCUMENT_TRACEABLE (gpointer object)
{
  return G_TYPE_CHECK_INSTANCE_TYPE (object, sysprof_document_traceable_get_type ());
}

/* The number of addresses in the stack, including context markers. Property "stack-depth". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_traceable_get_stack_depth (SysprofDocumentTraceable *self);

/* The address at `position`, 0 = innermost. Returns 0 past the end. */
SYSPROF_AVAILABLE_IN_ALL
guint64 sysprof_document_traceable_get_stack_address (SysprofDocumentTraceable *self,
                                                      guint position);

/* Copies the innermost addresses, at most `n_addresses`. Returns the number of copied
 * addresses. */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_traceable_get_stack_addresses (SysprofDocumentTraceable *self,
                                                      guint64 *addresses,
                                                      guint n_addresses);

/* -1 unknown. Property "thread-id". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_document_traceable_get_thread_id (SysprofDocumentTraceable *self);

G_END_DECLS
