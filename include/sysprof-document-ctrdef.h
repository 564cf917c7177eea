// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentCtrdef: counters were defined. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_CTRDEF (sysprof_document_ctrdef_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentCtrdef,
                      sysprof_document_ctrdef,
                      DOCUMENT_CTRDEF,
                      SYSPROF_AVAILABLE_IN_ALL)

/* Property "n-counters". */
SYSPROF_AVAILABLE_IN_ALL
guint sysprof_document_ctrdef_get_n_counters (SysprofDocumentCtrdef *self);

/**
 * sysprof_document_ctrdef_get_counter:
 * @self: definitions of counters
 * @nth: the index of the definition
 * @id: (out) (optional): the ID in the capture
 * @type: (out) (optional): 0 for integers, 1 for doubles
 * @category: (out) (optional) (transfer none): the category
 * @name: (out) (optional) (transfer none): the name
 * @description: (out) (optional) (transfer none): the description
 *
 * Past the end, numbers are 0 and texts "".
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_document_ctrdef_get_counter (SysprofDocumentCtrdef *self,
                                          guint nth,
                                          guint *id,
                                          guint *type,
                                          const char **category,
                                          const char **name,
                                          const char **description);

G_END_DECLS
