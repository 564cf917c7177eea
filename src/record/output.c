// SPDX-License-Identifier: GPL-3.0-or-later

/* The flush thread and its queue of buffers (see output.h). The pump thread must never wait
 * here for the disk before sysprof_output_set_patient() is called. */

#include "record/output.h"

#include "capture/capture.h"
#include "util/util.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limit of queued data: half a minute of a busy desktop at 1 kHz, a few seconds of a big
 * machine. */
#define MAX_BYTES_UNDERWAY (64 * 1024 * 1024)
#define MIN_BUFFERS        8
#define OFFSET_OF_END_TIME 80 /* in the header of the capture */

typedef struct OutputBuffer OutputBuffer;

/* Describes one queued buffer. It is allocated separately, because the writer needs plain
 * memory. */
struct OutputBuffer
{
  OutputBuffer *next;
  uint8_t *bytes; /* complete frames */
  size_t size;
};

/* The first group of members is *frozen*, except `writer` and `is_patient`, which only the pump
 * thread uses. The second group is *guarded* by `lock`: the pump thread adds buffers to the
 * queue, and the flush thread takes them out. */
struct Output
{
  SysprofCaptureWriter *writer; /* used by the pump thread only */
  int fd;                       /* borrowed from the writer */
  int copy_fd;                  /* -1 = none */
  int copy_errno;               /* why there is no copy */
  bool can_seek;
  bool is_patient; /* used by the pump thread only */
  size_t capacity;
  unsigned max_buffers;
  OutputFailedFunc failed;
  void *failed_data;
  GThread *thread;

  pthread_mutex_t lock;
  pthread_cond_t changed;
  OutputBuffer *first; /* full buffers, in the order in which they are written */
  OutputBuffer *last;
  /* [n_spare] empty; a stack, because the buffer used last is still in the CPU cache */
  uint8_t **spare;
  unsigned n_spare;
  unsigned n_buffers; /* all, including the writer's */
  unsigned n_queued;
  bool is_writing;
  bool is_ending;
  int error; /* errno of the first failed write, or ESTALE for a truncated file; nothing is written after it */
  uint64_t size; /* bytes that the file must have; 0 if it cannot be read back */
  int copy_error;
};

/* --- flush thread --- */

static int
write_all (int fd, const OutputBuffer *buffer, size_t *written)
{
  return sysprof_capture_write_frames (fd, buffer->bytes, buffer->size, written) ? 0 : errno;
}

/* Frames after a truncated part could not be read. */
static int
write_to_file (Output *self, const OutputBuffer *buffer)
{
  size_t written = 0;
  int error = sysprof_is_truncated (self->fd, self->size) ? ESTALE : 0;

  if (error == 0)
    error = write_all (self->fd, buffer, &written);
  if (self->can_seek)
    self->size += written;
  return error;
}

/* If the recorder is killed, the header has the time of the last flush. */
static void
patch_end_time (Output *self)
{
  struct timespec now;
  int64_t end;

  if (!self->can_seek)
    return;

  clock_gettime (CLOCK_MONOTONIC, &now);
  end = now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
  /* losing the time is better than losing frames */
  (void) !pwrite (self->fd, &end, sizeof end, OFFSET_OF_END_TIME);
}

static OutputBuffer *
take_queued (Output *self)
{
  OutputBuffer *buffer = self->first;

  self->first = buffer->next;
  if (self->first == NULL)
    self->last = NULL;
  self->n_queued--;
  return buffer;
}

static void *
flush_thread (void *data)
{
  Output *self = data;
  sigset_t all;

  /* Including SIGPIPE: write() reports the error instead. */
  sigfillset (&all);
  pthread_sigmask (SIG_BLOCK, &all, NULL);

  pthread_mutex_lock (&self->lock);
  for (;;)
    {
      OutputBuffer *buffer;
      bool write_file, write_copy;
      size_t copied;
      int error = 0, copy_error = 0;

      while (self->first == NULL && !self->is_ending)
        pthread_cond_wait (&self->changed, &self->lock);
      if (self->first == NULL)
        break;

      buffer = take_queued (self);
      write_file = self->error == 0;
      write_copy = self->copy_fd >= 0 && self->copy_error == 0;
      self->is_writing = true;
      pthread_mutex_unlock (&self->lock);

      if (write_file)
        {
          error = write_to_file (self, buffer);
          if (error != ESTALE)
            patch_end_time (self);
        }
      if (write_copy)
        copy_error = write_all (self->copy_fd, buffer, &copied);

      pthread_mutex_lock (&self->lock);
      self->is_writing = false;
      self->spare[self->n_spare++] = buffer->bytes;
      free (buffer);
      if (error != 0)
        self->error = error;
      if (copy_error != 0)
        self->copy_error = copy_error;
      pthread_cond_broadcast (&self->changed);

      if (error != 0)
        {
          pthread_mutex_unlock (&self->lock);
          self->failed (self->failed_data);
          pthread_mutex_lock (&self->lock);
        }
    }
  pthread_mutex_unlock (&self->lock);
  return NULL;
}

