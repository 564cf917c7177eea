// SPDX-License-Identifier: GPL-3.0-or-later

/* Counts, for each process, how the stacks were found, while samples are written. *Owned* by
 * the pump thread. */

#pragma once

#include "capture/capture.h"

#include <stddef.h>
#include <stdint.h>

/* The code of the embedded file for a value of CAPTURE_FOUND_MASK other than
 * CAPTURE_FOUND_UNSAID; see docs/format.md. Static. */
const char *sysprof_stack_found_to_string (CaptureFound found);

typedef struct StackTally StackTally;

StackTally *sysprof_stack_tally_new (void);
void sysprof_stack_tally_free (StackTally *self);

void sysprof_stack_tally_count (StackTally *self, int32_t pid, CaptureFound found);

/* Stores a note (CaptureFound) for one sample. Only the first 262,144 notes are kept. */
void sysprof_stack_tally_note (StackTally *self, int64_t time, int32_t tid, uint8_t note);
/* The content of the embedded file CAPTURE_FOUND_FILE. Borrowed until the next note. */
const void *sysprof_stack_tally_get_notes (const StackTally *self, size_t *size);

/* One line per process, sorted by pid: PID CODE=N … *(full)* */
char *sysprof_stack_tally_dup_text (const StackTally *self);
