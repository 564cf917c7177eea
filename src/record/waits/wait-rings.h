// SPDX-License-Identifier: GPL-3.0-or-later

/* The rings into which the programs that watch the scheduler write, mapped. *Owned* by the pump thread. */

#pragma once

#include "bpf/bpf.h"

#include <glib.h>
#include <stdbool.h>

typedef struct WaitRings WaitRings;

/* Maps what the program shares (borrowed). NULL with `error`. */
WaitRings *sysprof_wait_rings_new (const WaitsProgram *program, GError **error);
/* For tests: [n] rings in memory, of `size` bytes of data. */
WaitRings *sysprof_wait_rings_new_in_memory (unsigned n, uint32_t size);
void sysprof_wait_rings_free (WaitRings *self);

WaitsControl *sysprof_wait_rings_get_control (WaitRings *self);
WaitsRing *sysprof_wait_rings_get_ring (WaitRings *self, unsigned i);

/* Called for each record, whose size is that of its kind at least. Stacks and threads come before the waits in which they are named,
 * whichever ring they are in. */
typedef void (*WaitRecordFunc) (const WaitsHead *record, void *data);

/* Gives everything that is there. FALSE: a ring does not hold what a program would write; what was in it is left out. */
bool sysprof_wait_rings_drain (WaitRings *self, WaitRecordFunc func, void *data);

/* How full the fullest of them was when they were given the last time: 0 … 1. */
double sysprof_wait_rings_get_fill (const WaitRings *self);
/* Bytes that each has room for. */
uint32_t sysprof_wait_rings_get_size (const WaitRings *self);

/* Records that found no room, and switches that there was no memory for, so far. */
uint64_t sysprof_wait_rings_count_lost (const WaitRings *self);
/* Switches that the kernel did not run the program for, so far: where one CPU was told to leave another thread than it had come to. Up
 * to two waits are missing for each. */
uint64_t sysprof_wait_rings_count_unseen (const WaitRings *self);
