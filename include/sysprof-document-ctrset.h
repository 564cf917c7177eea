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
 * @nth: the index of the value
 * @id: (out): the ID of the counter
 * @value: (out caller-allocates) (array fixed-size=8): the 8 bytes of a gint64 or double
 *
 * Past the end, both are 0.
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_ctrset_get_raw_value (SysprofDocumentCtrset *self,
                                            guint nth,
                                            guint *id,
                                            guint8 value[8]);

G_END_DECLS
