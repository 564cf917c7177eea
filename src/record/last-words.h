// SPDX-License-Identifier: GPL-3.0-or-later

/* A D-Bus message that is sent when this process exits in any way, unless it was canceled
 * before. It restores changed settings even if the recorder is killed. A child process in a
 * session of its own waits and sends it. */

#pragma once

#include <gio/gio.h>

typedef struct LastWords LastWords;

/* Sets the serial of `message` (borrowed). NULL with `error` if no child can be started. */
LastWords *sysprof_last_words_new (const char *address, GDBusMessage *message, GError **error);

/* Cancels the message. NULL does nothing. */
void sysprof_last_words_take_back (LastWords *self);

/* Sends the message now. NULL does nothing. */
void sysprof_last_words_say (LastWords *self);
