// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentSample: the stack of a thread at one time. A SysprofDocumentTraceable. */

#pragma once

#include "sysprof-document-frame.h"
#include "sysprof-document-traceable.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_SAMPLE (sysprof_document_sample_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentSample,
                      sysprof_document_sample,
                      DOCUMENT_SAMPLE,
                      SYSPROF_AVAILABLE_IN_ALL)

/* -1 unknown. Property "tid". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_document_sample_get_tid (SysprofDocumentSample *self);

G_END_DECLS
