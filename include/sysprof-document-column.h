// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentColumn: a value that can be read of all frames of a list at once. */

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
  /* a number per distinct stack of a process; -1 without a stack */
  SYSPROF_DOCUMENT_COLUMN_STACK,
  SYSPROF_DOCUMENT_COLUMN_DEPTH,    /* addresses in the stack, without context markers */
  SYSPROF_DOCUMENT_COLUMN_DURATION, /* ns, of marks; 0 for other frames */
  SYSPROF_DOCUMENT_COLUMN_SIZE,     /* bytes, of allocations; 0 or less if memory was freed */
  SYSPROF_DOCUMENT_COLUMN_WEIGHT,   /* period of a sample; 1 if it has none */
} SysprofDocumentColumn;

G_END_DECLS
