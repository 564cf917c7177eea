// SPDX-License-Identifier: GPL-3.0-or-later

/* The last seconds of a recording that goes on, as a capture of their own: for what is shown live.
 *
 * Of what was recorded before, only what says how things are is kept (processes that live, what they have mapped,
 * definitions of counters, names of generated code); events older than the window are forgotten. So memory and the time it
 * takes to look do not grow with the recording. *Owned* by one thread. */

#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct LiveWindow LiveWindow;

/* Whether that number is a process that lives, rather than a thread or nothing. */
typedef bool (*LiveIsProcessFunc) (int32_t pid);

/* `length` in ns. */
LiveWindow *sysprof_cli_live_window_new (int64_t length, LiveIsProcessFunc is_process);
void sysprof_cli_live_window_free (LiveWindow *self);

/* Reads what the capture in `fd` has more than at the last call. FALSE with `error`. */
bool sysprof_cli_live_window_read (LiveWindow *self, int fd, GError **error);
/* From the first to the last event, ns: in the beginning nearly nothing is written. */
int64_t sysprof_cli_live_window_get_span (const LiveWindow *self);
/* How much of the file was read, and will not be read again: bytes, from its beginning. */
int64_t sysprof_cli_live_window_get_offset (const LiveWindow *self);

/* A capture of what happened in the window that ends at `now` (ns, CLOCK_MONOTONIC), with `symbols` and `unnamed` (nullable), the
 * names found earlier, embedded. A descriptor of the caller's, or -1 with `error`. */
int sysprof_cli_live_window_make_capture (LiveWindow *self,
                                          int64_t now,
                                          GBytes *symbols,
                                          GBytes *unnamed,
                                          GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LiveWindow, sysprof_cli_live_window_free)
