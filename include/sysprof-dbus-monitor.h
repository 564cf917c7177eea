// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDBusMonitor: all messages of a message bus. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DBUS_MONITOR (sysprof_dbus_monitor_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofDBusMonitor,
                            sysprof_dbus_monitor,
                            DBUS_MONITOR,
                            SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_dbus_monitor_new (GBusType bus_type);

/* The same for the bus at `bus_address`. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_dbus_monitor_new_for_bus_address (const char *bus_address);

/* The bus; G_BUS_TYPE_NONE if the monitor was created for an address. Property "bus-type". */
SYSPROF_AVAILABLE_IN_ALL
GBusType sysprof_dbus_monitor_get_bus_type (SysprofDBusMonitor *self);

/* The address of the bus; NULL if the monitor was created for a bus type. Property
 * "bus-address". *(none)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_dbus_monitor_get_bus_address (SysprofDBusMonitor *self);

G_END_DECLS
