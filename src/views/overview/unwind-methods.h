// SPDX-License-Identifier: GPL-3.0-or-later

/* How the stacks of each process were unwound, as the recorder wrote it. */

#pragma once

#include "store/store.h"

/* pid → text such as "tables 93 %, copies 7 %". Processes without a record are missing.
 * *(full)* */
GHashTable *sysprof_unwind_methods_load (Store *store);
