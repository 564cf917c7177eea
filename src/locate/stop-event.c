// SPDX-License-Identifier: GPL-3.0-or-later

/* Signals the cancelation of a GCancellable through an eventfd that poll() can wait for. */

#include "locate/stop-event.h"

#include <sys/eventfd.h>
#include <unistd.h>

static void
stop_waiting (GCancellable *cancellable, const StopEvent *self)
{
  const uint64_t one = 1;

  /* if there is no descriptor, the children's timeouts end the wait */
  (void) !write (self->fd, &one, sizeof one);
}

void
sysprof_stop_event_init (StopEvent *self, GCancellable *cancellable)
{
  /* g_cancellable_get_fd() would abort the program if no descriptor is available. */
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
    (void) close (self->fd); /* the descriptor has no reader any more */
  self->fd = -1;
}
