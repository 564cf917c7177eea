// SPDX-License-Identifier: GPL-3.0-or-later

/* Whether to write colors to a terminal. */

#pragma once

#include <stdbool.h>

/* FALSE if NO_COLOR has a value, or for a terminal without colors (TERM=dumb). The caller
 * checks that it is a terminal. */
bool sysprof_wants_color (void);
