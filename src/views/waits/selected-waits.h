// SPDX-License-Identifier: GPL-3.0-or-later

/* What the forms of the view `waits` share. */

#pragma once

#include "views/sample-rows.h"
#include "views/waits/callers.h"

/* The waits that a request selects. *Owned* by the view that fills. */
typedef struct
{
  const ViewRequest *request;
  Rows *rows;
  TimeClip clip;
  uint32_t *found; /* [n] rows of Store.waits */
  uint32_t n;
  uint8_t *is_idle;       /* [waits.events.n] */
  uint8_t *has_fence;     /* [stacks.n] whether the stack waits for a graphics device */
  uint32_t *first_thread; /* [waits.n_threads] first row with the same content */
  const char **names;     /* [waits.n_threads] COMM/TID, created on demand */
  SyscallNames syscalls;
  StackCallers callers;
} SelectedWaits;

void sysprof_selected_waits_init (SelectedWaits *self, const ViewRequest *request, Rows *rows);
void sysprof_selected_waits_clear (SelectedWaits *self);
/* Sets the weight of the rows: `total` nanoseconds. */
void sysprof_selected_waits_name_rows (const SelectedWaits *self, uint64_t total);

/* Nanoseconds within the selection, of all waits that this one represents: until the
 * wake-up, and after it. */
int64_t sysprof_selected_wait_waiting (const SelectedWaits *self, uint32_t wait);
int64_t sysprof_selected_wait_runnable (const SelectedWaits *self, uint32_t wait);

/* COMM/TID of a row of Waits.threads; "TID" if the name is unknown. In the arena of the
 * rows. */
const char *sysprof_selected_waits_thread (SelectedWaits *self, uint32_t thread);
/* What ended the wait: COMM/TID, "[interrupt]" or "". */
const char *sysprof_selected_waits_waker (SelectedWaits *self, uint32_t wait);
/* Reason of the wait for reports. In the arena of the rows. */
const char *sysprof_selected_waits_reason (const SelectedWaits *self, uint32_t wait);

/* [waits.events.n] 1 for waits for the end of another thread. *(full)* */
uint8_t *sysprof_selected_waits_find_joins (const SelectedWaits *self);

/* The other forms. */
void sysprof_waits_fill_by_cause (SelectedWaits *self);
void sysprof_waits_fill_by_thread (SelectedWaits *self);
void sysprof_waits_fill_by_lock (SelectedWaits *self);
bool sysprof_waits_fill_path (SelectedWaits *self, GError **error);
