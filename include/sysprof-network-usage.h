// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofNetworkUsage: bytes received and sent by each network interface. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_NETWORK_USAGE (sysprof_network_usage_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofNetworkUsage,
                            sysprof_network_usage,
                            NETWORK_USAGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records the counters "Network"/"RX Bytes" and "TX Bytes", combined and per interface, twice a
 * second: all bytes since the interface came up. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_network_usage_new (void);

G_END_DECLS
