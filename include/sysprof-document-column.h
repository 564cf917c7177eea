// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentColumn: what can be asked of all frames of a list at once. Ours. */

#pragma once

#include <glib-object.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

typedef enum
{
  SYSPROF_DOCUMENT_COLUMN_TIME = 1, /* ns, CLOCK_MONOTONIC */
  SYSPROF_DOCUMENT_COLUMN_CPU,      /* -1 unknown */
  SYSPROF_DOCUMENT_COLUMN_PID,      /* -1 unknown */
  SYSPROF_DOCUMENT_COLUMN_TID,      /* of frames with a stack; -1 unknown */
  SYSPROF_DOCUMENT_COLUMN_STACK, /* of frames with a stack: the same number for the same stack of a process; -1 else */
  SYSPROF_DOCUMENT_COLUMN_DEPTH, /* how many addresses the stack has, markers of contexts not among them */
  SYSPROF_DOCUMENT_COLUMN_DURATION, /* ns, of marks; 0 else */
  SYSPROF_DOCUMENT_COLUMN_SIZE, /* bytes, of allocations; 0 or less where memory was freed */
  SYSPROF_DOCUMENT_COLUMN_WEIGHT, /* of samples that were taken every so many events, those events; 1 else */
} SysprofDocumentColumn;

G_END_DECLS
