// SPDX-License-Identifier: GPL-3.0-or-later

/* bpf: what runs in the kernel, how it is loaded, and the layout of what it shares with us. Plain C.
 *
 * layout.h: tables, mappings, processes, reasons. walk-step.h: one step of a walk, compiled into the program in the kernel
 * and, where WALK_STEP_WANTED is defined, into a walker outside. */

#pragma once

#include "bpf/layout.h"

#ifdef WALK_STEP_WANTED
#  include "bpf/walk-step.h"
#endif
