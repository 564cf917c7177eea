// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentTask: a long operation of a loader, such as a download. */

#pragma once

#include "sysprof-declare.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_TASK (sysprof_document_task_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentTask,
                      sysprof_document_task,
                      DOCUMENT_TASK,
                      SYSPROF_AVAILABLE_IN_48)

/* 0 … 1. Property "progress". */
SYSPROF_AVAILABLE_IN_48
double sysprof_document_task_get_progress (SysprofDocumentTask *self);

/* A description of the current step. *(full, nullable)* Property "message". */
SYSPROF_AVAILABLE_IN_48
char *sysprof_document_task_dup_message (SysprofDocumentTask *self);

/* The name of the task. *(full, nullable)* Property "title". */
SYSPROF_AVAILABLE_IN_48
char *sysprof_document_task_dup_title (SysprofDocumentTask *self);

/* Property "cancelled". */
SYSPROF_AVAILABLE_IN_48
gboolean sysprof_document_task_is_cancelled (SysprofDocumentTask *self);

/* Cancels the task. Loading continues without its result. */
SYSPROF_AVAILABLE_IN_48
void sysprof_document_task_cancel (SysprofDocumentTask *self);

G_END_DECLS
