// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentJitmap: names of synthetic addresses that represent code in samples. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_JITMAP (sysprof_document_jitmap_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentJitmap,
                      sysprof_document_jitmap,
                      DOCUMENT_JITMAP,
                      SYSPROF_AVAILABLE_IN_ALL)

/* The number of names. Property "size". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_jitmap_get_size (SysprofDocumentJitmap *self);

/**
 * sysprof_document_jitmap_get_mapping:
 * @self: names
 * @position: the index of the name
 * @address: (out) (optional): the address, 0 past the end
 *
 * Returns: (transfer none) (nullable): the name; %NULL past the end
 */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_jitmap_get_mapping (SysprofDocumentJitmap *self,
                                                 guint position,
                                                 guint64 *address);

G_END_DECLS
