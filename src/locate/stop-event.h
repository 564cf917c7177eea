// SPDX-License-Identifier: GPL-3.0-or-later

/* A descriptor that becomes readable once a GCancellable is canceled. Code that waits for a
 * child that opens or parses files also waits for it. */

#pragma once

#include <gio/gio.h>

typedef struct
{
  int fd; /* -1 = no descriptor was available; children still have timeouts */
  GCancellable *cancellable;
  gulong handler;
} StopEvent;

/* The structure must not move until it is cleared. `cancellable`: borrowed, or NULL. */
void sysprof_stop_event_init (StopEvent *self, GCancellable *cancellable);
void sysprof_stop_event_clear (StopEvent *self);
