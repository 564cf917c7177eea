// SPDX-License-Identifier: GPL-3.0-or-later

/* What the forms of the view `waits` share. */

#pragma once

#include "views/sample-rows.h"

/* The waits that a request selects. *Owned* by the view that fills. */
typedef struct
{
  const ViewRequest *request;
  Rows *rows;
  TimeClip clip;
  uint32_t *found; /* [n] rows of Store.waits */
  uint32_t n;
  uint8_t *is_idle;       /* [waits.events.n] */
  uint8_t *has_fence;     /* [stacks.n] a graphics device is waited for */
  uint32_t *first_thread; /* [waits.n_threads] the first row that says the same */
  const char **names;     /* [waits.n_threads] COMM/TID, made on demand */
  SyscallNames syscalls;
} SelectedWaits;

void sysprof_selected_waits_init (SelectedWaits *self, const ViewRequest *request, Rows *rows);
void sysprof_selected_waits_clear (SelectedWaits *self);
/* What its rows weigh: `total` ns. */
void sysprof_selected_waits_name_rows (const SelectedWaits *self, uint64_t total);

/* ns within the selection, of all that the wait stands for: until it was woken, and from then on. */
int64_t sysprof_selected_wait_waiting (const SelectedWaits *self, uint32_t wait);
int64_t sysprof_selected_wait_runnable (const SelectedWaits *self, uint32_t wait);

/* COMM/TID of a row of Waits.threads; of a thread that has none, "TID". In the arena of the rows. */
const char *sysprof_selected_waits_thread (SelectedWaits *self, uint32_t thread);
/* Who ended it: COMM/TID, "[interrupt]", or "". */
const char *sysprof_selected_waits_waker (SelectedWaits *self, uint32_t wait);
/* Why it waited, as reports have it. In the arena of the rows. */
const char *sysprof_selected_waits_reason (const SelectedWaits *self, uint32_t wait);

/* The other forms. */
void sysprof_waits_fill_by_thread (SelectedWaits *self);
void sysprof_waits_fill_by_lock (SelectedWaits *self);
bool sysprof_waits_fill_path (SelectedWaits *self, GError **error);
