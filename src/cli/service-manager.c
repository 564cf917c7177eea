// SPDX-License-Identifier: GPL-3.0-or-later

/* Sends a datagram to the socket of the service manager: sd_notify(3), "Standalone
 * Implementations". */

#include "cli/service-manager.h"

#include "util/util.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

void
sysprof_cli_service_manager_notify (const char *state)
{
  const char *path = getenv ("NOTIFY_SOCKET");
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  size_t length = path != NULL ? strlen (path) : 0;
  autofd fd = -1;

  if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
    return;
  memcpy (address.sun_path, path, length);
  if (path[0] == '@')
    address.sun_path[0] = '\0'; /* an abstract socket address */
  fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  /* The recording continues if the manager does not listen. */
  if (fd >= 0)
    (void) sendto (fd, state, strlen (state), MSG_NOSIGNAL, (struct sockaddr *) &address,
                   (socklen_t) (offsetof (struct sockaddr_un, sun_path) + length));
}
