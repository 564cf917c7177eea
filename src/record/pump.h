// SPDX-License-Identifier: GPL-3.0-or-later

/* The pump: the event loop of a recording. It waits for descriptors and ticks, does pending
 * work in slices, and runs calls from other threads. A source must not block. *Owned* by the
 * pump thread, except for the functions marked "from any thread". */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Pump Pump;
/* The argument of all callbacks (record/recording-context.h). */
typedef struct RecordingContext RecordingContext;

typedef void (*PumpReadyFunc) (RecordingContext *context, int fd, void *data);
/* `now`: ns, CLOCK_MONOTONIC */
typedef void (*PumpTickFunc) (RecordingContext *context, int64_t now, void *data);
typedef void (*PumpFunc) (RecordingContext *context, void *data);
typedef bool (*PumpWorkFunc) (RecordingContext *context, int64_t deadline, void *data);

/* `context` is borrowed. */
Pump *sysprof_pump_new (RecordingContext *context);
/* Call this before the functions below. */
bool sysprof_pump_open (Pump *self, GError **error);
void sysprof_pump_free (Pump *self);

/* Calls `ready` when `fd` (borrowed) is readable or hung up. */
void sysprof_pump_watch_fd (Pump *self, int fd, PumpReadyFunc ready, void *data);
void sysprof_pump_unwatch_fd (Pump *self, int fd);

/* Calls `tick` at once when the recording starts, then every `interval` ns. All ticks share one
 * timer, so that equal intervals share their wake-ups. */
void sysprof_pump_add_tick (Pump *self, int64_t interval, PumpTickFunc tick, void *data);
void sysprof_pump_remove_tick (Pump *self, PumpTickFunc tick, void *data);
/* Changes the interval of `tick` from now on. `tick` itself may call this. */
void sysprof_pump_change_tick (Pump *self, int64_t interval, PumpTickFunc tick, void *data);

/* The recording began at `begin` (ns): all ticks are due. Ticks that are added later are due at
 * once. */
void sysprof_pump_start_ticks (Pump *self, int64_t begin);

/* Calls `work` whenever nothing else is due, until it returns FALSE. `work` must return before
 * `deadline` (ns), which is a few milliseconds ahead, so that the rings are drained in time. */
void sysprof_pump_add_work (Pump *self, PumpWorkFunc work, void *data);

/* Waits until something is due, at most until `deadline`, and runs it. */
void sysprof_pump_dispatch (Pump *self, int64_t deadline);

/* From any thread: runs `func` on the pump thread soon. FALSE if the recording has ended;
 * `func` does not run then. */
bool sysprof_pump_invoke (Pump *self, PumpFunc func, void *data);
/* Runs the calls that other threads have queued so far. */
void sysprof_pump_run_invoked (Pump *self);
/* Runs the queued calls. Calls that are queued later never run. */
void sysprof_pump_close_invoked (Pump *self);

/* From any thread: requests the end of the recording, as SIGINT does. */
void sysprof_pump_request_stop (Pump *self);
/* From any thread: whether the end of the recording was requested. Code that waits outside of
 * the loop checks this from time to time. */
bool sysprof_pump_is_stop_requested (Pump *self);
