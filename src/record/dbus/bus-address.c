// SPDX-License-Identifier: GPL-3.0-or-later

/* Addresses of message buses: a list of METHOD:KEY=VALUE,KEY=VALUE, separated by semicolons.
 * Bytes of values may be escaped as %41.
 *
 * This file must not use GLib's functions for D-Bus addresses: they may start programs
 * (dbus-launch) or query name servers, and block.
 *
 * Source: D-Bus Specification, "Server Addresses". */

#include "record/dbus/bus-address.h"

#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SYSTEM_BUS   "unix:path=/var/run/dbus/system_bus_socket"
#define CONNECT_MSEC 2000

char *
sysprof_bus_dup_address (GBusType type, GError **error)
{
  bool is_system = type == G_BUS_TYPE_SYSTEM;
  const char *address =
      g_getenv (is_system ? "DBUS_SYSTEM_BUS_ADDRESS" : "DBUS_SESSION_BUS_ADDRESS");
  const char *runtime = g_getenv ("XDG_RUNTIME_DIR");
  g_autofree char *path = runtime != NULL ? g_build_filename (runtime, "bus", NULL) : NULL;

  if (address != NULL && *address != '\0')
    return g_strdup (address);
  if (is_system)
    return g_strdup (SYSTEM_BUS);
  if (path != NULL && g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_autofree char *escaped = g_dbus_address_escape_value (path);

      return g_strconcat ("unix:path=", escaped, NULL);
    }

  g_set_error_literal (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                       "there is no session bus: DBUS_SESSION_BUS_ADDRESS is not set. Run "
                       "from a desktop session, or set it to the address of a bus.");
  return NULL;
}

/* The unescaped value of `key` in one address; NULL if it is missing. */
static char *
dup_value (const char *address, const char *key)
{
  const char *colon = strchr (address, ':');
  g_auto (GStrv) pairs = g_strsplit (colon != NULL ? colon + 1 : "", ",", -1);

  for (size_t i = 0; pairs[i] != NULL; i++)
    {
      size_t length = strlen (key);

      if (strncmp (pairs[i], key, length) == 0 && pairs[i][length] == '=')
        return g_uri_unescape_string (pairs[i] + length + 1, NULL);
    }
  return NULL;
}

/* If the listener's backlog is full, only a blocking socket waits for space. */
static bool
connect_patiently (int fd, const struct sockaddr *address, socklen_t size)
{
  const struct timeval most = { .tv_sec = CONNECT_MSEC / 1000 };
  int flags = fcntl (fd, F_GETFL);
  int number;

  if (flags < 0 || setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) != 0 ||
      fcntl (fd, F_SETFL, flags & ~O_NONBLOCK) != 0)
    return false;
  number = connect (fd, address, size) == 0 ? 0 : errno;
  (void) fcntl (fd, F_SETFL, flags); /* restores the flags read above */
  errno = number == EAGAIN ? ETIMEDOUT : number;
  return number == 0;
}

static int
connect_socket (int family, const struct sockaddr *address, socklen_t size)
{
  autofd fd = socket (family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct pollfd ready = { .fd = fd, .events = POLLOUT };
  socklen_t size_of_error = sizeof errno;
  int number = 0;

  if (fd < 0)
    return -1;
  if (connect (fd, address, size) == 0)
    return sysprof_steal_fd (&fd);
  if (errno == EAGAIN && connect_patiently (fd, address, size))
    return sysprof_steal_fd (&fd);
  if (errno != EINPROGRESS)
    return -1;

  if (poll (&ready, 1, CONNECT_MSEC) != 1)
    {
      errno = ETIMEDOUT;
      return -1;
    }
  if (getsockopt (fd, SOL_SOCKET, SO_ERROR, &number, &size_of_error) != 0 || number != 0)
    {
      errno = number;
      return -1;
    }
  return sysprof_steal_fd (&fd);
}

/* `is_abstract`: a name that is not a file. */
static int
connect_unix (const char *name, bool is_abstract)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  size_t length = strlen (name);

  if (length + 1 > sizeof address.sun_path)
    {
      errno = ENAMETOOLONG;
      return -1;
    }

  memcpy (address.sun_path + is_abstract, name, length);
  return connect_socket (AF_UNIX, (const struct sockaddr *) &address,
                         (socklen_t) (offsetof (struct sockaddr_un, sun_path) + length + 1 -
                                      is_abstract + is_abstract));
}

static int
connect_tcp (const char *host, const char *port)
{
  const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
  struct addrinfo *found = NULL;
  int fd = -1;

  if (g_str_equal (host, "localhost"))
    host = "127.0.0.1";
  if (getaddrinfo (host, port, &hints, &found) != 0)
    {
      errno = EADDRNOTAVAIL; /* host names are not resolved, because that may take minutes */
      return -1;
    }
  for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next)
    fd = connect_socket (at->ai_family, at->ai_addr, at->ai_addrlen);
  freeaddrinfo (found);
  return fd;
}

static int
connect_one (const char *address)
{
  g_autofree char *path = dup_value (address, "path");
  g_autofree char *abstract = dup_value (address, "abstract");
  g_autofree char *host = dup_value (address, "host");
  g_autofree char *port = dup_value (address, "port");

  if (g_str_has_prefix (address, "unix:") && path != NULL)
    return connect_unix (path, false);
  if (g_str_has_prefix (address, "unix:") && abstract != NULL)
    return connect_unix (abstract, true);
  if (g_str_has_prefix (address, "tcp:") && port != NULL)
    return connect_tcp (host != NULL ? host : "127.0.0.1", port);

  errno = EPROTONOSUPPORT;
  return -1;
}

int
sysprof_bus_connect (const char *address, GError **error)
{
  g_auto (GStrv) addresses = g_strsplit (address, ";", -1);

  errno = EPROTONOSUPPORT;
  for (size_t i = 0; addresses[i] != NULL; i++)
    {
      int fd = *addresses[i] != '\0' ? connect_one (addresses[i]) : -1;

      if (fd >= 0)
        return fd;
    }

  if (errno == EPROTONOSUPPORT)
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                 "cannot reach the bus at '%s': the address is not supported. Give "
                 "unix:path=FILE, unix:abstract=NAME or tcp:host=NUMBER,port=NUMBER.",
                 address);
  else if (errno == ENOENT || errno == ECONNREFUSED)
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_PEER_GONE,
                 "cannot reach the bus at '%s': %s. No bus is running there. Start it, or "
                 "give another address.",
                 address, g_strerror (errno));
  else
    sysprof_set_error_errno (error, "cannot reach the bus at '%s'", address);
  return -1;
}

char *
sysprof_bus_dup_introduction (void)
{
  g_autofree char *uid = g_strdup_printf ("%u", geteuid ());
  GString *line = g_string_new ("AUTH EXTERNAL ");

  for (const char *at = uid; *at != '\0'; at++)
    g_string_append_printf (line, "%02x", (unsigned) *at);
  g_string_append (line, "\r\n");
  return g_string_free (line, FALSE);
}
