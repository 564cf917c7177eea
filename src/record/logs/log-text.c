// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes log messages as frames: converts priorities and truncates long texts. */

#include "record/logs/log-text.h"

#include <glib.h>
#include <string.h>

/* Sysprof 3.46 accepts frames of at most 16,384 bytes: 64 before the message, and a NUL after
 * it. */
#define MAX_MESSAGE_SIZE (16384 - 64 - 1)

int
sysprof_log_severity_of_priority (int priority)
{
  static const int severities[] = {
    [0] = G_LOG_LEVEL_ERROR,   [1] = G_LOG_LEVEL_ERROR,   [2] = G_LOG_LEVEL_CRITICAL,
    [3] = G_LOG_LEVEL_WARNING, [4] = G_LOG_LEVEL_WARNING, [5] = G_LOG_LEVEL_MESSAGE,
    [6] = G_LOG_LEVEL_INFO,    [7] = G_LOG_LEVEL_DEBUG,
  };

  return priority >= 0 && (size_t) priority < G_N_ELEMENTS (severities) ? severities[priority]
                                                                        : 0;
}

bool
sysprof_log_add (SysprofCaptureWriter *writer,
                 int64_t time,
                 int priority,
                 const char *domain,
                 const LogMessage *message)
{
  char text[MAX_MESSAGE_SIZE + 1];
  char remark[64] = "";
  size_t n = message->size;

  if (message->size > MAX_MESSAGE_SIZE)
    {
      g_snprintf (remark, sizeof remark, " [truncated: %zu bytes %s]", message->size,
                  message->is_cut ? "or more" : "in all");
      n = MAX_MESSAGE_SIZE - strlen (remark);
      /* not inside a UTF-8 character */
      while (n > 0 && ((unsigned char) message->bytes[n] & 0xc0) == 0x80)
        n--;
    }

  memcpy (text, message->bytes, n);
  for (char *nul = text; (nul = memchr (nul, '\0', n - (size_t) (nul - text))) != NULL;)
    *nul = ' ';
  strcpy (text + n, remark);
  return sysprof_capture_writer_add_log (
      writer, time, -1, -1, sysprof_log_severity_of_priority (priority), domain, text);
}
