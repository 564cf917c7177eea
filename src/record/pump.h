// SPDX-License-Identifier: GPL-3.0-or-later

/* The pump: one thread, one epoll set, one writer. It owns every source of a recording and the writer while the
 * recording runs; nothing in it blocks. *Owned* by the pump thread, but for sysprof_pump_invoke(). */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>

typedef struct Pump Pump;

typedef void (*PumpReadyFunc) (Pump *pump, int fd, void *data);
typedef void (*PumpTickFunc) (Pump *pump, int64_t now, void *data); /* `now`: ns, CLOCK_MONOTONIC */
typedef void (*PumpFunc) (Pump *pump, void *data);

/* The writer that all sources share. */
SysprofCaptureWriter *sysprof_pump_get_writer (Pump *self);

/* Calls `ready` when `fd` (borrowed) is readable or hung up. */
void sysprof_pump_watch_fd (Pump *self, int fd, PumpReadyFunc ready, void *data);
void sysprof_pump_unwatch_fd (Pump *self, int fd);

/* Calls `tick` at once when recording begins, then every `interval` ns. All ticks share one timer, so that equal
 * intervals fall on the same wake-up. */
void sysprof_pump_add_tick (Pump *self, int64_t interval, PumpTickFunc tick, void *data);

/* From any thread: runs `func` on the pump thread soon. */
void sysprof_pump_invoke (Pump *self, PumpFunc func, void *data);

/* From any thread: a diagnostic for the person who records. `fatal` ends the recording. */
void sysprof_pump_report (Pump *self, const char *domain, bool fatal, const char *format, ...) G_GNUC_PRINTF (4, 5);

/* Asks the recording to end, as SIGINT would. */
void sysprof_pump_request_stop (Pump *self);

/* What was dropped, of whatever kind: counted, shown at the end, written to the capture. */
void sysprof_pump_add_lost (Pump *self, uint64_t n);
