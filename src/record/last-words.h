// SPDX-License-Identifier: GPL-3.0-or-later

/* A message to a bus that is sent when this process has gone, however it went, and has not taken it back: what was changed is
 * put back also when we are killed. A child, in a session of its own, waits for that. */

#pragma once

#include <gio/gio.h>

typedef struct LastWords LastWords;

/* `message` (borrowed) gets a serial. NULL with `error` when there can be no child. */
LastWords *sysprof_last_words_new (const char *address, GDBusMessage *message, GError **error);

/* They are not sent any more. NULL does nothing. */
void sysprof_last_words_take_back (LastWords *self);

/* They are sent now. NULL does nothing. */
void sysprof_last_words_say (LastWords *self);
