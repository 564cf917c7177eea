// SPDX-License-Identifier: BSD-2-Clause

/* Reads a capture from front to back.
 *
 * The buffer contains a part of the file. The frame at its front is checked, converted to
 * native byte order, and gets a NUL after each text before a caller sees it. Reads are
 * positioned: they do not disturb a writer that uses the same descriptor, and the reader can
 * continue when a capture grows. */

#include "capture/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER_SIZE (4 * 65536) /* bytes; several of the largest frame */
#define HEADER_SIZE sizeof (SysprofCaptureFrame)

static bool
read_header (SysprofCaptureReader *self)
{
  SysprofCaptureFileHeader *header = &self->header;
  const uint8_t *bytes = (const uint8_t *) header;
  ssize_t n;

  do
    n = pread (self->fd, header, sizeof *header, 0);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return false;

  if ((size_t) n < sizeof *header || header->magic != SYSPROF_CAPTURE_MAGIC)
    {
      errno = EBADMSG;
      return false;
    }

  /* Bit 0 of byte 5, whatever machine wrote it. */
  self->is_swapped = (bytes[5] & 1) != SYSPROF_HOST_IS_LITTLE_ENDIAN;
  header->capture_time[sizeof header->capture_time - 1] = '\0';
  if (self->is_swapped)
    {
      header->time = (int64_t) __builtin_bswap64 ((uint64_t) header->time);
      header->end_time = (int64_t) __builtin_bswap64 ((uint64_t) header->end_time);
    }

  return true;
}

uint64_t
sysprof_capture_reader_tell (const SysprofCaptureReader *self)
{
  return self->buffer_end - (self->used - self->at);
}

void
sysprof_capture_reader_seek (SysprofCaptureReader *self, uint64_t offset)
{
  self->at = 0;
  self->used = 0;
  self->buffer_end = offset;
  self->is_ready = false;
  self->is_at_end = false;
}

SysprofCaptureReader *
sysprof_capture_reader_new_from_fd (int fd)
{
  SysprofCaptureReader *self;
  int saved;

  self = calloc (1, sizeof *self);
  if (self == NULL)
    {
      (void) close (fd); /* taken over also on failure */
      errno = ENOMEM;
      return NULL;
    }

  self->ref_count = 1;
  self->fd = fd;
  self->last_time = INT64_MIN;
  self->end = UINT64_MAX;
  self->buffer = malloc (BUFFER_SIZE);
  if (self->buffer == NULL || !read_header (self))
    {
      saved = errno;
      sysprof_capture_reader_unref (self);
      errno = saved;
      return NULL;
    }
  sysprof_capture_reader_seek (self, sizeof self->header);

  return self;
}

/* Takes ownership of `fd`. `filename` may be NULL. */
static SysprofCaptureReader *
new_with_filename (int fd, const char *filename)
{
  SysprofCaptureReader *self = sysprof_capture_reader_new_from_fd (fd);

  if (self == NULL || filename == NULL)
    return self;

  self->filename = strdup (filename);
  if (self->filename != NULL)
    return self;

  sysprof_capture_reader_unref (self);
  errno = ENOMEM;
  return NULL;
}

SysprofCaptureReader *
sysprof_capture_reader_new (const char *filename)
{
  int fd = open (filename, O_RDONLY | O_CLOEXEC);

  return fd >= 0 ? new_with_filename (fd, filename) : NULL;
}

SysprofCaptureReader *
sysprof_capture_reader_copy (SysprofCaptureReader *self)
{
  SysprofCaptureReader *copy;
  int fd;

  fd = fcntl (self->fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0)
    return NULL;

  copy = new_with_filename (fd, self->filename);
  if (copy == NULL)
    return NULL;

  copy->original = sysprof_capture_reader_ref (self->original != NULL ? self->original : self);
  sysprof_capture_reader_seek (copy, sysprof_capture_reader_tell (self));
  copy->end = self->end;
  copy->last_time = self->last_time;
  copy->n_unknown = self->n_unknown;
  copy->n_damaged = self->n_damaged;
  copy->has_stat = self->has_stat;
  copy->stat = self->stat;

  return copy;
}

