// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentMetadata: a name and a value that describe the recording. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_METADATA (sysprof_document_metadata_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentMetadata,
                      sysprof_document_metadata,
                      DOCUMENT_METADATA,
                      SYSPROF_AVAILABLE_IN_ALL)

/* The name of the value. *(none)* Property "id". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_metadata_get_id (SysprofDocumentMetadata *self);

/* *(none)* Property "value". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_metadata_get_value (SysprofDocumentMetadata *self);

G_END_DECLS
