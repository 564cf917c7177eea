// SPDX-License-Identifier: GPL-3.0-or-later

/* How the stacks of each process were found, as who recorded them says. */

#pragma once

#include "store/store.h"

/* pid → text for people, "tables 93 %, copies 7 %"; what stands behind "PID " in the capture. Empty where nobody said. *(full)* */
GHashTable *sysprof_unwind_methods_load (Store *store);
