// SPDX-License-Identifier: GPL-3.0-or-later

/* What of the kernel's log can be tried without a kernel. */

#pragma once

#include "record/instrument.h"
#include "util/util.h"

#include <stdint.h>

typedef struct
{
  int priority;      /* of syslog(3), 0 to 7 */
  uint64_t sequence; /* one more for each message */
  int64_t time;      /* ns, by the clock of the log */
  Text text;         /* escaped: the kernel's \x41 */
} KernelMessage;

/* One record as /dev/kmsg gives it. */
bool sysprof_kernel_log_parse (Text record, KernelMessage *message);

/* Turns \x41 into what it stands for, in place. The size that is left. */
size_t sysprof_kernel_log_unescape (char *text, size_t size);

#define SYSPROF_TYPE_KERNEL_LOG (sysprof_kernel_log_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofKernelLog, sysprof_kernel_log, KERNEL_LOG, extern)
