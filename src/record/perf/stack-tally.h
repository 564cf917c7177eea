// SPDX-License-Identifier: GPL-3.0-or-later

/* How the stacks of each process were found: counted while samples are written. *Owned* by the pump thread. */

#pragma once

#include "capture/capture.h"

#include <stddef.h>
#include <stdint.h>

/* Codes of the embedded file, see docs/format.md; one of CAPTURE_FOUND_MASK that says something. Static. */
const char *sysprof_stack_found_to_string (CaptureFound found);

typedef struct StackTally StackTally;

StackTally *sysprof_stack_tally_new (void);
void sysprof_stack_tally_free (StackTally *self);

void sysprof_stack_tally_count (StackTally *self, int32_t pid, CaptureFound found);

/* That there is more to say of a sample: CaptureFound. Of a quarter of a million, and of no more. */
void sysprof_stack_tally_note (StackTally *self, int64_t time, int32_t tid, uint8_t note);
/* The embedded file CAPTURE_FOUND_FILE. Borrowed until the next note. */
const void *sysprof_stack_tally_get_notes (const StackTally *self, size_t *size);

/* A line per process, by pid: PID CODE=N … *(full)* */
char *sysprof_stack_tally_dup_text (const StackTally *self);
