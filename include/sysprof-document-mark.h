// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentMark: a named span of time. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_MARK (sysprof_document_mark_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentMark,
                      sysprof_document_mark,
                      DOCUMENT_MARK,
                      SYSPROF_AVAILABLE_IN_ALL)

/* ns, 0 = an instant. Property "duration". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_mark_get_duration (SysprofDocumentMark *self);

/* ns, CLOCK_MONOTONIC. Property "end-time". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_mark_get_end_time (SysprofDocumentMark *self);

/* *(none)* Property "group". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_mark_get_group (SysprofDocumentMark *self);

/* *(none)* Property "name". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_mark_get_name (SysprofDocumentMark *self);

/* *(none)*, "" without one. Property "message". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_mark_get_message (SysprofDocumentMark *self);

G_END_DECLS
