// SPDX-License-Identifier: GPL-3.0-or-later

/* A descriptor that becomes readable once somebody cancels: who waits for a child that opens or parses files waits for that, too. */

#pragma once

#include <gio/gio.h>

typedef struct
{
  int fd; /* -1 = there is none left: children have their patience */
  GCancellable *cancellable;
  gulong handler;
} StopEvent;

/* It must stay where it is until it is cleared. `cancellable`: borrowed, or NULL. */
void sysprof_stop_event_init (StopEvent *self, GCancellable *cancellable);
void sysprof_stop_event_clear (StopEvent *self);