/* --- pump thread --- */

/* Requires the lock. NULL if all buffers are queued. */
static uint8_t *
find_empty_buffer (Output *self)
{
  uint8_t *bytes;

  while (self->is_patient && self->n_spare == 0 && self->n_buffers >= self->max_buffers)
    pthread_cond_wait (&self->changed, &self->lock);

  if (self->n_spare > 0)
    return self->spare[--self->n_spare];

  if (self->n_buffers >= self->max_buffers)
    return NULL;

  bytes = aligned_alloc (64, (self->capacity + 63) / 64 * 64);
  if (bytes != NULL)
    self->n_buffers++;
  return bytes;
}

static uint8_t *
exchange_buffer (uint8_t *bytes, size_t size, void *data)
{
  Output *self = data;
  OutputBuffer *buffer = malloc (sizeof *buffer);
  uint8_t *empty;

  if (buffer == NULL)
    return NULL;

  pthread_mutex_lock (&self->lock);
  empty = find_empty_buffer (self);
  if (empty != NULL)
    {
      *buffer = (OutputBuffer){ NULL, bytes, size };
      if (self->last != NULL)
        self->last->next = buffer;
      else
        self->first = buffer;
      self->last = buffer;
      self->n_queued++;
      pthread_cond_broadcast (&self->changed);
    }
  pthread_mutex_unlock (&self->lock);

  if (empty == NULL)
    {
      free (buffer);
      errno = EAGAIN;
    }
  return empty;
}

static int
open_copy (void)
{
  SysprofCaptureWriter *header;
  autofd fd = sysprof_temporary_file_open_unnamed ();
  int dup_fd;

  if (fd < 0)
    return -1;

  dup_fd = fcntl (fd, F_DUPFD_CLOEXEC, 3);
  header = dup_fd >= 0 ? sysprof_capture_writer_new_from_fd (dup_fd, 0) : NULL;
  if (header == NULL)
    {
      if (dup_fd >= 0)
        (void) close (dup_fd);
      return -1;
    }
  sysprof_capture_writer_unref (header);
  return sysprof_steal_fd (&fd);
}

Output *
sysprof_output_new (SysprofCaptureWriter *writer,
                    bool keep_copy,
                    OutputFailedFunc failed,
                    void *data,
                    GError **error)
{
  Output *self = g_new0 (Output, 1);
  struct stat info;

  self->fd = sysprof_capture_writer_get_fd (writer);
  self->copy_fd = -1;
  self->failed = failed;
  self->failed_data = data;
  self->capacity = sysprof_capture_writer_get_capacity (writer);
  self->max_buffers = MAX (MIN_BUFFERS, MAX_BYTES_UNDERWAY / self->capacity);
  self->spare = g_new0 (uint8_t *, self->max_buffers + 1);
  self->n_buffers = 1;
  /* With O_APPEND, pwrite() appends, too. */
  self->can_seek = fstat (self->fd, &info) == 0 && S_ISREG (info.st_mode) &&
                   (fcntl (self->fd, F_GETFL) & O_APPEND) == 0;
  self->copy_errno = ESPIPE;
  if (keep_copy && !self->can_seek)
    {
      /* Without a copy, symbols are missing, and their instrument reports that. */
      self->copy_fd = open_copy ();
      self->copy_errno = errno;
    }

  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->changed, NULL);

  /* File systems that have no locks lock nothing. */
  if (self->can_seek && flock (self->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
    {
      g_set_error_literal (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                           "Cannot write the recording: another recorder writes to the same "
                           "file. Name another file.");
      sysprof_output_free (self);
      return NULL;
    }
  if (!sysprof_capture_writer_flush (writer))
    {
      sysprof_set_error_errno (error, "Cannot write the header of the recording");
      sysprof_output_free (self);
      return NULL;
    }

  if (self->can_seek)
    self->size = (uint64_t) lseek (self->fd, 0, SEEK_CUR); /* of a regular file: cannot fail */
  self->thread = g_thread_try_new ("sysprof-flush", flush_thread, self, error);
  if (self->thread == NULL)
    {
      sysprof_output_free (self);
      return NULL;
    }

  self->writer = sysprof_capture_writer_ref (writer);
  sysprof_capture_writer_set_sink (writer, exchange_buffer, self);
  return self;
}

bool
sysprof_output_is_congested (Output *self)
{
  bool is_congested;

  pthread_mutex_lock (&self->lock);
  is_congested = self->n_queued + self->is_writing > self->max_buffers / 4 * 3;
  pthread_mutex_unlock (&self->lock);
  return is_congested;
}

void
sysprof_output_flush (Output *self)
{
  bool is_behind;

  /* While other buffers are queued, let this one fill up: nearly empty buffers would exhaust
   * their number. */
  pthread_mutex_lock (&self->lock);
  is_behind = self->n_queued > 0;
  pthread_mutex_unlock (&self->lock);
  if (!is_behind)
    /* if rejected, the next flush retries */
    (void) sysprof_capture_writer_flush (self->writer);
}

void
sysprof_output_set_patient (Output *self)
{
  self->is_patient = true;
}

static bool
is_idle (Output *self)
{
  return self->first == NULL && !self->is_writing;
}

static void
set_write_error (Output *self, int number, GError **error)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", self->fd);
  g_autofree char *path = g_file_read_link (link, NULL);
  g_autofree char *saved = NULL;
  struct stat info;

  if (self->can_seek && fstat (self->fd, &info) == 0)
    saved = sysprof_text_of_size ((uint64_t) info.st_size);

  switch (number)
    {
    case ENOSPC:
    case EDQUOT:
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_NO_SPACE,
          "Cannot write to '%s': the disk is full. The recording was stopped; the first %s "
          "are saved. Free some space, or record to another disk.",
          path != NULL ? path : "the output", saved != NULL ? saved : "frames");
      break;
    case ESTALE:
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_TRUNCATED,
                   "Cannot write to '%s': another program truncated it. The recording ended "
                   "there and cannot be read. Record again.",
                   path != NULL ? path : "the output");
      break;
    case EPIPE:
    case ECONNRESET:
      g_set_error_literal (
          error, SYSPROF_ERROR, SYSPROF_ERROR_PEER_GONE,
          "Cannot write to the pipe: the reading process has closed it. The recording was "
          "stopped. Let the reader read until the end, or record to a file.");
      break;
    default:
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot write to '%s': %s. The recording was stopped; the first %s are saved. %s",
          path != NULL ? path : "the output", g_strerror (number),
          saved != NULL ? saved : "frames", sysprof_advice_on_errno (number));
    }
}

