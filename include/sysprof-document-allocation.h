// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentAllocation: memory was allocated or freed. A SysprofDocumentTraceable. */

#pragma once

#include "sysprof-document-frame.h"
#include "sysprof-document-traceable.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_ALLOCATION (sysprof_document_allocation_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentAllocation,
                      sysprof_document_allocation,
                      DOCUMENT_ALLOCATION,
                      SYSPROF_AVAILABLE_IN_ALL)

/* The address of the memory. Property "address". */
SYSPROF_AVAILABLE_IN_ALL
guint64 sysprof_document_allocation_get_address (SysprofDocumentAllocation *self);

/* The size in bytes; 0 or less if memory was freed. Property "size". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_allocation_get_size (SysprofDocumentAllocation *self);

/* -1 unknown. Property "tid". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_document_allocation_get_tid (SysprofDocumentAllocation *self);

/* Whether memory was freed. Property "is-free". */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_document_allocation_is_free (SysprofDocumentAllocation *self);

G_END_DECLS
