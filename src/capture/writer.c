// SPDX-License-Identifier: BSD-2-Clause

/* The writer's buffer, and how it gets to the file.
 *
 * Frames are assembled in the buffer, so the recorder can decode a kernel record directly into
 * it (reserve, commit). A buffer always contains complete frames. If the disk is full,
 * unwritten data stay in the buffer. The file then ends with a complete frame, and continues
 * with the next one when there is space. */

#include "capture/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_BUFFER_PAGES 64
#define MAX_BUFFER_SIZE      ((size_t) 1 << 30)
#define FRAMES_PER_INDEX     65536U
#define JITMAP_FRAME_MAX     (SYSPROF_CAPTURE_FRAME_USUAL_MAX + 32)
#define CAPTURE_MODE         0640
/* Most bytes of one write. Linux takes memory for a file in pieces as large as the write, and
 * large ones cost it two to three times as much for each byte. */
#define WRITE_MAX             ((size_t) 64 * 1024)
#define FIRST_FREE_DESCRIPTOR 2 /* 0 and 1 are never meant */

static size_t
align_up (size_t size, size_t alignment)
{
  return (size + alignment - 1) / alignment * alignment;
}

static void
patch_header (SysprofCaptureWriter *self, size_t offset, const void *value, size_t size)
{
  /* What cannot be patched is only missing: readers find the end and the ranges themselves. */
  if (self->can_seek)
    while (pwrite (self->fd, value, size, (off_t) offset) < 0 && errno == EINTR)
      continue;
}

static void
patch_index (SysprofCaptureWriter *self)
{
  if (!self->index_is_unpatched || self->index_is_buffered || self->sink != NULL)
    return;

  patch_header (self, offsetof (SysprofCaptureFileHeader, frame_index.last_frame_index),
                &self->last_index, sizeof self->last_index);
  self->index_is_unpatched = false;
}

bool
sysprof_capture_write_all (int fd, const uint8_t *bytes, size_t size, size_t *written)
{
  *written = 0;
  while (*written < size)
    {
      size_t left = size - *written;
      ssize_t n = write (fd, bytes + *written, left < WRITE_MAX ? left : WRITE_MAX);

      if (n > 0)
        {
          *written += (size_t) n;
        }
      else if (n == 0)
        {
          errno = ENOSPC;
          return false;
        }
      else if (errno == EAGAIN)
        {
          struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };

          if (poll (&poll_fd, 1, -1) < 0 && errno != EINTR)
            return false;
        }
      else if (errno != EINTR)
        {
          return false;
        }
    }

  return true;
}

/* Bytes of the last frame that `size` bytes of frames cut. */
static size_t
torn_part (const uint8_t *frames, size_t size)
{
  size_t at = 0;

  while (at < size)
    {
      size_t length = sysprof_capture_frame_length (frames + at, size - at, false);

      if (length == 0 || length > size - at)
        break;
      at += length;
    }

  return size - at;
}

bool
sysprof_capture_write_frames (int fd, const uint8_t *frames, size_t size, size_t *written)
{
  size_t torn;
  off_t end;
  int saved;

  if (sysprof_capture_write_all (fd, frames, size, written))
    return true;

  saved = errno;
  torn = torn_part (frames, *written);
  if (torn != 0)
    {
      end = lseek (fd, 0, SEEK_CUR);
      if (end >= (off_t) torn && ftruncate (fd, end - (off_t) torn) == 0 &&
          lseek (fd, end - (off_t) torn, SEEK_SET) >= 0)
        *written -= torn;
    }
  errno = saved;

  return false;
}

static bool
write_to_sink (SysprofCaptureWriter *self)
{
  uint8_t *empty = self->sink (self->buffer, self->used, self->sink_data);

  if (empty == NULL)
    return false;

  self->buffer = empty;
  self->n_flushed += self->used;
  self->used = 0;
  self->index_is_buffered = false;

  return true;
}

bool
sysprof_capture_writer_flush_buffer (SysprofCaptureWriter *self)
{
  size_t written;
  bool done;

  if (self->used == 0)
    return true;

  if (self->sink != NULL)
    return write_to_sink (self);

  done = sysprof_capture_write_frames (self->fd, self->buffer, self->used, &written);
  if (written != 0)
    {
      self->is_torn = !done && !self->can_seek;
      self->index_is_buffered = false;
    }
  self->n_flushed += written;
  self->used -= written;
  memmove (self->buffer, self->buffer + written, self->used);
  if (done)
    patch_index (self);

  return done;
}

