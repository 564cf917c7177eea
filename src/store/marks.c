// SPDX-License-Identifier: GPL-3.0-or-later

/* Marks: spans of time with names. */

#include "store/builder.h"

void
sysprof_builder_read_marks (Builder *self)
{
  Store *store = self->store;
  const FrameList *frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_MARK];
  size_t left_until = 0;

  store->marks = g_new (Mark, frames->n);
  for (uint32_t i = 0; i < frames->n && sysprof_builder_goes_on (self, i, frames->n); i++)
    {
      FrameNo number = frames->frame[i];
      Frame frame = sysprof_builder_next_frame (self, number, &left_until);

      store->marks[i] = (Mark){
        .time = store->frames.time[number],
        .duration = sysprof_frame_i64 (&frame, 24),
        .pid = store->frames.pid[number],
        .cpu = store->frames.cpu[number],
        .group = sysprof_store_intern (store, sysprof_frame_field (&frame, 32, 24)),
        .name = sysprof_store_intern (store, sysprof_frame_field (&frame, 56, 40)),
        .message = sysprof_store_intern (store, sysprof_frame_text (&frame, 96)),
      };
    }

  store->n_marks = frames->n;
}
