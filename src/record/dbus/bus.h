// SPDX-License-Identifier: GPL-3.0-or-later

/* A connection to a message bus in the pump's own epoll set.
 *
 * GDBusConnection would read in a thread of its own, use unlimited memory, and parse messages
 * that we need unparsed. This connection reads when the pump has time; until then the messages
 * stay in the socket and the bus. Memory is bounded: a message that is longer than a frame of a
 * capture is skipped.
 *
 *   Bus *bus = sysprof_bus_open (context, address, &events, data, &error);
 *   sysprof_bus_call (bus, message, fd, answered, data);      queued until we are connected
 *   sysprof_bus_wait (bus, deadline, is_done, data);          outside of the loop only
 *   sysprof_bus_detach (bus);                                 in the stop phase
 *   sysprof_bus_close (bus);
 *
 * *Owned* by the pump thread, which runs all callbacks. A callback may call all functions
 * except close. */

#pragma once

#include "record/recording-context.h"

#include <gio/gio.h>

/* Longer messages are not stored: a frame has at most 16,384 bytes. */
#define BUS_MESSAGE_MAX (16384 - 28)

typedef struct Bus Bus;

typedef struct
{
  /* Every message after sysprof_bus_set_monitor(), as on the wire. `bytes` NULL: it is longer
   * than BUS_MESSAGE_MAX. `time`: ns, when the pump woke up to read it. */
  void (*message) (Bus *bus, int64_t time, const uint8_t *bytes, size_t size, void *data);
  /* A signal, before sysprof_bus_set_monitor(). */
  void (*signal) (Bus *bus, GDBusMessage *message, void *data);
  /* The connection was closed, or could not be made. All pending calls have received `error`;
   * no other callbacks follow. */
  void (*closed) (Bus *bus, const GError *error, void *data);
} BusEvents;

/* Either `reply` or `error` is set; both are borrowed. Error replies arrive as `error`. */
typedef void (*BusReplyFunc) (Bus *bus, GDBusMessage *reply, const GError *error, void *data);

/* `address`: one or several addresses, see sysprof_bus_connect(). */
Bus *sysprof_bus_open (RecordingContext *context,
                       const char *address,
                       const BusEvents *events,
                       void *data,
                       GError **error);
/* Reads the available messages, until `deadline` (ns) at most. FALSE if the time was too
 * short. */
bool sysprof_bus_drain (Bus *self, int64_t deadline);

/* Stops watching the socket; from then on only sysprof_bus_wait() reads. NULL does nothing. */
void sysprof_bus_detach (Bus *self);
/* Call this after detaching, on any thread. Pending calls are dropped without a callback. NULL
 * does nothing. */
void sysprof_bus_close (Bus *self);

/* Takes ownership of `call`. `fd` (borrowed, duplicated; -1 = none) is sent with it. There is
 * no timeout. `reply` may be NULL if the reply is not needed. */
void sysprof_bus_call (Bus *self, GDBusMessage *call, int fd, BusReplyFunc reply, void *data);

/* From the next message on, events.message receives everything, and nothing may be sent. */
void sysprof_bus_set_monitor (Bus *self);

/* The unique name of our connection; NULL before the bus has assigned it. */
const char *sysprof_bus_get_name (Bus *self);

/* Waits, outside of the loop, until `is_done` returns true, the connection closes, `deadline`
 * (ns) passes, or the end of the recording is requested. Returns the last value of
 * `is_done`. */
bool sysprof_bus_wait (Bus *self,
                       int64_t deadline,
                       bool (*is_done) (const void *data),
                       const void *data);
