// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentProcess: a process, from its start to its end. */

#pragma once

#include <gio/gio.h>

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_PROCESS (sysprof_document_process_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentProcess,
                      sysprof_document_process,
                      DOCUMENT_PROCESS,
                      SYSPROF_AVAILABLE_IN_ALL)

/* The command line, with arguments if the capture has them. *(none)* Property "command-line".
 */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_document_process_get_command_line (SysprofDocumentProcess *self);

/* The time of the exit, ns, CLOCK_MONOTONIC; the end of the recording if the process was still
 * running. Property "exit-time". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_process_get_exit_time (SysprofDocumentProcess *self);

/* How long the process ran during the recording, in ns. Property "duration". */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_document_process_get_duration (SysprofDocumentProcess *self);

/* Its name and pid. *(full)* Property "title". */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_document_process_dup_title (SysprofDocumentProcess *self);

/* A list of SysprofDocumentMmap, in the order of time. *(full)* Property "memory-maps". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_process_list_memory_maps (SysprofDocumentProcess *self);

/* A list of SysprofMount. *(full)* Property "mounts". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_process_list_mounts (SysprofDocumentProcess *self);

/* A list of SysprofThreadInfo: the threads that occur in the capture. *(full)* Property
 * "threads". */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_document_process_list_threads (SysprofDocumentProcess *self);

G_END_DECLS
