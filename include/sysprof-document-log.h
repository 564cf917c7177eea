// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentLog: a log message of a program. */

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

/* The log level. Property "severity". */
SYSPROF_AVAILABLE_IN_ALL
GLogLevelFlags sysprof_document_log_get_severity (SysprofDocumentLog *self);

/* The log domain. *(none)* Property "domain". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_log_get_domain (SysprofDocumentLog *self);

G_END_DECLS
