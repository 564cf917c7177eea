// SPDX-License-Identifier: GPL-3.0-or-later

/* Where the kernel's code has what tells one wait from another: its entries for interrupts and for page faults. */

#pragma once

#include "bpf/bpf.h"
#include "util/util.h"

/* Fills in what /proc/kallsyms, whose lines are `text`, knows of; what it does not stays not known. */
void sysprof_kernel_code_find (WaitsControl *control, Text text);
