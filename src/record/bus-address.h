// SPDX-License-Identifier: GPL-3.0-or-later

/* Where message buses are, and reaching them. */

#pragma once

#include <gio/gio.h>

/* The address of the session's or the system's bus: from the environment, else where it always is. *(full)*; NULL with
 * `error` when there is none. */
char *sysprof_bus_dup_address (GBusType type, GError **error);

/* A socket, which does not block, to the first of the addresses in `address` that answers. A bus in another machine gets
 * at most two seconds to. -1 with `error`. */
int sysprof_bus_connect (const char *address, GError **error);

/* The line with which we say to a bus who we are: the user of the socket. *(full)* */
char *sysprof_bus_dup_introduction (void);
