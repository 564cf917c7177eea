// SPDX-License-Identifier: BSD-2-Clause

/* Joins the capture of a recorded program to the recording. */

#include "join/parts.h"

#include <stdlib.h>

struct SysprofCaptureJoin
{
  Translation translation;
  uint64_t n_cut;
};

SysprofCaptureJoin *
sysprof_capture_join_begin (SysprofCaptureWriter *writer, SysprofCaptureReader *reader)
{
  SysprofCaptureJoin *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;

  if (sysprof_translation_init (&self->translation, writer, reader))
    {
      self->translation.shorten = sysprof_capture_frame_shorten;
      self->translation.left = JOINED_ALL; /* the recording has its own */
      if (sysprof_translation_add_names (&self->translation, false) &&
          sysprof_translation_copy (&self->translation, COPY_EARLY) &&
          sysprof_capture_writer_flush_jitmap (writer))
        {
          self->n_cut = self->translation.n_cut;
          return self;
        }
    }
  sysprof_capture_join_free (self);

  return NULL;
}

uint64_t
sysprof_capture_join_get_n_cut (const SysprofCaptureJoin *self)
{
  return self->n_cut;
}

bool
sysprof_capture_join_finish (SysprofCaptureJoin *self)
{
  return sysprof_translation_copy (&self->translation, COPY_LATE);
}

void
sysprof_capture_join_free (SysprofCaptureJoin *self)
{
  if (self == NULL)
    return;

  if (self->translation.writer != NULL)
    sysprof_translation_clear (&self->translation);
  free (self);
}
