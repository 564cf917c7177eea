// SPDX-License-Identifier: GPL-3.0-or-later

/* The memory-mapped rings that the BPF programs of the wait recorder write. *Owned* by the pump
 * thread. */

#pragma once

#include "bpf/bpf.h"

#include <glib.h>
#include <stdbool.h>

typedef struct WaitRings WaitRings;

/* Maps the rings and the control block of `program` (borrowed). NULL with `error`. */
WaitRings *sysprof_wait_rings_new (const WaitsProgram *program, GError **error);
/* For tests: [n] rings in memory, each with `size` bytes of data. */
WaitRings *sysprof_wait_rings_new_in_memory (unsigned n, uint32_t size);
void sysprof_wait_rings_free (WaitRings *self);

WaitsControl *sysprof_wait_rings_get_control (WaitRings *self);
WaitsRing *sysprof_wait_rings_get_ring (WaitRings *self, unsigned i);

/* Called for each record, which is at least as long as its kind requires. Stacks and threads
 * are delivered before the waits that refer to them, even across rings. */
typedef void (*WaitRecordFunc) (const WaitsHead *record, void *data);

/* Delivers all records. FALSE: a ring contained an invalid record, and the rest of its content
 * was skipped. */
bool sysprof_wait_rings_drain (WaitRings *self, WaitRecordFunc func, void *data);

/* How full the fullest ring was at the last drain: 0 … 1. */
double sysprof_wait_rings_get_fill (const WaitRings *self);
/* Bytes of data that each ring can hold. */
uint32_t sysprof_wait_rings_get_size (const WaitRings *self);

/* Records that did not fit so far, and switches for which the program had no memory. */
uint64_t sysprof_wait_rings_count_lost (const WaitRings *self);
/* Switches for which the kernel did not run the program so far. They are detected when a CPU
 * leaves another thread than it had switched to. Up to two waits are missing for each. */
uint64_t sysprof_wait_rings_count_unseen (const WaitRings *self);
