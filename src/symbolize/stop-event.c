// SPDX-License-Identifier: GPL-3.0-or-later

#include "symbolize/stop-event.h"

#include <sys/eventfd.h>
#include <unistd.h>

static void
stop_waiting (GCancellable *cancellable, const StopEvent *self)
{
  const uint64_t one = 1;

  (void) !write (self->fd, &one, sizeof one); /* not there: the children have their patience */
}

void
sysprof_stop_event_init (StopEvent *self, GCancellable *cancellable)
{
  /* GCancellable's own descriptor ends the program where there is none left. */
  *self =
      (StopEvent){ .fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK), .cancellable = cancellable };
  if (cancellable != NULL)
    self->handler = g_cancellable_connect (cancellable, G_CALLBACK (stop_waiting), self, NULL);
}

void
sysprof_stop_event_clear (StopEvent *self)
{
  g_cancellable_disconnect (self->cancellable, self->handler);
  if (self->fd >= 0)
    (void) close (self->fd); /* nobody listens */
  self->fd = -1;
}
