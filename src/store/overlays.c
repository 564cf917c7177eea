// SPDX-License-Identifier: GPL-3.0-or-later

/* Directories of the host that replace those of a process. They are few, so their texts stay
 * in the file. */

#include "store/builder.h"

#define LAYER_AT       24
#define SOURCE_SIZE_AT 28
#define TARGET_SIZE_AT 30
#define TEXTS_AT       32

uint32_t
sysprof_store_count_overlays (const Store *self)
{
  return self->frames_of_type[SYSPROF_CAPTURE_FRAME_OVERLAY].n;
}

bool
sysprof_store_read_overlay (const Store *self, uint32_t i, Overlay *overlay)
{
  FrameNo number = self->frames_of_type[SYSPROF_CAPTURE_FRAME_OVERLAY].frame[i];
  Frame frame = sysprof_store_frame (self, number);
  size_t source_size = sysprof_frame_count (&frame, SOURCE_SIZE_AT, TEXTS_AT, 1);
  size_t target_size =
      sysprof_frame_count (&frame, TARGET_SIZE_AT, TEXTS_AT + source_size + 1, 1);

  *overlay = (Overlay){
    .pid = self->frames.pid[number],
    .layer = frame.bytes[LAYER_AT],
    .source = sysprof_frame_field (&frame, TEXTS_AT, source_size),
    .target = sysprof_frame_field (&frame, TEXTS_AT + source_size + 1, target_size),
  };
  return sysprof_text_starts_with (overlay->source, "/") &&
         sysprof_text_starts_with (overlay->target, "/");
}
