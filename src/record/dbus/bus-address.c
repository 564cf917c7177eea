// SPDX-License-Identifier: GPL-3.0-or-later

/* Addresses of the usual message buses, and messages for people about connecting to one.
 *
 * This file must not use GLib's functions for D-Bus addresses: they may start programs
 * (dbus-launch) or query name servers, and block. */

#include "record/dbus/bus-address.h"

#include "dbus/dbus.h"
#include "util/util.h"

#include <errno.h>

#define SYSTEM_BUS "unix:path=/var/run/dbus/system_bus_socket"

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

int
sysprof_bus_connect (const char *address, GError **error)
{
  int fd = sysprof_dbus_connect (address);

  if (fd >= 0)
    return fd;

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
