// SPDX-License-Identifier: GPL-3.0-or-later

/* Whether a terminal is to be written to in colours. */

#pragma once

#include <stdbool.h>

/* Not where NO_COLOR has a value, nor on a terminal that knows none (TERM=dumb). That it is a terminal, the caller knows. */
bool sysprof_wants_color (void);
