// SPDX-License-Identifier: GPL-3.0-or-later

/* Addresses of message buses: a list of METHOD:KEY=VALUE,KEY=VALUE, separated by semicolons.
 * Bytes of values may be escaped as %41. */

#include "dbus/dbus.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECT_MSEC 2000
#define MOST_VALUE   256 /* bytes; longer than every path of a socket */

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

static bool
wait_for_connection (int fd)
{
  struct pollfd ready = { .fd = fd, .events = POLLOUT };
  int number = ETIMEDOUT;
  socklen_t size = sizeof number;

  if (poll (&ready, 1, CONNECT_MSEC) == 1 &&
      getsockopt (fd, SOL_SOCKET, SO_ERROR, &number, &size) != 0)
    number = errno;
  errno = number;
  return number == 0;
}

static int
connect_socket (int family, const struct sockaddr *address, socklen_t size)
{
  int fd = socket (family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int saved;

  if (fd < 0)
    return -1;
  if (connect (fd, address, size) == 0 ||
      (errno == EAGAIN && connect_patiently (fd, address, size)) ||
      (errno == EINPROGRESS && wait_for_connection (fd)))
    return fd;

  saved = errno;
  (void) close (fd);
  errno = saved;
  return -1;
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

  /* an abstract name starts with a NUL, a path ends with one */
  memcpy (address.sun_path + is_abstract, name, length);
  return connect_socket (AF_UNIX, (const struct sockaddr *) &address,
                         (socklen_t) (offsetof (struct sockaddr_un, sun_path) + length + 1));
}

static int
connect_tcp (const char *host, const char *port)
{
  const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
  struct addrinfo *found = NULL;
  int fd = -1;

  if (strcmp (host, "localhost") == 0)
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

/* Returns the value of a hexadecimal digit; -1 if it is none. */
static int
hex_value (char digit)
{
  static const char digits[] = "0123456789abcdef";
  const char *found = digit != '\0' ? strchr (digits, digit | 0x20) : NULL;

  return found != NULL ? (int) (found - digits) : -1;
}

/* Replaces %41 by the byte. FALSE if an escape is invalid or the result too long. */
static bool
unescape (const char *text, size_t size, char *value)
{
  size_t n = 0;

  for (size_t i = 0; i < size; i++)
    {
      char byte = text[i];

      if (byte == '%')
        {
          int high = i + 2 < size ? hex_value (text[i + 1]) : -1;
          int low = i + 2 < size ? hex_value (text[i + 2]) : -1;

          if (high < 0 || low < 0 || high + low == 0)
            return false;
          byte = (char) (high << 4 | low);
          i += 2;
        }
      if (n + 1 >= MOST_VALUE)
        return false;
      value[n++] = byte;
    }
  value[n] = '\0';
  return true;
}

/* Copies the unescaped value of `key` in one address. */
static bool
find_value (const char *address, size_t size, const char *key, char *value)
{
  const char *end = address + size;
  const char *at = memchr (address, ':', size);
  size_t length = strlen (key);

  while (at != NULL && ++at < end)
    {
      const char *comma = memchr (at, ',', (size_t) (end - at));
      const char *pair_end = comma != NULL ? comma : end;

      if ((size_t) (pair_end - at) > length && memcmp (at, key, length) == 0 &&
          at[length] == '=')
        return unescape (at + length + 1, (size_t) (pair_end - at) - length - 1, value);
      at = comma;
    }
  return false;
}

static bool
has_method (const char *address, size_t size, const char *method)
{
  return size > strlen (method) && memcmp (address, method, strlen (method)) == 0;
}

static int
connect_one (const char *address, size_t size)
{
  char value[MOST_VALUE], port[MOST_VALUE];

  if (has_method (address, size, "unix:") && find_value (address, size, "path", value))
    return connect_unix (value, false);
  if (has_method (address, size, "unix:") && find_value (address, size, "abstract", value))
    return connect_unix (value, true);
  if (has_method (address, size, "tcp:") && find_value (address, size, "port", port))
    return connect_tcp (find_value (address, size, "host", value) ? value : "127.0.0.1", port);

  errno = EPROTONOSUPPORT;
  return -1;
}

int
sysprof_dbus_connect (const char *addresses)
{
  errno = EPROTONOSUPPORT;
  for (const char *at = addresses; *at != '\0';)
    {
      size_t size = strcspn (at, ";");
      int fd = size > 0 ? connect_one (at, size) : -1;

      if (fd >= 0)
        return fd;
      at += size + (at[size] == ';');
    }
  return -1;
}

/* The user ID as decimal digits, each of them as two hexadecimal digits. */
void
sysprof_dbus_introduce (char line[BUS_INTRODUCTION_SIZE])
{
  char uid[16];
  size_t n = (size_t) snprintf (line, BUS_INTRODUCTION_SIZE, "AUTH EXTERNAL ");

  (void) snprintf (uid, sizeof uid, "%u", geteuid ());
  for (const char *at = uid; *at != '\0'; at++)
    n += (size_t) snprintf (line + n, BUS_INTRODUCTION_SIZE - n, "%02x", (unsigned) *at);
  (void) snprintf (line + n, BUS_INTRODUCTION_SIZE - n, "\r\n");
}
