// SPDX-License-Identifier: GPL-3.0-or-later

/* A D-Bus message that is sent when this process exits in any way, unless it was canceled
 * before. It restores changed settings even if the recorder is killed. A child process in a
 * session of its own waits and sends it. */

#pragma once

#include <gio/gio.h>

typedef struct DeferredBusMessage DeferredBusMessage;

/* Sets the serial of `message` (borrowed). NULL with `error` if no child can be started. */
DeferredBusMessage *
sysprof_deferred_bus_message_new (const char *address, GDBusMessage *message, GError **error);

/* Cancels the message. NULL does nothing. */
void sysprof_deferred_bus_message_cancel (DeferredBusMessage *self);

/* Sends the message now. NULL does nothing. */
void sysprof_deferred_bus_message_send (DeferredBusMessage *self);
