// SPDX-License-Identifier: GPL-3.0-or-later

/* Rights from the privileged service, sysprofd. The user may be asked for a password. */

#pragma once

#include "access/access.h"
#include "record/pump.h"

/* Returns a socket that lends rights (rights/rights.h), or -1. Then `*older` is a service of
 * another generation *(full)*, or NULL with `*reason`, a sentence about why there is none;
 * NULL = no service is installed. Waits for the user until a stop of `pump` is requested. */
int sysprof_service_connect (Pump *pump, OlderService **older, char **reason);
