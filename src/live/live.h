// SPDX-License-Identifier: GPL-3.0-or-later

/* live: the last seconds of a running recording as a capture of its own, for live views.
 *
 * Keeps only the state from before the window: living processes, their mappings, definitions of
 * counters, and names of generated code. Drops older events. So neither memory nor the time of
 * an update grow with the recording. *Owned* by one thread. */

#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct LiveWindow LiveWindow;

/* Returns whether `pid` is a living process, and not a thread. */
typedef bool (*LiveIsProcessFunc) (int32_t pid);

/* A LiveIsProcessFunc for processes of this machine. */
bool sysprof_live_is_process (int32_t pid);

/* `length`: ns. */
LiveWindow *sysprof_live_window_new (int64_t length, LiveIsProcessFunc is_process);
void sysprof_live_window_free (LiveWindow *self);

/* Reads the frames that were added to the capture in `fd` since the last call. Returns FALSE
 * with `error`. */
bool sysprof_live_window_read (LiveWindow *self, int fd, GError **error);
/* ns between the first and the last event; near 0 at the start of a recording. */
int64_t sysprof_live_window_get_span (const LiveWindow *self);
/* Bytes from the beginning of the file that were read and are not needed again. */
int64_t sysprof_live_window_get_offset (const LiveWindow *self);

/* Returns a capture of the window that ends at `now` (ns, CLOCK_MONOTONIC), in which `symbols`
 * and `unnamed` (nullable), the names found earlier, are embedded. The caller closes the
 * descriptor. Returns -1 with `error`. */
int sysprof_live_window_make_capture (LiveWindow *self,
                                      int64_t now,
                                      GBytes *symbols,
                                      GBytes *unnamed,
                                      GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LiveWindow, sysprof_live_window_free)
