// SPDX-License-Identifier: BSD-2-Clause

/* Appends captures to a writer: frame by frame (splice), or with new counter ids and synthetic
 * addresses (cat). */

#include "capture/capture.h"
#include "capture/reader.h"
#include "capture/writer.h"

#include <errno.h>
#include <string.h>

#define FILES_WITHOUT_EVENTS (JOINED_ALL & ~JOINED_SAMPLED_ON)

bool
sysprof_capture_reader_splice (SysprofCaptureReader *self, SysprofCaptureWriter *dest)
{
  const SysprofCaptureFrame *frame;

  while ((frame = sysprof_capture_reader_next_any (self)) != NULL)
    {
      bool is_known = sysprof_capture_frame_type_is_known (frame->type);

      /* A frame index holds offsets of the file it is in; the destination makes its own. */
      if (!sysprof_capture_frame_is_index ((const uint8_t *) frame, false) &&
          (is_known || !self->is_swapped) && !sysprof_capture_writer_add_copy (dest, frame))
        return false;
      if (!is_known)
        self->n_unknown++;
      sysprof_capture_reader_step (self);
    }

  return sysprof_capture_reader_check (self);
}

bool
sysprof_capture_writer_splice (SysprofCaptureWriter *self, SysprofCaptureWriter *dest)
{
  SysprofCaptureReader *reader;
  bool is_done;
  int saved;

  if (self == dest)
    {
      errno = EINVAL;
      return false;
    }

  reader = sysprof_capture_writer_create_reader (self);
  if (reader == NULL)
    return false;

  is_done = sysprof_capture_reader_splice (reader, dest);
  saved = errno;
  sysprof_capture_reader_unref (reader);
  errno = saved;

  return is_done;
}

CaptureRange
sysprof_capture_range_of_writer (const SysprofCaptureWriter *writer)
{
  CaptureRange range = { INT64_MAX, INT64_MIN };

  if (writer->n_frames != 0)
    {
      range.begin = writer->begin;
      range.end = sysprof_capture_writer_get_end (writer);
    }

  return range;
}

void
sysprof_capture_range_add (CaptureRange *self, const SysprofCaptureReader *reader)
{
  int64_t end = reader->header.end_time;

  if (reader->last_time > end)
    end = reader->last_time;
  if (reader->header.time < self->begin)
    self->begin = reader->header.time;
  if (end > self->end)
    self->end = end;
}

bool
sysprof_capture_writer_finish_join (SysprofCaptureWriter *self, CaptureRange range)
{
  if (!sysprof_capture_writer_flush_jitmap (self))
    return false;
  sysprof_capture_writer_set_joined_range (self, range.begin, range.end);

  return sysprof_capture_writer_flush (self);
}

static bool
cat_files (Translation *translation, bool has_others)
{
  SysprofCaptureWriter *writer = translation->writer;
  CaptureContents *others = &writer->contents;
  JoinedFiles before = others->files;

  others->has_samples |= writer->n_frames_of_type[SYSPROF_CAPTURE_FRAME_SAMPLE] != 0;
  if (!sysprof_translation_choose_files (translation, others, has_others) &&
      (before & JOINED_SAMPLED_ON) != 0 &&
      /* An empty second file tells readers that the events of the samples are not known. */
      !sysprof_capture_writer_add_file (writer, translation->reader->header.time, -1, -1,
                                        CAPTURE_EVENTS_FILE, true, (const uint8_t *) "", 0))
    return false;

  translation->left |=
      before & FILES_WITHOUT_EVENTS; /* a file that was ended is not continued */
  translation->contradicts_code = has_others;
  return true;
}

bool
sysprof_capture_writer_cat (SysprofCaptureWriter *self, SysprofCaptureReader *reader)
{
  CaptureRange range = sysprof_capture_range_of_writer (self);
  bool has_others = self->n_frames != 0;
  Translation translation;
  bool is_done;

  if (!sysprof_translation_init (&translation, self, reader))
    return false;

  is_done = sysprof_translation_add_names (&translation, true) &&
            cat_files (&translation, has_others) &&
            sysprof_translation_copy (&translation, COPY_EARLY | COPY_LATE);
  if (is_done)
    sysprof_capture_range_add (&range, translation.reader);
  sysprof_translation_clear (&translation);

  return is_done && sysprof_capture_writer_finish_join (self, range);
}