SysprofCaptureReader *
sysprof_capture_reader_ref (SysprofCaptureReader *self)
{
  (void) __atomic_add_fetch (&self->ref_count, 1, __ATOMIC_RELAXED);

  return self;
}

void
sysprof_capture_reader_unref (SysprofCaptureReader *self)
{
  if (self == NULL || __atomic_sub_fetch (&self->ref_count, 1, __ATOMIC_ACQ_REL) != 0)
    return;

  (void) close (self->fd); /* only read from */
  sysprof_capture_reader_free_file_names (self);
  sysprof_capture_reader_unref (self->original);
  free (self->filename);
  free (self->buffer);
  free (self);
}

/* What comes behind is missing for all who read: a part of the data must not pass for all of it. */
static void
keep_error (SysprofCaptureReader *self)
{
  SysprofCaptureReader *kept = self->original != NULL ? self->original : self;
  int none = 0;

  (void) __atomic_compare_exchange_n (&kept->error, &none, errno, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED); /* the first one stays */
}

bool
sysprof_capture_reader_check (const SysprofCaptureReader *self)
{
  const SysprofCaptureReader *kept = self->original != NULL ? self->original : self;
  int error = __atomic_load_n (&kept->error, __ATOMIC_RELAXED);

  if (error != 0)
    errno = error;
  return error == 0;
}

/* Makes `size` bytes available from the next frame on; false if the file has not so many, or with errno if it cannot be read. */
static bool
fill (SysprofCaptureReader *self, size_t size)
{
  while (self->used - self->at < size)
    {
      size_t room;
      ssize_t n;

      if (self->at != 0)
        {
          memmove (self->buffer, self->buffer + self->at, self->used - self->at);
          self->used -= self->at;
          self->at = 0;
        }

      if (self->buffer_end >= self->end)
        return false;
      room = BUFFER_SIZE - self->used;
      if (room > self->end - self->buffer_end)
        room = (size_t) (self->end - self->buffer_end);
      n = pread (self->fd, self->buffer + self->used, room, (off_t) self->buffer_end);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        keep_error (self);
      if (n <= 0)
        return false;
      self->used += (size_t) n;
      self->buffer_end += (uint64_t) n;
    }

  return true;
}

static void
note_time (SysprofCaptureReader *self, const SysprofCaptureFrame *frame)
{
  int64_t time = frame->time;

  if (frame->type == SYSPROF_CAPTURE_FRAME_MARK)
    {
      const SysprofCaptureMark *mark = (const SysprofCaptureMark *) frame;

      if (mark->duration > 0 && __builtin_add_overflow (time, mark->duration, &time))
        time = frame->time;
    }

  /* Names are written when they are needed at the latest, which may be after the end; they are no event. */
  if (time > self->last_time && frame->type != SYSPROF_CAPTURE_FRAME_JITMAP)
    self->last_time = time;
}

const SysprofCaptureFrame *
sysprof_capture_reader_next_any (SysprofCaptureReader *self)
{
  while (!self->is_ready)
    {
      uint8_t *frame;
      size_t length;

      self->is_at_end = true;
      if (!fill (self, HEADER_SIZE))
        return NULL;
      length = sysprof_capture_frame_length (self->buffer + self->at, self->used - self->at,
                                             self->is_swapped);
      if (length == 0 || !fill (self, length))
        return NULL;
      self->is_at_end = false;

      frame = self->buffer + self->at;
      if (!sysprof_capture_frame_validate (frame, length, self->is_swapped))
        {
          self->n_damaged++;
          self->at += length;
          continue;
        }
      if (self->is_swapped)
        sysprof_capture_frame_swap (frame);
      sysprof_capture_frame_end_texts (frame);
      note_time (self, (const SysprofCaptureFrame *) frame);
      self->is_ready = true;
    }

  return (const SysprofCaptureFrame *) (self->buffer + self->at);
}

