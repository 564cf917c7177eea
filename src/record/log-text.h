// SPDX-License-Identifier: GPL-3.0-or-later

/* Messages of logs, as a capture has them. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sysprof-capture.h>

/* GLib's flag for a priority of syslog(3); 0 for what is none. */
int sysprof_log_severity_of_priority (int priority);

typedef struct
{
  const char *bytes; /* [size] need not end in NUL */
  size_t size;
  bool is_cut; /* there was more of it */
} LogMessage;

/* `message` may hold a NUL, which becomes a space; what is too long for a frame is cut, and that is said.
 * `domain` has at most 31 bytes. FALSE when the writer takes nothing. */
bool sysprof_log_add (SysprofCaptureWriter *writer,
                      int64_t time,
                      int priority,
                      const char *domain,
                      const LogMessage *message);
