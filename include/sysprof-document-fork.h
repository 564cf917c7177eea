// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentFork: a process started another process or a thread. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_FORK (sysprof_document_fork_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentFork,
                      sysprof_document_fork,
                      DOCUMENT_FORK,
                      SYSPROF_AVAILABLE_IN_ALL)

/* The new process or thread. Property "child-pid". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_document_fork_get_child_pid (SysprofDocumentFork *self);

G_END_DECLS
