// SPDX-License-Identifier: GPL-3.0-or-later

/* Parses the format file of a tracepoint in tracefs (events/GROUP/NAME/format): its ID, and the
 * offset and size of each field. */

#pragma once

#include "util/util.h"

typedef struct
{
  uint16_t offset; /* bytes from the start of the raw part */
  uint16_t size;   /* bytes */
} TracepointField;

/* FALSE: the text is malformed. */
bool sysprof_tracepoint_get_id (Text format, uint64_t *id);
/* FALSE: there is no such field, or its offset or size is malformed. */
bool sysprof_tracepoint_find_field (Text format, const char *name, TracepointField *field);
