// SPDX-License-Identifier: GPL-3.0-or-later

/* A connection to a message bus in the pump's own epoll set.
 *
 * GLib's would read in a thread of its own, without an end and into ever more memory, and takes messages apart which we
 * keep as they are. This one reads when the pump finds time for it; until then the bus waits. What it holds is bounded:
 * a message that is longer than a capture's frame is passed over.
 *
 *   Bus *bus = sysprof_bus_open (pump, address, &events, data, &error);
 *   sysprof_bus_call (bus, message, fd, answered, data);      it waits until the bus knows us
 *   sysprof_bus_wait (bus, deadline, is_done, data);          outside of the loop only
 *   sysprof_bus_detach (bus);                                 in the stop phase
 *   sysprof_bus_close (bus);
 *
 * *Owned* by the pump thread, on which all callbacks come. A callback may call all functions but close. */

#pragma once

#include "record/pump.h"

#include <gio/gio.h>

/* Longer messages are never stored: a frame of a recording has at most 16384 bytes. */
#define BUS_MESSAGE_MAX (16384 - 28)

typedef struct Bus Bus;

typedef struct
{
  /* Every message that arrives once sysprof_bus_set_monitor() was called, as on the wire. `bytes` NULL: it is longer
   * than BUS_MESSAGE_MAX. `time`: ns, when the pump woke up to read it. */
  void (*message) (Bus *bus, int64_t time, const uint8_t *bytes, size_t size, void *data);
  /* A signal, before that. */
  void (*signal) (Bus *bus, GDBusMessage *message, void *data);
  /* The connection has ended, or could not be: nothing comes any more. All calls that wait have got `error`. */
  void (*closed) (Bus *bus, const GError *error, void *data);
} BusEvents;

/* `reply` or `error`; both borrowed. An error that the other side sent is an `error`. */
typedef void (*BusReplyFunc) (Bus *bus, GDBusMessage *reply, const GError *error, void *data);

/* `address`: of one bus or several, see sysprof_bus_connect(). */
Bus *sysprof_bus_open (Pump *pump,
                       const char *address,
                       const BusEvents *events,
                       void *data,
                       GError **error);
/* Reads what is there now, until `deadline` (ns) at most. FALSE when that was not enough time. */
bool sysprof_bus_drain (Bus *self, int64_t deadline);

/* The pump looks at it no more; from then on only sysprof_bus_wait() does. NULL does nothing. */
void sysprof_bus_detach (Bus *self);
/* Once detached, on any thread. What still waits for a reply is forgotten. NULL does nothing. */
void sysprof_bus_close (Bus *self);

/* Takes `call`. `fd` (borrowed, duplicated; -1 = none) goes with it. There is no time limit. `reply` may be NULL: then none
 * is wanted. */
void sysprof_bus_call (Bus *self, GDBusMessage *call, int fd, BusReplyFunc reply, void *data);

/* From the next message on everything goes to events.message, and nothing may be sent any more. */
void sysprof_bus_set_monitor (Bus *self);

/* What the bus calls us; NULL as long as it does not know us. */
const char *sysprof_bus_get_name (Bus *self);

/* Waits, outside of the loop, until `is_done` says so, the connection ends, `deadline` (ns) passes, or the recording is to end
 * altogether. Whether it is done. */
bool sysprof_bus_wait (Bus *self,
                       int64_t deadline,
                       bool (*is_done) (const void *data),
                       const void *data);
