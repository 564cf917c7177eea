// SPDX-License-Identifier: GPL-3.0-or-later

/* waits: the records that the BPF program bpf/waits writes at context switches and wake-ups, to
 * the embedded file of waits.
 *
 *   wait-rings.h   maps and drains the rings of the program
 *   wait-log.h     numbers threads and stacks, adds up how long threads ran
 *   wait-stream.h  writes the entries of the embedded file
 *   kernel-code.h  kernel functions by which waits are classified
 *
 * *Owned* by the thread that drains the rings. */

#pragma once

#include "waits/kernel-code.h"
#include "waits/wait-log.h"
#include "waits/wait-rings.h"