void
sysprof_capture_reader_step (SysprofCaptureReader *self)
{
  self->at += ((const SysprofCaptureFrame *) (self->buffer + self->at))->len;
  self->is_ready = false;
}

SysprofCaptureFrame *
sysprof_capture_reader_peek_known (SysprofCaptureReader *self)
{
  const SysprofCaptureFrame *frame;

  while ((frame = sysprof_capture_reader_next_any (self)) != NULL)
    {
      bool is_known = sysprof_capture_frame_type_is_known (frame->type);

      if (is_known && !sysprof_capture_frame_is_index ((const uint8_t *) frame, false))
        return (SysprofCaptureFrame *) (self->buffer + self->at);
      if (!is_known)
        self->n_unknown++;
      sysprof_capture_reader_step (self);
    }

  return NULL;
}

void
sysprof_capture_reader_get_status (SysprofCaptureReader *self, SysprofCaptureReadStatus *status)
{
  status->n_unknown = self->n_unknown;
  status->n_damaged = self->n_damaged;
  status->end_offset = sysprof_capture_reader_tell (self);
  status->error = sysprof_capture_reader_check (self) ? 0 : errno;
  status->is_cut = self->is_at_end && self->used != self->at;
}

void
sysprof_capture_reader_set_end (SysprofCaptureReader *self, uint64_t end)
{
  self->end = end;
}

bool
sysprof_capture_reader_skip (SysprofCaptureReader *self)
{
  if (sysprof_capture_reader_peek_known (self) == NULL)
    return false;
  sysprof_capture_reader_step (self);

  return true;
}

bool
sysprof_capture_reader_peek_frame (SysprofCaptureReader *self, SysprofCaptureFrame *frame)
{
  const SysprofCaptureFrame *next = sysprof_capture_reader_peek_known (self);

  if (next == NULL)
    return false;
  memcpy (frame, next, sizeof *frame);

  return true;
}

bool
sysprof_capture_reader_peek_type (SysprofCaptureReader *self, SysprofCaptureFrameType *type)
{
  const SysprofCaptureFrame *next = sysprof_capture_reader_peek_known (self);

  if (next == NULL)
    return false;
  *type = (SysprofCaptureFrameType) next->type;

  return true;
}

static const void *
read_frame (SysprofCaptureReader *self, SysprofCaptureFrameType type)
{
  const SysprofCaptureFrame *frame = sysprof_capture_reader_peek_known (self);

  if (frame == NULL || frame->type != (unsigned int) type)
    return NULL;
  sysprof_capture_reader_step (self);

  return frame;
}

const SysprofCaptureTimestamp *
sysprof_capture_reader_read_timestamp (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_TIMESTAMP);
}

const SysprofCaptureSample *
sysprof_capture_reader_read_sample (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_SAMPLE);
}

const SysprofCaptureTrace *
sysprof_capture_reader_read_trace (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_TRACE);
}

const SysprofCaptureMap *
sysprof_capture_reader_read_map (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_MAP);
}

const SysprofCaptureProcess *
sysprof_capture_reader_read_process (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_PROCESS);
}

const SysprofCaptureFork *
sysprof_capture_reader_read_fork (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_FORK);
}

const SysprofCaptureExit *
sysprof_capture_reader_read_exit (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_EXIT);
}

const SysprofCaptureJitmap *
sysprof_capture_reader_read_jitmap (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_JITMAP);
}

const SysprofCaptureCounterDefine *
sysprof_capture_reader_read_counter_define (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_CTRDEF);
}

const SysprofCaptureCounterSet *
sysprof_capture_reader_read_counter_set (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_CTRSET);
}

const SysprofCaptureMark *
sysprof_capture_reader_read_mark (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_MARK);
}

const SysprofCaptureMetadata *
sysprof_capture_reader_read_metadata (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_METADATA);
}

const SysprofCaptureLog *
sysprof_capture_reader_read_log (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_LOG);
}

const SysprofCaptureFileChunk *
sysprof_capture_reader_read_file (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_FILE_CHUNK);
}