bool
sysprof_output_sync (Output *self, GError **error)
{
  int number;

  while (!sysprof_capture_writer_flush (self->writer))
    {
      /* All buffers are queued, or memory is short: wait for a buffer to come back, or for the
       * disk to fail. */
      pthread_mutex_lock (&self->lock);
      if (is_idle (self))
        {
          pthread_mutex_unlock (&self->lock);
          set_write_error (self, errno, error);
          return false;
        }
      pthread_cond_wait (&self->changed, &self->lock);
      pthread_mutex_unlock (&self->lock);
    }

  pthread_mutex_lock (&self->lock);
  while (!is_idle (self))
    pthread_cond_wait (&self->changed, &self->lock);
  if (self->error == 0 && sysprof_is_truncated (self->fd, self->size))
    self->error = ESTALE;
  number = self->error;
  pthread_mutex_unlock (&self->lock);

  if (number != 0)
    set_write_error (self, number, error);
  return number == 0;
}

/* Reopens the file if possible. The reader then has a file position of its own, and can read
 * even if our descriptor is write-only. */
int
sysprof_output_dup_fd (Output *self)
{
  g_autofree char *path = NULL;
  int from = self->copy_fd >= 0 ? self->copy_fd : self->fd;
  int copy_error;
  int fd;

  pthread_mutex_lock (&self->lock);
  copy_error = self->copy_error;
  pthread_mutex_unlock (&self->lock);
  if (copy_error != 0) /* an incomplete copy is useless */
    {
      errno = copy_error;
      return -1;
    }
  if (self->copy_fd < 0 && !self->can_seek)
    {
      errno = self->copy_errno;
      return -1;
    }

  path = g_strdup_printf ("/proc/self/fd/%d", from);
  fd = open (path, O_RDWR | O_CLOEXEC);
  if (fd < 0)
    fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    fd = fcntl (from, F_DUPFD_CLOEXEC, 3);
  return fd;
}

bool
sysprof_output_finish (Output *self, int64_t begin, int64_t end, GError **error)
{
  bool is_whole = sysprof_output_sync (self, error);

  sysprof_capture_writer_set_sink (self->writer, NULL, NULL);
  (void) sysprof_capture_writer_set_time_range (self->writer, begin, end); /* fails on a pipe */
  return is_whole;
}

void
sysprof_output_free (Output *self)
{
  if (self == NULL)
    return;

  if (self->thread != NULL)
    {
      pthread_mutex_lock (&self->lock);
      self->is_ending = true;
      pthread_cond_broadcast (&self->changed);
      pthread_mutex_unlock (&self->lock);
      g_thread_join (self->thread);
    }

  if (self->can_seek)
    (void) flock (self->fd, LOCK_UN); /* duplicates of the descriptor hold the lock, too */
  if (self->writer != NULL)
    {
      /* Dropping the last reference may write the remaining frames. */
      sysprof_capture_writer_set_sink (self->writer, NULL, NULL);
      sysprof_capture_writer_unref (self->writer);
    }
  while (self->n_spare > 0)
    free (self->spare[--self->n_spare]);
  g_free (self->spare);
  sysprof_autofd_close (&self->copy_fd);
  pthread_cond_destroy (&self->changed);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}
