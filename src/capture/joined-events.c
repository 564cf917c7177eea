// SPDX-License-Identifier: BSD-2-Clause

/* What samples were taken on, where captures are joined: numbers of events count within one capture, and what stands for all samples of
 * one would stand for those of all. */

#include "capture/splice.h"

#include "capture/capture.h"

#include <stdlib.h>

/* What one capture says of its events. */
typedef struct
{
  bool has_samples;
  bool has_events;
  bool has_periods;
  uint8_t lines
      [512]; /* [size] of a capture whose samples are all of one event: that has one line */
  size_t size;
} Said;

bool
sysprof_is_event_file (const char *path)
{
  return strcmp (path, CAPTURE_EVENTS_FILE) == 0 || strcmp (path, CAPTURE_PERIODS_FILE) == 0;
}

static void
take_chunk (Said *said, const SysprofCaptureFileChunk *chunk)
{
  if (strcmp (chunk->path, CAPTURE_PERIODS_FILE) == 0)
    said->has_periods = true;
  if (strcmp (chunk->path, CAPTURE_EVENTS_FILE) != 0)
    return;

  said->has_events = true;
  /* What is longer is of several events, or ours is not what wrote it. */
  if (chunk->len > sizeof said->lines - said->size)
    said->has_periods = true;
  else
    {
      memcpy (said->lines + said->size, chunk->data, chunk->len);
      said->size += chunk->len;
    }
}

static bool
listen (Said *said, SysprofCaptureReader *original)
{
  SysprofCaptureReader *reader = sysprof_capture_reader_copy (original);
  const SysprofCaptureFrame *frame;

  if (reader == NULL)
    return false;

  *said = (Said){ 0 };
  while ((frame = sysprof_capture_reader_peek_known (reader)) != NULL)
    {
      if (frame->type == SYSPROF_CAPTURE_FRAME_SAMPLE)
        said->has_samples = true;
      else if (frame->type == SYSPROF_CAPTURE_FRAME_FILE_CHUNK)
        take_chunk (said, (const SysprofCaptureFileChunk *) frame);
      sysprof_capture_reader_step (reader);
    }
  sysprof_capture_reader_unref (reader);
  return true;
}

/* Of the same event, and every sample of the same period. */
static bool
is_same (const Said *a, const Said *b)
{
  return a->has_events && b->has_events && !a->has_periods && !b->has_periods &&
         a->size == b->size && memcmp (a->lines, b->lines, a->size) == 0;
}

bool
sysprof_capture_readers_agree_on_events (SysprofCaptureReader *const *readers, size_t n_readers)
{
  Said first = { 0 };

  for (size_t i = 0; i < n_readers; i++)
    {
      Said said;

      if (!listen (&said, readers[i]))
        return false;
      if (!said.has_samples && !said.has_events && !said.has_periods)
        continue;
      if ((first.has_samples || first.has_events || first.has_periods) &&
          !is_same (&first, &said) &&
          (first.has_events || first.has_periods || said.has_events || said.has_periods))
        return false;
      first = said;
    }
  return true;
}
