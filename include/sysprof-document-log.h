// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentLog: what a program logged. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_LOG (sysprof_document_log_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentLog,
                      sysprof_document_log,
                      DOCUMENT_LOG,
                      SYSPROF_AVAILABLE_IN_ALL)

/* *(none)* Property "message". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_log_get_message (SysprofDocumentLog *self);

/* How bad it is. Property "severity". */
SYSPROF_AVAILABLE_IN_ALL
GLogLevelFlags sysprof_document_log_get_severity (SysprofDocumentLog *self);

/* Who says it. *(none)* Property "domain". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_log_get_domain (SysprofDocumentLog *self);

G_END_DECLS
