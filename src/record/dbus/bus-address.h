// SPDX-License-Identifier: GPL-3.0-or-later

/* Addresses of message buses, and connecting to them. */

#pragma once

#include <gio/gio.h>

/* The address of the session bus or the system bus: from the environment, else the default.
 * NULL with `error` if there is none. *(full)* */
char *sysprof_bus_dup_address (GBusType type, GError **error);

/* Returns a non-blocking socket that is connected to the first address in `address` that
 * answers. A remote bus has at most two seconds to answer. -1 with `error`. */
int sysprof_bus_connect (const char *address, GError **error);
