// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocument: a capture, read.
 *
 * A list model of SysprofDocumentFrame: every frame of the capture, in the order of time. All lists are views that make
 * their items when they are asked for; asked twice, they may make two that are sysprof_document_frame_equal(). */

#pragma once

#include <gio/gio.h>

#include "sysprof-document-counter.h"
#include "sysprof-time-span.h"
#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT (sysprof_document_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofDocument, sysprof_document, SYSPROF, DOCUMENT, GObject)

/* The base name of the file; without a name, "Recording at" and the local time. *(full)* Property "title". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_dup_title (SysprofDocument *self);

/* When it was recorded, where the title does not say it already. *(full, nullable)* Property "subtitle". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_dup_subtitle (SysprofDocument *self);

/* Begin and end of the recording, CLOCK_MONOTONIC. *(none)* Property "time-span". */
SYSPROF_AVAILABLE_IN_ALL
const SysprofTimeSpan *sysprof_document_get_time_span (SysprofDocument *self);

/* Of SysprofDocumentCounter, in the order of their definition. *(full)* Property "counters". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_counters (SysprofDocument *self);

/* The counter of that name. *(full, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentCounter *
sysprof_document_find_counter (SysprofDocument *self, const char *category, const char *name);

/* Of SysprofDocumentSample. *(full)* Property "samples". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_samples (SysprofDocument *self);

/* Of SysprofDocumentMark. *(full)* Property "marks". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_list_marks (SysprofDocument *self);

G_END_DECLS
