// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes lines to the journal, or to the system log, without waiting for either. A line is lost
 * if its receiver is busy. */

#include "sysprofd/sysprofd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bool
send_to (const char *path, const char *text)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool is_sent;

  if (fd < 0)
    return false;

  (void) snprintf (address.sun_path, sizeof address.sun_path, "%s", path);
  is_sent = sendto (fd, text, strlen (text), MSG_DONTWAIT | MSG_NOSIGNAL,
                    (const struct sockaddr *) &address, sizeof address) >= 0;
  (void) close (fd);
  return is_sent;
}

void
sysprof_journal_write (const char *format, ...)
{
  char line[512], text[640];
  va_list arguments;

  va_start (arguments, format);
  (void) vsnprintf (line, sizeof line, format, arguments);
  va_end (arguments);
  for (char *at = line; *at != '\0'; at++)
    if (*at < ' ' || *at > '~') /* journalctl hides lines that are not text */
      *at = '?';

  (void) snprintf (text, sizeof text, "SYSLOG_IDENTIFIER=sysprofd\nPRIORITY=6\nMESSAGE=%s\n",
                   line);
  if (send_to ("/run/systemd/journal/socket", text))
    return;
  (void) snprintf (text, sizeof text, "<30>sysprofd[%d]: %s", getpid (), line);
  if (!send_to ("/dev/log", text))
    (void) fprintf (stderr, "sysprofd: %s\n", line);
}
