// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofThreadInfo: a thread of a process. */

#pragma once

#include "sysprof-document-process.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_THREAD_INFO (sysprof_thread_info_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofThreadInfo, sysprof_thread_info, SYSPROF, THREAD_INFO, GObject)

/* *(none)* Property "process". */
SYSPROF_AVAILABLE_IN_ALL
SysprofDocumentProcess *sysprof_thread_info_get_process (SysprofThreadInfo *self);

/* Property "thread-id". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_thread_info_get_thread_id (SysprofThreadInfo *self);

/* The last name of the thread, or the name of its process if it has none; NULL if the capture
 * has no thread names. *(full, nullable)* Property "name". Since 51. */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_thread_info_dup_name (SysprofThreadInfo *self);

/* Whether it is the first thread of its process. Property "is-main-thread". */
SYSPROF_AVAILABLE_IN_ALL
gboolean sysprof_thread_info_is_main_thread (SysprofThreadInfo *self);

G_END_DECLS
