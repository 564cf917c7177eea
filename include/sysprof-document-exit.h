// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentExit: a process ended. */

#pragma once

#include "sysprof-document-frame.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DOCUMENT_EXIT (sysprof_document_exit_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDocumentExit,
                      sysprof_document_exit,
                      DOCUMENT_EXIT,
                      SYSPROF_AVAILABLE_IN_ALL)

G_END_DECLS