const SysprofCaptureAllocation *
sysprof_capture_reader_read_allocation (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_ALLOCATION);
}

const SysprofCaptureOverlay *
sysprof_capture_reader_read_overlay (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_OVERLAY);
}

const SysprofCaptureDBusMessage *
sysprof_capture_reader_read_dbus_message (SysprofCaptureReader *self)
{
  return read_frame (self, SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE);
}

bool
sysprof_capture_reader_reset (SysprofCaptureReader *self)
{
  self->n_unknown = 0;
  self->n_damaged = 0;

  sysprof_capture_reader_seek (self, sizeof self->header);

  return true;
}

int
sysprof_capture_reader_get_byte_order (SysprofCaptureReader *self)
{
  return self->is_swapped == SYSPROF_HOST_IS_LITTLE_ENDIAN ? __BIG_ENDIAN : __LITTLE_ENDIAN;
}

const char *
sysprof_capture_reader_get_filename (SysprofCaptureReader *self)
{
  return self->filename;
}

const char *
sysprof_capture_reader_get_time (SysprofCaptureReader *self)
{
  return self->header.capture_time;
}

int64_t
sysprof_capture_reader_get_start_time (SysprofCaptureReader *self)
{
  return self->header.time;
}

/* Reads the whole file once: the largest time, and how many frames there are of each type. */
static bool
scan (SysprofCaptureReader *self)
{
  SysprofCaptureReader *copy = sysprof_capture_reader_copy (self);
  const SysprofCaptureFrame *frame;

  if (copy == NULL)
    return false;

  memset (&self->stat, 0, sizeof self->stat);
  sysprof_capture_reader_reset (copy);
  while ((frame = sysprof_capture_reader_peek_known (copy)) != NULL)
    {
      if (frame->type < sizeof self->stat.frame_count / sizeof self->stat.frame_count[0])
        self->stat.frame_count[frame->type]++;
      sysprof_capture_reader_step (copy);
    }
  self->has_stat = true;
  self->last_time = copy->last_time;
  sysprof_capture_reader_unref (copy);

  return true;
}

int64_t
sysprof_capture_reader_get_end_time (SysprofCaptureReader *self)
{
  if (self->header.end_time < self->header.time)
    (void) scan (self); /* at worst the end is what was read until now */

  return self->last_time > self->header.end_time ? self->last_time : self->header.end_time;
}

bool
sysprof_capture_reader_get_stat (SysprofCaptureReader *self, SysprofCaptureStat *st_buf)
{
  if (!self->has_stat && !scan (self))
    return false;
  *st_buf = self->stat;

  return true;
}

void
sysprof_capture_reader_set_stat (SysprofCaptureReader *self, const SysprofCaptureStat *st_buf)
{
  self->has_stat = st_buf != NULL;
  if (st_buf != NULL)
    self->stat = *st_buf;
}

void
sysprof_capture_jitmap_iter_init (SysprofCaptureJitmapIter *iter,
                                  const SysprofCaptureJitmap *jitmap)
{
  const uint8_t *frame = (const uint8_t *) jitmap;

  iter->p1 = jitmap->data;
  iter->p2 = frame + jitmap->frame.len;
  iter->u1 = jitmap->n_jitmaps;
  iter->p3 = NULL;
  iter->p4 = NULL;
}

bool
sysprof_capture_jitmap_iter_next (SysprofCaptureJitmapIter *iter,
                                  SysprofCaptureAddress *addr,
                                  const char **name)
{
  const uint8_t *entry = iter->p1;
  const uint8_t *end = iter->p2;
  const uint8_t *nul;

  if (iter->u1 == 0 || end - entry <= (ptrdiff_t) sizeof *addr)
    return false;

  nul = memchr (entry + sizeof *addr, 0, (size_t) (end - entry) - sizeof *addr);
  if (nul == NULL)
    return false;

  *addr = sysprof_load_u64 (entry, false);
  *name = (const char *) entry + sizeof *addr;
  iter->p1 = nul + 1;
  iter->u1--;

  return true;
}
