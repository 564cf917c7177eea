// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentCtrset: counters got values. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_CTRSET (sysprof_document_ctrset_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentCtrset,
                      sysprof_document_ctrset,
                      DOCUMENT_CTRSET,
                      SYSPROF_AVAILABLE_IN_ALL)

/* Property "n-values". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_ctrset_get_n_values (SysprofDocumentCtrset *self);

/**
 * sysprof_document_ctrset_get_raw_value:
 * @self: values of counters
 * @nth: which of them
 * @id: (out): takes the counter
 * @value: (out caller-allocates) (array fixed-size=8): takes the 8 bytes of a gint64 or a double
 *
 * Behind the end, both become 0.
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_ctrset_get_raw_value (SysprofDocumentCtrset *self,
                                            guint nth,
                                            guint *id,
                                            guint8 value[8]);

G_END_DECLS
