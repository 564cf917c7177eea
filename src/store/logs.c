// SPDX-License-Identifier: GPL-3.0-or-later

/* Logs: what programs and the system said. */

#include "store/builder.h"

void
sysprof_builder_read_logs (Builder *self)
{
  Store *store = self->store;
  const FrameList *frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_LOG];
  size_t left_until = 0;

  store->logs = g_new (Log, frames->n);
  for (uint32_t i = 0; i < frames->n && sysprof_builder_goes_on (self, i, frames->n); i++)
    {
      FrameNo number = frames->frame[i];
      Frame frame = sysprof_builder_next_frame (self, number, &left_until);

      store->logs[i] = (Log){
        .time = store->frames.time[number],
        .pid = store->frames.pid[number],
        .cpu = store->frames.cpu[number],
        .severity = sysprof_frame_u16 (&frame, 24),
        .domain = sysprof_store_intern (store, sysprof_frame_field (&frame, 32, 32)),
        .message = sysprof_store_intern (store, sysprof_frame_text (&frame, 64)),
      };
    }

  store->n_logs = frames->n;
}
