// SPDX-License-Identifier: GPL-3.0-or-later

/* What tracefs says of a tracepoint: its number, and where in a record each field stands (events/GROUP/NAME/format). */

#pragma once

#include "util/util.h"

typedef struct
{
  uint16_t offset; /* bytes from the begin of the raw part */
  uint16_t size;   /* bytes */
} TracepointField;

/* FALSE: the text is no format. */
bool sysprof_tracepoint_get_id (Text format, uint64_t *id);
/* FALSE: there is no such field, or its place makes no sense. */
bool sysprof_tracepoint_find_field (Text format, const char *name, TracepointField *field);