/* A frame index is at the start of the buffer, so its offset does not change. */
static bool
add_index (SysprofCaptureWriter *self)
{
  SysprofCaptureFrameIndex index = {
    .frame = {
      .len = sizeof index,
      .cpu = -1,
      .pid = -1,
      .time = SYSPROF_CAPTURE_CURRENT_TIME,
      .type = SYSPROF_CAPTURE_FRAME_TIMESTAMP,
      .padding2 = SYSPROF_CAPTURE_FRAME_INDEX_MAGIC,
    },
    .previous_frame_index = self->last_index,
  };

  if (!sysprof_capture_writer_flush_buffer (self))
    return false;

  memcpy (self->buffer, &index, sizeof index);
  self->used = sizeof index;
  self->last_index = self->n_flushed;
  self->index_is_buffered = true;
  self->index_is_unpatched = true;
  self->n_since_index = 0;

  return true;
}

void *
sysprof_capture_writer_reserve (SysprofCaptureWriter *self, size_t len)
{
  size_t padded;

  if (len > SYSPROF_CAPTURE_FRAME_MAX)
    {
      errno = EMSGSIZE;
      return NULL;
    }

  padded = align_up (len, SYSPROF_CAPTURE_ALIGN);
  if (self->n_since_index >= FRAMES_PER_INDEX && self->can_seek && !add_index (self))
    return NULL;
  if (padded > self->buffer_size - self->used || self->used > self->buffer_size)
    {
      /* A frame longer than the buffer size has the buffer, which can hold it, to itself. */
      if (!self->index_is_buffered || self->used > sizeof (SysprofCaptureFrameIndex))
        if (!sysprof_capture_writer_flush_buffer (self))
          return NULL;
    }

  return self->buffer + self->used;
}

void
sysprof_capture_writer_commit (SysprofCaptureWriter *self, size_t len)
{
  uint8_t *frame = self->buffer + self->used;
  size_t padded = align_up (len, SYSPROF_CAPTURE_ALIGN);
  uint8_t type = frame[offsetof (SysprofCaptureFrame, time) + sizeof (int64_t)];

  sysprof_store_u16 (frame, (uint16_t) padded);
  if (padded != len)
    memset (frame + len, 0, padded - len);
  self->used += padded;
  self->n_frames++;
  self->n_since_index++;
  if (sysprof_capture_frame_type_is_known (type))
    self->n_frames_of_type[type]++;
}

bool
sysprof_capture_writer_add_early (SysprofCaptureWriter *self, const uint8_t *frame, size_t len)
{
  uint8_t *at;

  if (len > self->capacity - self->used && !sysprof_capture_writer_flush_buffer (self))
    return false;

  at = self->buffer;
  if (self->is_torn || self->index_is_buffered)
    at += self->used;
  else
    memmove (at + len, at, self->used);
  memcpy (at, frame, len);
  self->used += len;
  self->n_frames++;
  self->n_since_index++;
  self->n_frames_of_type[SYSPROF_CAPTURE_FRAME_JITMAP]++;

  return self->used <= self->buffer_size || sysprof_capture_writer_flush_buffer (self);
}

int64_t
sysprof_capture_writer_get_end (const SysprofCaptureWriter *self)
{
  if (self->end != 0)
    return self->end;
  if (self->n_frames_joined != 0 && self->n_frames_joined == self->n_frames)
    return self->joined_end;

  return SYSPROF_CAPTURE_CURRENT_TIME;
}

void
sysprof_capture_writer_set_joined_range (SysprofCaptureWriter *self, int64_t begin, int64_t end)
{
  self->begin = begin;
  self->joined_end = end;
  self->n_frames_joined = self->n_frames;
  patch_header (self, offsetof (SysprofCaptureFileHeader, time), &begin, sizeof begin);
}

bool
sysprof_capture_writer_flush (SysprofCaptureWriter *self)
{
  int64_t end;

  if (!sysprof_capture_writer_flush_jitmap (self) ||
      !sysprof_capture_writer_flush_buffer (self))
    return false;

  end = sysprof_capture_writer_get_end (self);
  patch_index (self);
  patch_header (self, offsetof (SysprofCaptureFileHeader, end_time), &end, sizeof end);

  return true;
}

bool
sysprof_capture_writer_set_time_range (SysprofCaptureWriter *self, int64_t begin, int64_t end)
{
  self->begin = begin;
  self->end = end;
  patch_header (self, offsetof (SysprofCaptureFileHeader, time), &begin, sizeof begin);
  if (end != 0)
    patch_header (self, offsetof (SysprofCaptureFileHeader, end_time), &end, sizeof end);

  return true;
}

void
sysprof_capture_writer_set_sink (SysprofCaptureWriter *self,
                                 SysprofCaptureSink sink,
                                 void *data)
{
  self->sink = sink;
  self->sink_data = data;
}

static bool
write_header (SysprofCaptureWriter *self)
{
  SysprofCaptureFileHeader header;
  size_t written;

  sysprof_capture_header_init (&header, self->begin);
  if (!sysprof_capture_write_all (self->fd, (const uint8_t *) &header, sizeof header, &written))
    return false;
  self->n_flushed = sizeof header;

  return true;
}

