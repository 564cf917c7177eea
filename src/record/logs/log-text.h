// SPDX-License-Identifier: GPL-3.0-or-later

/* Log messages in the form that a capture has. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sysprof-capture.h>

/* The GLib log level of a syslog(3) priority; 0 if the priority is invalid. */
int sysprof_log_severity_of_priority (int priority);

typedef struct
{
  const char *bytes; /* [size] need not end in NUL */
  size_t size;
  bool is_cut; /* the message was longer */
} LogMessage;

/* Adds a log frame. NULs in `message` become spaces. A message that does not fit a frame is
 * truncated and gets a remark about that. `domain` has at most 31 bytes. FALSE if the writer
 * rejects the frame. */
bool sysprof_log_add (SysprofCaptureWriter *writer,
                      int64_t time,
                      int priority,
                      const char *domain,
                      const LogMessage *message);
