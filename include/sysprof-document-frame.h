// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentFrame: one record of a capture. Each kind has its own header. */

#pragma once

#include "sysprof-declare.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_FRAME (sysprof_document_frame_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentFrame,
                      sysprof_document_frame,
                      DOCUMENT_FRAME,
                      SYSPROF_AVAILABLE_IN_ALL)

/* -1 unknown. Property "cpu". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_document_frame_get_cpu (SysprofDocumentFrame *self);

/* -1 unknown. Property "pid". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_document_frame_get_pid (SysprofDocumentFrame *self);

/* ns, CLOCK_MONOTONIC. Property "time". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_frame_get_time (SysprofDocumentFrame *self);

/* ns since the start of the recording, 0 for earlier frames. Property "time-offset". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_frame_get_time_offset (SysprofDocumentFrame *self);

/* Whether both are the same record of the same loaded file. */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_document_frame_equal (SysprofDocumentFrame *a, SysprofDocumentFrame *b);

/* The offset as "HH:MM:SS.ffff". *(full)* Property "time-string". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_frame_dup_time_string (SysprofDocumentFrame *self);

/* A text for a tooltip. *(full)* Property "tooltip". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_frame_dup_tooltip (SysprofDocumentFrame *self);

G_END_DECLS