static bool
allocate_buffer (SysprofCaptureWriter *self, size_t buffer_size)
{
  size_t page_size = sysprof_getpagesize ();

  if (buffer_size > MAX_BUFFER_SIZE)
    {
      errno = EINVAL;
      return false;
    }

  self->buffer_size =
      buffer_size == 0 ? page_size * DEFAULT_BUFFER_PAGES : align_up (buffer_size, page_size);
  self->capacity = self->buffer_size;
  if (self->capacity < SYSPROF_CAPTURE_FRAME_MAX + sizeof (SysprofCaptureFrameIndex))
    self->capacity = SYSPROF_CAPTURE_FRAME_MAX + sizeof (SysprofCaptureFrameIndex);
  self->capacity = align_up (self->capacity + JITMAP_FRAME_MAX, page_size);
  self->buffer = aligned_alloc (page_size, self->capacity);

  return self->buffer != NULL;
}

SysprofCaptureWriter *
sysprof_capture_writer_new_from_fd (int fd, size_t buffer_size)
{
  SysprofCaptureWriter *self;
  int flags = fcntl (fd, F_GETFL);
  int saved;

  if (flags < 0)
    return NULL;

  self = calloc (1, sizeof *self);
  if (self == NULL)
    {
      (void) close (fd); /* taken over also on failure */
      errno = ENOMEM;
      return NULL;
    }

  sysprof_clock_init ();
  self->ref_count = 1;
  self->fd = fd;
  self->next_counter_id = 1;
  self->begin = SYSPROF_CAPTURE_CURRENT_TIME;

  (void) !ftruncate (fd, 0); /* a pipe has no length */
  /* Where everything is appended, a positioned write would be as well. */
  self->can_seek = lseek (fd, 0, SEEK_SET) == 0 && (flags & O_APPEND) == 0;

  if (!allocate_buffer (self, buffer_size) || !write_header (self))
    {
      saved = errno;
      (void) close (fd); /* the first error is the one to report */
      free (self->buffer);
      free (self);
      errno = saved;
      return NULL;
    }

  return self;
}

SysprofCaptureWriter *
sysprof_capture_writer_new (const char *filename, size_t buffer_size)
{
  int fd = open (filename, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, CAPTURE_MODE);

  return fd >= 0 ? sysprof_capture_writer_new_from_fd (fd, buffer_size) : NULL;
}

SysprofCaptureWriter *
sysprof_capture_writer_new_from_env (size_t buffer_size)
{
  int fd;

  fd = sysprof_capture_descriptor_from_env (SYSPROF_TRACE_FD_VARIABLE, FIRST_FREE_DESCRIPTOR);
  if (fd < 0)
    return NULL;

  /* Children that inherit the variable would write over this capture. */
  (void) unsetenv (SYSPROF_TRACE_FD_VARIABLE);

  fd = fcntl (fd, F_DUPFD_CLOEXEC, 0);

  return fd >= 0 ? sysprof_capture_writer_new_from_fd (fd, buffer_size) : NULL;
}

SysprofCaptureWriter *
sysprof_capture_writer_ref (SysprofCaptureWriter *self)
{
  (void) __atomic_add_fetch (&self->ref_count, 1, __ATOMIC_RELAXED);

  return self;
}

void
sysprof_capture_writer_unref (SysprofCaptureWriter *self)
{
  if (self == NULL || __atomic_sub_fetch (&self->ref_count, 1, __ATOMIC_ACQ_REL) != 0)
    return;

  (void) sysprof_capture_writer_flush (self); /* who must know flushes before */
  (void) close (self->fd);                    /* nothing is left to be written */
  sysprof_capture_writer_free_jitmap (self);
  free (self->buffer);
  free (self);
}

size_t
sysprof_capture_writer_get_buffer_size (SysprofCaptureWriter *self)
{
  return self->buffer_size;
}

size_t
sysprof_capture_writer_get_capacity (SysprofCaptureWriter *self)
{
  return self->capacity;
}

uint64_t
sysprof_capture_writer_get_size (SysprofCaptureWriter *self)
{
  return self->n_flushed + self->used;
}

uint64_t
sysprof_capture_writer_get_n_frames (SysprofCaptureWriter *self)
{
  return self->n_frames;
}

int
sysprof_capture_writer_get_fd (SysprofCaptureWriter *self)
{
  return self->fd;
}

void
sysprof_capture_writer_stat (SysprofCaptureWriter *self, SysprofCaptureStat *stat)
{
  memset (stat, 0, sizeof *stat);
  memcpy (stat->frame_count, self->n_frames_of_type, sizeof stat->frame_count);
}

bool
sysprof_capture_writer_add_copy (SysprofCaptureWriter *self, const SysprofCaptureFrame *frame)
{
  void *copy = sysprof_capture_writer_reserve (self, frame->len);

  if (copy == NULL)
    return false;
  memcpy (copy, frame, frame->len);
  sysprof_capture_writer_commit (self, frame->len);

  return true;
}
