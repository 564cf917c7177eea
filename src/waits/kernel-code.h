// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds kernel functions by which waits are classified: the entries for interrupts and page
 * faults, and the exit to user mode. */

#pragma once

#include "bpf/bpf.h"
#include "util/util.h"

/* Fills in the address ranges that /proc/kallsyms, whose lines are `text`, contains. Other
 * ranges stay unknown. */
void sysprof_kernel_code_find (WaitsControl *control, Text text);
