// SPDX-License-Identifier: GPL-3.0-or-later

/* The parser of kernel log records, separate so that tests can call it. */

#pragma once

#include "record/instrument.h"
#include "util/util.h"

#include <stdint.h>

typedef struct
{
  int priority;      /* of syslog(3), 0 to 7 */
  uint64_t sequence; /* increases by one with each message */
  int64_t time;      /* ns, by the log's own clock */
  Text text;         /* escaped as \x41 */
} KernelMessage;

/* Parses one record of /dev/kmsg. */
bool sysprof_kernel_log_parse (Text record, KernelMessage *message);

/* Replaces escapes like \x41 in place. Returns the new size. */
size_t sysprof_kernel_log_unescape (char *text, size_t size);

#define SYSPROF_TYPE_KERNEL_LOG (sysprof_kernel_log_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofKernelLog, sysprof_kernel_log, KERNEL_LOG, extern)

/* Records kernel messages. *(full)* */
SysprofInstrument *sysprof_kernel_log_new (void);

extern const InstrumentRow sysprof_kernel_log_row;
