// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentJitmap: names of addresses, which stand in samples in the place of code. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_JITMAP (sysprof_document_jitmap_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentJitmap,
                      sysprof_document_jitmap,
                      DOCUMENT_JITMAP,
                      SYSPROF_AVAILABLE_IN_ALL)

/* How many names it gives. Property "size". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_jitmap_get_size (SysprofDocumentJitmap *self);

/**
 * sysprof_document_jitmap_get_mapping:
 * @self: names
 * @position: which of them
 * @address: (out) (optional): takes the address, 0 behind the end
 *
 * Returns: (transfer none) (nullable): the name; %NULL behind the end
 */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_jitmap_get_mapping (SysprofDocumentJitmap *self,
                                                 guint position,
                                                 guint64 *address);

G_END_DECLS
